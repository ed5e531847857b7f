//! Where hooks come from: `hooks.json` next to the settings and in the project, and the files of Claude Code
//! and Codex. Those of a project run once the user trusts it, in the sandbox of the model's commands.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::iter;
use std::path::{Path, PathBuf};

use super::dirs::Dirs;
use super::live_rules::{Stamp, stamp};
use super::trust::{PROJECT_HOOKS, Trust};
use crate::agent::git::project_root;
use crate::agent::hooks::{FoundHooks, HookFile, HookSource, read_hooks};
use crate::agent::memory::PROJECT_FOLDER;
use crate::llm::read_small::read_small;

/// The files with hooks for a folder.
#[derive(Clone)]
pub struct HookFiles {
    dirs: Dirs,
    cwd: PathBuf,
}

/// A file with hooks.
pub struct Listed {
    /// Where it is.
    pub path: PathBuf,
    /// Whether it belongs to the project.
    pub of_project: bool,
    /// Whether its errors concern the user: it is tiller's own.
    is_ours: bool,
    /// What it has.
    pub file: HookFile,
}

impl HookFiles {
    /// Looks at the folder's project, and at the user's files.
    pub fn new(dirs: &Dirs, cwd: &Path) -> Self {
        Self {
            dirs: dirs.clone(),
            cwd: cwd.to_owned(),
        }
    }

    /// All places, with whether they belong to the project and whether they are tiller's own.
    fn places(&self) -> Vec<(PathBuf, bool, bool)> {
        let root = project_root(&self.cwd);
        let of_home = self.dirs.home.iter().flat_map(|home| {
            let files = [".claude/settings.json", ".codex/hooks.json"];
            files.map(|file| (home.join(file), false, false))
        });
        let of_project = PROJECT_HOOKS.map(|name| {
            let is_ours = name.starts_with(PROJECT_FOLDER);
            (root.join(name), true, is_ours)
        });
        let own = (self.dirs.hooks_file(), false, true);
        iter::once(own).chain(of_home).chain(of_project).collect()
    }

    /// Reads the files that have hooks, or errors. A home folder that is the project counts as the user's.
    pub fn read(&self) -> Vec<Listed> {
        let mut found: Vec<Listed> = Vec::new();
        for (path, of_project, is_ours) in self.places() {
            if found.iter().any(|listed| listed.path == path) {
                continue;
            }
            let file = match read_small(&path) {
                Ok(text) => read_hooks(&path, of_project, &text),
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => HookFile {
                    faults: vec![error.to_string()],
                    is_broken: true,
                    ..HookFile::default()
                },
            };
            let mut file = file;
            if is_ours && file.has_none && !file.disables_all {
                let fault = "it has no hooks: put the events inside \"hooks\": {...}";
                file.faults.push(fault.to_owned());
            }
            let says_something = !file.hooks.is_empty() || !file.faults.is_empty();
            if says_something || file.disables_all {
                found.push(Listed {
                    path,
                    of_project,
                    is_ours,
                    file,
                });
            }
        }
        found
    }

    /// Why the user's `hooks.json` can't be read, if it can't. Without a screen nobody would see that its hooks
    /// don't run.
    pub fn own_fault(&self) -> Option<String> {
        let own = self.dirs.hooks_file();
        let mut listed = self.read().into_iter();
        let broken = listed.find(|it| it.path == own && it.file.is_broken)?;
        Some(format!(
            "{}: {}. Its hooks would not run: fix the file, or move it away",
            own.display(),
            broken.file.faults.join("; ")
        ))
    }
}

/// The hooks for a folder while tiller runs.
pub struct LiveHooks {
    files: HookFiles,
    /// `--trust`.
    trusts: bool,
    read: Option<Vec<Stamp>>,
    /// The files as they were when they could be read last.
    good: HashMap<PathBuf, HookFile>,
}

impl LiveHooks {
    /// The hooks of `files`. With `trusts`, the user trusts the project for this run.
    pub fn new(files: HookFiles, trusts: bool) -> Self {
        Self {
            files,
            trusts,
            read: None,
            good: HashMap::new(),
        }
    }

    fn stamps(&self) -> Vec<Stamp> {
        let places = self.files.places();
        let projects = self.files.dirs.projects_file();
        let places = places.iter().map(|(path, ..)| path);
        places.chain([&projects]).map(|path| stamp(path)).collect()
    }
}

impl HookSource for LiveHooks {
    fn changed(&mut self) -> Option<FoundHooks> {
        // Before reading, so that a change during it is found next time.
        let now = self.stamps();
        if self.read.as_ref() == Some(&now) {
            return None;
        }
        self.read = Some(now);
        let files = &self.files;
        let mut found = FoundHooks::default();
        let trust = Trust::load(&files.dirs.projects_file(), &files.cwd);
        let trusted = self.trusts || trust.is_ok_and(|trust| trust.is_trusted());
        let listed = files.read().into_iter();
        let listed = listed.filter(|it| trusted || !it.of_project);
        let mut disabled = false;
        for it in listed {
            if it.is_ours || it.file.is_broken {
                let path = it.path.display();
                let faults = it.file.faults.iter();
                let faults = faults.map(|fault| format!("{path}: {fault}"));
                found.notices.extend(faults);
            }
            let good = if it.file.is_broken {
                // Half written, perhaps. Without its guards a call could run that they forbid.
                self.good.get(&it.path).cloned().unwrap_or_default()
            } else {
                it.file
            };
            disabled |= good.disables_all && !it.of_project;
            found.hooks.extend(good.hooks.iter().cloned());
            self.good.insert(it.path, good);
        }
        if disabled {
            found.hooks.clear();
        }
        Some(found)
    }
}
