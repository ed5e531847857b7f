//! What a sandbox needs to know about a workspace: paths that exist, since a sandbox binds files,
//! not names. A file that doesn't exist yet can be created by a command in it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::builtin::OWN_FOLDER;
use super::disarm::Fate;
use super::locate::Zone;
use super::places::Workspace;
use super::repositories::{Found, Repositories};
use crate::git::{ALTERNATES, GitFolders, RUNS_CODE, git_folders, is_git_folder};
use crate::paths::real;
use crate::process::sandbox::{Network, Sandbox};

/// Files in a git folder that take effect as soon as they exist. An empty hooks folder has no effect.
const FORBIDDEN_IN_GIT: [&str; 4] = ["config", "config.worktree", "commondir", ALTERNATES];
/// Most user repositories in a workspace that are protected from commands. Each costs mounts.
const MAX_KEPT: usize = 100;
/// Most folders searched in a git folder.
const MAX_FOLDERS: usize = 256;

/// What exists when a command starts.
struct There {
    writable: Vec<PathBuf>,
    /// The git folders of the roots.
    git: Vec<GitFolders>,
    own: Found,
    /// Git folders created by commands.
    made: Vec<PathBuf>,
    start_up: Vec<PathBuf>,
}

impl There {
    fn is_writable(&self, path: &Path) -> bool {
        self.writable.iter().any(|place| path.starts_with(place))
    }
}

impl Workspace {
    /// Looks in advance, so that a command that is about to come won't have to wait for it.
    pub fn look_ahead(&self, repositories: &mut Repositories) {
        repositories.look_ahead(self);
    }

    /// Returns the sandbox for a command that starts now. With `writes` it may change the workspace and
    /// the caches, else only temporary files. Looks at the files like [`Self::for_commands`]; may block.
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

    /// Returns the places that matter for a command that starts now. Accesses the file system, which may
    /// block.
    ///
    /// What exists now is the user's and protected from commands. If a command may have been running since
    /// the last look, `judge_new` judges what is new. Commands may change and remove what commands
    /// created, as long as the user hasn't changed it.
    ///
    /// Writable are the folders of the workspace, and git's folders for them if these are elsewhere (in a
    /// linked working tree or a submodule).
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

    /// Disables what commands that may still be running have created, before something runs outside
    /// the sandbox. Returns what to report. Accesses the file system, which may block.
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

    /// Returns what exists now, whether the user's or from commands that may be running, and the
    /// files that other programs run automatically.
    fn settle(&self, repositories: &mut Repositories) -> (Found, Vec<PathBuf>) {
        let found = repositories.look_before(self);
        let start_up = self.start_up_files();
        let said = self.judge_new(repositories, &found, &start_up);
        repositories.unsaid.extend(said);
        (found, start_up)
    }

    /// Disables what is new in `found` if a running call may have created it. Only reports it if just
    /// background commands are running, because it may as well be the user's.
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

    /// The folders where commands could create what runs programs later.
    pub(super) fn looked_at(&self) -> Vec<PathBuf> {
        let projects = self.projects().iter().cloned();
        projects.chain(self.git_outside()).collect()
    }

    /// Returns `true` if git keeps linked working trees here that no command created.
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

    /// The git folders of each root that has any.
    fn git(&self) -> impl Iterator<Item = (&Path, GitFolders)> {
        let roots = self.roots().iter().map(PathBuf::as_path);
        roots.filter_map(|root| Some((root, git_folders(root)?)))
    }

    /// The workspace's git folders that are outside it.
    fn git_outside(&self) -> impl Iterator<Item = PathBuf> {
        self.git().filter_map(|(root, git)| {
            let common = real(&git.common).ok()?;
            // Most are inside, and that check is cheaper.
            (self.zone(&common) == Zone::Outside && git.belong_to(root)).then_some(common)
        })
    }

    /// The protected places. If one contains a folder of the workspace (a trial's is in tiller's own
    /// folder), everything else in it instead.
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
        // The sandbox puts an empty folder there, which git ignores.
        let hooks = git.iter().map(|folder| folder.join("hooks"));
        places.extend(hooks.filter(|hooks| hooks.symlink_metadata().is_err()));
        places.retain(|path| there.is_writable(path));
        places.into_iter().collect()
    }

    /// Files from which git, a shell or tiller would load settings if they existed, and missing
    /// places for secrets. Some of the settings that must not change usually don't exist.
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
    // Most don't exist, and resolving their links costs far more than this check.
    let there = paths.into_iter().filter(|path| path.exists());
    let real = there.filter_map(|path| fs::canonicalize(path).ok());
    let real: BTreeSet<PathBuf> = real.collect();
    real.into_iter().collect()
}

/// All git folders of one working tree, including those of its submodules and other working trees.
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

/// The folders in `folder`, up to `depth` levels down, without entering git folders. Stops at the limit.
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
