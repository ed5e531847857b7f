//! Where hooks come from: `hooks.json` next to the settings and in the project, and the files of Claude Code
//! and Codex. Hooks run outside the sandbox, so those of a project run only once the user has approved exactly
//! them: `projects.toml` holds a digest of their lines and of the scripts in the project that these name.

use std::fs;
use std::io::ErrorKind;
use std::iter;
use std::path::{Path, PathBuf};

use toml::Table;

use super::config::set_in_file;
use super::dirs::Dirs;
use super::humanize::plural;
use super::live_rules::{Stamp, stamp};
use super::trust::{PROJECT_HOOKS, Trust};
use crate::agent::git::project_root;
use crate::agent::hooks::{FoundHooks, Hook, HookFile, HookSource, hooks_digest, read_hooks};
use crate::agent::memory::PROJECT_FOLDER;
use crate::llm::read_small::read_small;

/// The table in `projects.toml` from project root to the digest of the approved hooks.
const TABLE: &str = "hooks";

/// The largest script that an approval covers, in bytes.
const MAX_SCRIPT: u64 = 1 << 20;

/// The files with hooks for a folder.
#[derive(Clone)]
pub struct HookFiles {
    dirs: Dirs,
    cwd: PathBuf,
    root: PathBuf,
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

/// What keeps a project's hooks from running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing.
    Approved,
    /// The user hasn't approved exactly these.
    Waiting,
    /// The user doesn't trust the project.
    Untrusted,
}

impl HookFiles {
    /// Looks at the folder's project, and at the user's files.
    pub fn new(dirs: &Dirs, cwd: &Path) -> Self {
        Self {
            dirs: dirs.clone(),
            cwd: cwd.to_owned(),
            root: project_root(cwd).to_owned(),
        }
    }

    /// All places, with whether they belong to the project and whether they are tiller's own.
    fn places(&self) -> Vec<(PathBuf, bool, bool)> {
        let root = &self.root;
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
        if !trusted {
            return Ok(Standing::Untrusted);
        }
        let file = self.dirs.projects_file();
        let text = match read_small(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error.to_string()),
        };
        let table: Table = (text.parse())
            .map_err(|error: toml::de::Error| format!("{}: {error}", file.display()))?;
        let approved =
            (table.get(TABLE)).and_then(|hooks| hooks.get(self.root.to_str()?)?.as_str());
        Ok(match approved == Some(&self.digest(listed)) {
            true => Standing::Approved,
            false => Standing::Waiting,
        })
    }

    /// Lets exactly the project's hooks in `listed` run from now on.
    pub fn approve(&self, listed: &[Listed]) -> Result<(), String> {
        let root = (self.root.to_str())
            .ok_or_else(|| format!("{}: its name isn't UTF-8", self.root.display()))?;
        set_in_file(
            &self.dirs.projects_file(),
            TABLE,
            root,
            &self.digest(listed),
        )
    }

    fn digest(&self, listed: &[Listed]) -> String {
        let hooks: Vec<Hook> = of_project(listed).cloned().collect();
        let scripts = self.scripts(&hooks).into_iter();
        let read = scripts.map(|script| fs::read(script).unwrap_or_default());
        hooks_digest(&hooks, &read.collect::<Vec<_>>())
    }

    /// The files of the project that the hooks' commands name.
    fn scripts(&self, hooks: &[Hook]) -> Vec<PathBuf> {
        let mut scripts = Vec::new();
        for hook in hooks {
            let named = (hook.command)
                .replace("${CLAUDE_PROJECT_DIR}", "")
                .replace("$CLAUDE_PROJECT_DIR", "");
            let ends_word = |c: char| c.is_whitespace() || "\"';|&()<>=`".contains(c);
            for word in named.split(ends_word) {
                let inside = Path::new(word.trim_start_matches('/'));
                for script in [self.root.join(inside), self.cwd.join(inside), word.into()] {
                    let is_file = fs::metadata(&script)
                        .is_ok_and(|it| it.is_file() && it.len() <= MAX_SCRIPT);
                    let within = script.starts_with(&self.root);
                    if is_file && within && !scripts.contains(&script) {
                        scripts.push(script);
                    }
                }
            }
        }
        scripts
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
        places.push((self.files.dirs.projects_file(), false, true));
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
        let trust = Trust::load(&files.dirs.projects_file(), &files.cwd);
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
