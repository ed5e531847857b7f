//! Where hooks come from: `hooks.json` next to the settings and in the project, and the files of Claude Code
//! and Codex. Those of a project run only once the user has approved exactly them (see `approval`).

use std::io::ErrorKind;
use std::iter;
use std::path::{Path, PathBuf};

use super::approval::{Approvals, Standing, contents};
use super::dirs::Dirs;
use super::humanize::plural;
use super::live_rules::{Stamp, stamp};
use super::trust::{PROJECT_HOOKS, Trust};
use crate::agent::hooks::{FoundHooks, Hook, HookFile, HookSource, hooks_digest, read_hooks};
use crate::agent::memory::PROJECT_FOLDER;
use crate::llm::read_small::read_small;

/// The table in `projects.toml` from project root to the digest of the approved hooks.
const TABLE: &str = "hooks";

/// The files with hooks for a folder.
#[derive(Clone)]
pub struct HookFiles {
    dirs: Dirs,
    approvals: Approvals,
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
            approvals: Approvals::new(dirs, cwd, TABLE),
        }
    }

    /// All places, with whether they belong to the project and whether they are tiller's own.
    fn places(&self) -> Vec<(PathBuf, bool, bool)> {
        let root = self.approvals.root();
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
                    ..HookFile::default()
                },
            };
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

    /// Whether the project's hooks in `listed` may run.
    pub fn standing(&self, listed: &[Listed], trusted: bool) -> Result<Standing, String> {
        self.approvals.standing(&self.digest(listed), trusted)
    }

    /// Lets exactly the project's hooks in `listed` run from now on.
    pub fn approve(&self, listed: &[Listed]) -> Result<(), String> {
        self.approvals.approve(&self.digest(listed))
    }

    fn digest(&self, listed: &[Listed]) -> String {
        let hooks: Vec<Hook> = of_project(listed).cloned().collect();
        hooks_digest(&hooks, &contents(self.scripts(&hooks)))
    }

    /// The files of the project that the hooks' commands name.
    fn scripts(&self, hooks: &[Hook]) -> Vec<PathBuf> {
        self.approvals
            .scripts(hooks.iter().map(|hook| &*hook.command))
    }
}

/// The hooks of the project's files.
pub fn of_project(listed: &[Listed]) -> impl Iterator<Item = &Hook> {
    let of_project = listed.iter().filter(|it| it.of_project);
    of_project.flat_map(|it| &it.file.hooks)
}

/// The hooks for a folder while tiller runs.
pub struct LiveHooks {
    files: HookFiles,
    /// `--trust`.
    trusts: bool,
    read: Option<[Vec<Stamp>; 2]>,
    /// The scripts that the project's hooks name.
    scripts: Vec<PathBuf>,
}

impl LiveHooks {
    /// The hooks of `files`. With `trusts`, the user trusts the project for this run.
    pub fn new(files: HookFiles, trusts: bool) -> Self {
        Self {
            files,
            trusts,
            read: None,
            scripts: Vec::new(),
        }
    }

    /// What the files are now, and the scripts.
    fn stamps(&self) -> [Vec<Stamp>; 2] {
        let mut places = self.files.places();
        places.push((self.files.approvals.file.clone(), false, true));
        let places = places.iter().map(|(path, ..)| stamp(path));
        [places.collect(), self.script_stamps()]
    }

    fn script_stamps(&self) -> Vec<Stamp> {
        self.scripts.iter().map(|path| stamp(path)).collect()
    }
}

impl HookSource for LiveHooks {
    fn changed(&mut self) -> Option<FoundHooks> {
        // Before reading, so that a change during it is found next time.
        let now = self.stamps();
        if self.read.as_ref() == Some(&now) {
            return None;
        }
        let [places, _] = now;
        let listed = self.files.read();
        let own: Vec<Hook> = of_project(&listed).cloned().collect();
        self.scripts = self.files.scripts(&own);
        self.read = Some([places, self.script_stamps()]);
        let files = &self.files;
        let mut found = FoundHooks::default();
        if listed
            .iter()
            .any(|it| it.file.disables_all && !it.of_project)
        {
            return Some(found);
        }
        for it in listed.iter().filter(|it| it.is_ours) {
            let path = it.path.display();
            let faults = it.file.faults.iter();
            found
                .notices
                .extend(faults.map(|fault| format!("{path}: {fault}")));
        }
        let count = own.len();
        let trust = Trust::load(&files.approvals.file, files.approvals.cwd());
        let trusted = self.trusts || trust.is_ok_and(|trust| trust.is_trusted());
        let approved = match files.standing(&listed, trusted) {
            _ if count == 0 => false,
            Ok(Standing::Approved) => true,
            Ok(Standing::Untrusted) => false,
            Ok(Standing::Waiting) => {
                let hooks = plural(count as u64, "hook", "hooks");
                found.notices.push(format!(
                    "{hooks} of this project won't run until you approve them: /hooks"
                ));
                false
            }
            Err(why) => {
                found
                    .notices
                    .push(format!("The project's hooks don't run: {why}"));
                false
            }
        };
        let hooks = listed.into_iter().flat_map(|it| it.file.hooks);
        found.hooks = hooks.filter(|hook| approved || !hook.of_project).collect();
        Some(found)
    }
}
