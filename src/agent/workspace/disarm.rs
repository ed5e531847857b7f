//! Disables what a command created that would later run a program automatically outside every sandbox: a
//! repository whose settings or hooks do so at the next `git status`, or a file that an editor or a shell
//! loads at startup. Reports what it disabled.
//!
//! The results of `git init`, `git clone` and the like contain nothing of the kind and stay as they are.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::builtin::{OWN_FOLDER, START_UP_IN_PROJECT};
use super::hooks::hooks_folder;
use super::places::Workspace;
use super::repositories::{After, Found, Repositories, leads_to_repository};
use crate::aside::put_aside;
use crate::git::{GITDIR, Setting, Settings, git_folders, path_in, read_small, text_of};

/// What happens to something that would run programs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Moved,
    /// It may be the user's.
    Left,
}

/// The findings, as sentences.
struct Said {
    fate: Fate,
    texts: Vec<String>,
    /// The repositories that were left unchanged.
    left: Vec<PathBuf>,
}

impl Workspace {
    /// Disables what commands created since the last look, and returns sentences for the user about
    /// it. The call of a command prepared with [`Self::for_commands`] has returned; `over` means that
    /// everything it started has ended too. Accesses the file system, which may block.
    pub fn after_command(&self, repositories: &mut Repositories, over: bool) -> Vec<String> {
        let after = self.look_after(repositories);
        repositories.call_returned();
        if over {
            repositories.command_ended();
        }
        repositories.say(after)
    }

    /// The first half of [`Self::after_command`].
    pub(crate) fn look_after(&self, repositories: &mut Repositories) -> After {
        let found = repositories.look(self);
        let disarmed = self.judge_new(repositories, &found, &self.start_up_files());
        repositories.remember_made(&found);
        After { found, disarmed }
    }

    /// Handles everything new in `found` that would run programs later, and returns sentences about it.
    /// What is left unchanged is treated as the user's from then on.
    pub(super) fn disarm(
        &self,
        repositories: &mut Repositories,
        found: &Found,
        start_up: &[PathBuf],
        fate: Fate,
    ) -> Vec<String> {
        let is_new = |path: &&PathBuf| !repositories.own.contains(*path);
        // Nobody has checked where a `.git` created by a command leads.
        let is_users = |root: &&PathBuf| {
            let git = root.join(".git");
            repositories.own.contains(&git) && !git.is_symlink()
        };
        let own = self.roots().iter().filter(is_users);
        let known: HashSet<PathBuf> = own
            .filter_map(|root| git_folders(root))
            .flat_map(|git| [git.own, git.common])
            .chain(found.git.iter().cloned())
            .filter_map(|path| path.canonicalize().ok())
            .collect();
        let mut said = Said {
            fate,
            texts: Vec::new(),
            left: Vec::new(),
        };
        for link in found.links.iter().filter(is_new) {
            let target = if link.is_symlink() {
                None
            } else {
                named_in(link, GITDIR)
            };
            if !target.is_some_and(|target| known.contains(&target)) {
                said.set_aside(link, "it points to a repository elsewhere");
            }
        }
        for git in found.git.iter().filter(is_new) {
            let before = said.texts.len();
            for name in ["config", "config.worktree"] {
                check_settings(self, &git.join(name), &mut said);
            }
            check_hooks(&git.join("hooks"), &mut said);
            let common = git.join("commondir");
            if common.symlink_metadata().is_ok()
                && !named_in(&common, "").is_some_and(|target| known.contains(&target))
            {
                said.set_aside(&common, "it points to a repository elsewhere");
            }
            if fate == Fate::Left && said.texts.len() > before {
                said.left.push(git.clone());
            }
        }
        for path in found.followed.iter().filter(is_new) {
            let why = if path.ends_with(OWN_FOLDER) {
                "tiller would load settings from it"
            } else {
                "git would use it outside the sandbox"
            };
            said.set_aside(path, why);
        }
        let shared = self.writable_elsewhere();
        for link in found.into_shared.iter().filter(is_new) {
            if leads_to_repository(link, &shared) {
                said.set_aside(link, "it points to a repository elsewhere");
            }
        }
        for path in start_up.iter().filter(is_new).filter(|path| runs(path)) {
            said.set_aside(path, "other programs would run it automatically");
        }
        repositories.own.extend(said.left);
        said.texts
    }

    /// The existing files and folders of the project that other programs run automatically.
    pub(super) fn start_up_files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for root in self.projects() {
            let names = START_UP_IN_PROJECT.iter();
            files.extend(names.filter_map(|name| up_to_link(root, Path::new(name))));
            let hooks = hooks_folder(root, self.home());
            let hooks = hooks.filter(|hooks| hooks.starts_with(root) && hooks != root);
            files.extend(hooks.filter(|hooks| hooks.symlink_metadata().is_ok()));
        }
        files
    }
}

/// Returns `name` in `root`, or the first link on the way: its target may be the user's.
fn up_to_link(root: &Path, name: &Path) -> Option<PathBuf> {
    let mut place = root.to_owned();
    for part in name.components() {
        place.push(part);
        if place.symlink_metadata().ok()?.is_symlink() {
            break;
        }
    }
    Some(place)
}

/// An empty folder runs nothing. It may exist only so that no command can create it.
fn runs(path: &Path) -> bool {
    let is_empty = || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
    path.symlink_metadata()
        .is_ok_and(|data| !(data.is_dir() && is_empty()))
}

fn check_hooks(hooks: &Path, said: &mut Said) {
    let Ok(data) = hooks.symlink_metadata() else {
        return;
    };
    if !data.is_dir() {
        said.set_aside(hooks, "hooks in another place");
        return;
    }
    for entry in fs::read_dir(hooks).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if !name.ends_with(".sample") && !name.contains(crate::aside::SUFFIX) {
            said.set_aside(&entry.path(), "git would run it");
        }
    }
}

/// Keeps only the harmless settings.
fn check_settings(workspace: &Workspace, file: &Path, said: &mut Said) {
    let Ok(data) = file.symlink_metadata() else {
        return;
    };
    let text = data.is_file().then(|| read_small(file)).flatten();
    let settings = text.as_deref().map(Settings::read).unwrap_or_default();
    let is_worktree = |named: &str| is_worktree_of_module(workspace, file, named);
    let (good, bad): (Vec<&Setting>, Vec<&Setting>) = settings
        .all
        .iter()
        .partition(|one| one.is_harmless(is_worktree));
    let readable = text.is_some() && settings.whole;
    if readable && bad.is_empty() && data.nlink() == 1 {
        return;
    }
    let mut names: Vec<String> = bad.iter().map(|one| one.name()).collect();
    names.dedup();
    let why = match (readable, bad.is_empty()) {
        (false, _) => String::from("tiller can't read them"),
        (true, true) => String::from("the file has a hard link"),
        (true, false) => names.join(", "),
    };
    if said.fate == Fate::Left {
        let names = format!("git would load settings from it that can run programs ({why})");
        said.set_aside(file, &names);
        return;
    }
    let Ok(aside) = put_aside(file) else {
        said.texts.push(format!(
            "{}: {why}, and tiller can't move it",
            file.display()
        ));
        return;
    };
    // A hard link to the file would allow changing it later. The new file has only one name.
    let written = write(file, &text_of(good.into_iter()));
    if bad.is_empty() && readable {
        let _ = fs::remove_file(&aside);
    } else {
        let fate = if written.is_ok() {
            "the others remain"
        } else {
            "all are gone"
        };
        said.texts.push(format!(
            "{}: tiller removed git settings that can run programs ({why}); {fate}. The old file is now \
             {}",
            file.display(),
            aside.display()
        ));
    }
}

/// Returns `true` if `file` holds the settings of a submodule and `named` is a folder for its files: in
/// the project, but not among git's own files.
fn is_worktree_of_module(workspace: &Workspace, file: &Path, named: &str) -> bool {
    let names: Vec<&str> = file.iter().filter_map(OsStr::to_str).collect();
    let is_of_tree = |it: &[&str]| matches!(it, [".git", "worktrees", _, "modules"]);
    let is_module =
        names.windows(2).any(|it| it == [".git", "modules"]) || names.windows(4).any(is_of_tree);
    let place = file.with_file_name(named).canonicalize();
    let in_root = |root: &PathBuf| Some(place.as_ref().ok()?.strip_prefix(root).ok()?.to_owned());
    let mut below = workspace.projects().iter().filter_map(in_root);
    is_module && below.any(|it| it.iter().next().is_some() && it.iter().all(|it| it != ".git"))
}

fn write(file: &Path, text: &str) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    let mut file = options.write(true).create_new(true).open(file)?;
    file.write_all(text.as_bytes())
}

/// Returns the real path that the file at `path` names.
fn named_in(path: &Path, prefix: &str) -> Option<PathBuf> {
    let named = path_in(path, prefix)?;
    path.parent()?.join(named).canonicalize().ok()
}

impl Said {
    fn set_aside(&mut self, path: &Path, why: &str) {
        let shown = path.display();
        self.texts.push(if self.fate == Fate::Left {
            self.left.push(path.to_owned());
            format!(
                "{shown} is new: {why}. A background command may have made it. tiller left it there \
                 because it may be yours"
            )
        } else {
            match put_aside(path) {
                Ok(aside) => format!("tiller moved {shown} to {}: {why}", aside.display()),
                Err(error) => format!("tiller can't move {shown} ({error}): {why}"),
            }
        });
    }
}
