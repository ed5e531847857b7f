//! What a sandbox needs to know of a workspace: paths that are there, since a sandbox holds on to
//! files, not to names. A file that does not exist yet can be made by a command in it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::builtin::OWN_FOLDER;
use super::disarm::Fate;
use super::git_folders::{ALTERNATES, GitFolders, RUNS_CODE, git_folders, is_git_folder};
use super::places::Workspace;
use super::repositories::{Found, Repositories};
use super::zone::Zone;
use crate::agent::paths::real;
use crate::agent::process::sandbox::{Network, Sandbox};

/// What of that would count if it were made; an empty folder of hooks counts for nothing.
const FORBIDDEN_IN_GIT: [&str; 4] = ["config", "config.worktree", "commondir", ALTERNATES];
/// How many repositories of the user in a workspace are kept from commands: each costs mounts.
const MAX_KEPT: usize = 100;
/// How many folders in a folder of git are looked through.
const MAX_FOLDERS: usize = 256;

/// What is there when a command starts.
struct There {
    writable: Vec<PathBuf>,
    /// The folders of git of the roots.
    git: Vec<GitFolders>,
    own: Found,
    /// Folders of git that commands have made.
    made: Vec<PathBuf>,
    start_up: Vec<PathBuf>,
}

impl There {
    fn is_writable(&self, path: &Path) -> bool {
        self.writable.iter().any(|place| path.starts_with(place))
    }
}

impl Workspace {
    /// Looks at what is there before a command that is about to come: it will not wait for that then.
    pub fn look_ahead(&self, repositories: &mut Repositories) {
        repositories.look_ahead(self);
    }

    /// What a command that starts now is held to. `writes`: it may change the workspace and the
    /// caches, else only temporary files. Looks at what is there, see [`Self::for_commands`]; may block.
    pub fn sandbox(
        &self,
        repositories: &mut Repositories,
        writes: bool,
        network: Network,
    ) -> Sandbox {
        let mut places = self.for_commands(repositories);
        if writes {
            let caches = self.caches.iter().filter(|it| it.exists());
            places.writable.extend(caches.cloned());
        } else {
            places.writable.clear();
        }
        let private = self.private().map(|it| it.folders().map(Some));
        let [tmp, var_tmp, shm] = private.unwrap_or_default();
        Sandbox {
            visible: self.visible(),
            tmp,
            var_tmp,
            shm,
            network,
            ..places
        }
    }

    /// The places that matter to a command that starts now. Asks the file system, which may block.
    ///
    /// What stands there now is the user's and kept from commands, unless one may have been running
    /// since the last look: then what is new is judged by `judge_new`. What commands have made stays
    /// theirs, to be changed and removed, as long as the user leaves it as it is.
    ///
    /// What may be written are the folders of the workspace, and the folders that git needs for them where
    /// these are elsewhere (in a linked working tree, in a submodule).
    pub fn for_commands(&self, repositories: &mut Repositories) -> Sandbox {
        let (mut own, start_up) = self.settle(repositories);
        let made = own.keep_own(&repositories.own);
        let there = There {
            writable: self.writable(),
            git: self.git().map(|(_, git)| git).collect(),
            own,
            made,
            start_up,
        };
        Sandbox {
            read_only: self.read_only(&there),
            hidden: self.hidden(),
            readable: self.readable.clone(),
            forbidden: self.forbidden(&there),
            writable: there.writable,
            ..Sandbox::default()
        }
    }

    /// Takes what commands that may still be running have made out of force, before something runs
    /// outside of the sandbox; says what. Asks the file system, which may block.
    pub fn before_outside(&self, repositories: &mut Repositories) -> Vec<String> {
        let (found, _) = self.settle(repositories);
        if repositories.running == 0 {
            repositories.no_command_since(found);
        }
        let mut texts = std::mem::take(&mut repositories.unsaid);
        let in_doubt = std::mem::take(&mut repositories.in_doubt);
        for text in in_doubt {
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        texts
    }

    /// What is there now: the user's, or the work of commands that may be running; and the files that
    /// other programs run by themselves.
    fn settle(&self, repositories: &mut Repositories) -> (Found, Vec<PathBuf>) {
        let found = repositories.look_before(self);
        let start_up = self.start_up_files();
        let said = self.judge_new(repositories, &found, &start_up);
        repositories.unsaid.extend(said);
        (found, start_up)
    }

    /// Takes what is new of `found` out of force where a call is running that may have made it. Only says
    /// it where nothing runs but commands in the background: it may as well be the user's.
    pub(super) fn judge_new(
        &self,
        repositories: &mut Repositories,
        found: &Found,
        start_up: &[PathBuf],
    ) -> Vec<String> {
        if repositories.in_foreground > 0 {
            return self.disarm(repositories, found, start_up, Fate::Moved);
        }
        if repositories.running > 0 {
            let said = self.disarm(repositories, found, start_up, Fate::Left);
            repositories.in_doubt.extend(said.clone());
            return said;
        }
        repositories.take_for_own(found, start_up);
        Vec::new()
    }

    /// The folders in which commands may make what runs programs later.
    pub(super) fn looked_at(&self) -> Vec<PathBuf> {
        let projects = self.projects().iter().cloned();
        projects.chain(self.git_outside()).collect()
    }

    /// Whether git keeps linked working trees here that no command has made.
    pub fn has_linked_trees(&self, repositories: &Repositories) -> bool {
        let mut trees = self
            .git()
            .flat_map(|(_, git)| folders_below(&git.common.join("worktrees"), 1));
        trees.any(|tree| !repositories.is_made(&tree))
    }

    fn writable(&self) -> Vec<PathBuf> {
        let is_private = |root: &PathBuf| self.private().is_some_and(|it| it.parent() == root);
        let mut places = self.roots().to_vec();
        places.retain(|root| !is_private(root));
        places.extend(self.git_outside());
        places
    }

    /// The folders of git of each root that has some.
    fn git(&self) -> impl Iterator<Item = (&Path, GitFolders)> {
        let roots = self.roots().iter().map(PathBuf::as_path);
        roots.filter_map(|root| Some((root, git_folders(root)?)))
    }

    /// The folders of git that belong to the workspace and are not in it.
    fn git_outside(&self) -> impl Iterator<Item = PathBuf> {
        self.git().filter_map(|(root, git)| {
            let common = real(&git.common).ok()?;
            // Most are inside, and that is the cheaper question.
            (self.zone(&common) == Zone::Outside && git.belong_to(root)).then_some(common)
        })
    }

    /// The protected places; of one that holds a folder of the workspace (that of a trial is in tiller's
    /// own folder) what is beside that.
    fn hidden(&self) -> Vec<PathBuf> {
        let mut hidden = Vec::new();
        let mut waiting = existing(self.protected_paths.iter().cloned());
        while let Some(place) = waiting.pop() {
            let holds = |root: &PathBuf| root != &place && root.starts_with(&place);
            if self.roots().iter().any(holds) {
                let entries = fs::read_dir(&place).into_iter().flatten().flatten();
                let inner = entries.map(|entry| entry.path());
                waiting.extend(
                    inner.filter(|path| !path.is_symlink() && !self.roots().contains(path)),
                );
            } else {
                hidden.push(place);
            }
        }
        hidden.sort();
        hidden
    }

    fn read_only(&self, there: &There) -> Vec<PathBuf> {
        let own = &there.own;
        let mut places: BTreeSet<PathBuf> = own.links.iter().take(MAX_KEPT).cloned().collect();
        let git = &own.git[..own.git.len().min(MAX_KEPT)];
        let folders = there.git.iter().flat_map(all_of);
        let folders = folders.filter(|folder| !there.made.contains(folder));
        places.extend(folders.flat_map(|folder| code_in(&folder)));
        places.extend(self.roots().iter().map(|root| root.join(OWN_FOLDER)));
        places.extend(git.iter().flat_map(|folder| code_in(folder)));
        places.extend(there.start_up.iter().cloned());
        let settings = own.followed.iter().filter(|it| it.ends_with(OWN_FOLDER));
        places.extend(settings.take(MAX_KEPT).cloned());
        places.extend(self.start_up.iter().cloned());
        let mut places: BTreeSet<PathBuf> = existing(places).into_iter().collect();
        // An empty folder stands there then, which git takes no notice of.
        let hooks = git.iter().map(|folder| folder.join("hooks"));
        places.extend(hooks.filter(|hooks| hooks.symlink_metadata().is_err()));
        places.retain(|path| there.is_writable(path));
        places.into_iter().collect()
    }

    /// What git, a shell or tiller would take settings from if it were there, and what would hold
    /// secrets: of the settings that must not change some are missing as a rule.
    fn forbidden(&self, there: &There) -> Vec<PathBuf> {
        let git = there.own.git.iter().take(MAX_KEPT);
        let common = there.git.iter().filter_map(|git| real(&git.common).ok());
        let common = common.filter(|folder| !there.made.contains(folder));
        let mut files: BTreeSet<PathBuf> = common.map(|git| git.join("commondir")).collect();
        files.extend(git.flat_map(|folder| FORBIDDEN_IN_GIT.map(|name| folder.join(name))));
        files.extend(self.roots().iter().map(|root| root.join(OWN_FOLDER)));
        files.extend(self.start_up.iter().cloned());
        files.extend(self.protected_paths.iter().cloned());
        files.retain(|path| there.is_writable(path) && path.symlink_metadata().is_err());
        files.into_iter().collect()
    }
}

fn existing(paths: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    // Most are not, and to follow their links costs far more than this look.
    let there = paths.into_iter().filter(|path| path.exists());
    let real = there.filter_map(|path| fs::canonicalize(path).ok());
    let real: BTreeSet<PathBuf> = real.collect();
    real.into_iter().collect()
}

/// The folders of git of one working tree; those of its submodules and of other working trees
/// included.
fn all_of(git: &GitFolders) -> Vec<PathBuf> {
    let mut folders = vec![git.own.clone(), git.common.clone()];
    folders.extend(folders_below(&git.common.join("worktrees"), 1));
    let modules = folders_below(&git.common.join("modules"), usize::MAX);
    folders.extend(modules.into_iter().filter(|folder| is_git_folder(folder)));
    folders
}

fn code_in(folder: &Path) -> [PathBuf; RUNS_CODE.len()] {
    RUNS_CODE.map(|name| folder.join(name))
}

/// The folders in `folder`, so many levels deep, those of git not searched; the first of many.
fn folders_below(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut level = vec![folder.to_owned()];
    for _ in 0..depth {
        let mut below = Vec::new();
        for folder in level {
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            let folders = entries.filter(|entry| entry.file_type().is_ok_and(|it| it.is_dir()));
            below.extend(
                folders
                    .map(|entry| entry.path())
                    .take(MAX_FOLDERS - found.len()),
            );
            if found.len() + below.len() >= MAX_FOLDERS {
                break;
            }
        }
        if below.is_empty() {
            break;
        }
        below.truncate(MAX_FOLDERS - found.len());
        found.extend(below.iter().cloned());
        level = below;
    }
    found
}
