//! The workspace: its folders, and what is protected. Made once, when all paths in it are resolved;
//! afterwards a path is judged without asking the file system.

use std::collections::{BTreeSet, HashSet};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use ignore::{DirEntry, WalkBuilder};

use super::builtin::{
    NAME_PROGRAMS, PROTECTED, PROTECTED_IN_HOME, READ_ONLY_NAMES, START_UP_IN_HOME,
    START_UP_IN_PROJECT,
};
use super::folded::FoldedPath;
use super::git_folders::git_folders;
use super::hooks::hooks_folder;
use super::private::PrivateFolders;
use super::zone::Zone;
use crate::agent::paths::real;

/// Files of one folder that are looked at for links.
const MAX_LINKED: usize = 10_000;
/// The folder with one for each process.
const PROCESSES: &str = "/proc";

/// What a workspace is made of: absolute paths, which need not exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The folder the tools work in.
    pub cwd: PathBuf,
    /// Folders that belong to the workspace besides its own.
    pub writable: Vec<PathBuf>,
    /// Folders for temporary files, which belong to it too; what changes there is not kept for undo.
    pub temporary: Vec<PathBuf>,
    /// Folders outside the workspace that commands in the sandbox may write to: caches of build
    /// tools, shared with other projects.
    pub caches: Vec<PathBuf>,
    /// What is protected besides the built-in list: files or folders.
    pub protected: Vec<PathBuf>,
    /// The home folder, if there is one.
    pub home: Option<PathBuf>,
    /// tiller's own folders: its settings, keys, sessions. Protected.
    pub own: Vec<PathBuf>,
    /// Folders in them that may be read: long outputs of the open session. The agent says which.
    pub readable: Vec<PathBuf>,
    /// Temporary folders of the session's own, which belong to the workspace.
    pub private: Option<PrivateFolders>,
}

/// The workspace of a session. All paths in it are real: no link, no `..`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    places: Places,
    /// The folders that belong to it: its own, those that were added, those for temporary files.
    roots: Vec<PathBuf>,
    pub(super) readable: Vec<PathBuf>,
    pub(super) caches: Vec<PathBuf>,
    protected: Vec<FoldedPath>,
    /// The same as it was named.
    pub(super) protected_paths: Vec<PathBuf>,
    /// What runs by itself from the home folder, and where links in it lead within the workspace.
    pub(super) start_up: Vec<PathBuf>,
    /// What may not be written although it is below a root.
    read_only: Vec<FoldedPath>,
}

impl Workspace {
    /// Resolves `places`. Asks the file system, which may block.
    pub fn new(places: Places) -> Self {
        let home = places.home.as_deref().map(resolved);
        let root = root(&resolved(&places.cwd), home.as_deref());
        let mut roots = vec![root];
        let added = places.writable.iter().chain(&places.temporary);
        roots.extend(added.map(|path| resolved(path)));
        let private = places.private.iter();
        roots.extend(private.map(|private| private.parent().to_owned()));
        let in_home = |names: &[&str]| -> Vec<PathBuf> {
            let homes = places.home.iter();
            homes
                .flat_map(|home| names.iter().map(|name| home.join(name)))
                .collect()
        };
        let protected = in_home(PROTECTED_IN_HOME)
            .into_iter()
            .chain(PROTECTED.iter().map(PathBuf::from))
            .chain(places.own.iter().chain(&places.protected).cloned());
        let git = roots.iter().filter_map(|root| git_folders(root));
        let in_roots = roots.iter().flat_map(|root| {
            let hooks = hooks_folder(root, home.as_deref());
            let hooks = hooks.filter(|hooks| hooks != root && !root.starts_with(hooks));
            let files = START_UP_IN_PROJECT.iter().map(|name| root.join(name));
            files.chain(hooks)
        });
        let mut start_up = in_home(START_UP_IN_HOME);
        let mut linked = in_home(NAME_PROGRAMS);
        linked.extend(start_up.iter().cloned());
        start_up.extend(links_to(&roots, &linked));
        let read_only = (start_up.iter().cloned())
            .chain(in_roots)
            .chain(git.flat_map(|git| [git.own, git.common]));
        let protected: Vec<PathBuf> = protected.collect();
        Self {
            protected: folded_both(protected.iter().cloned()),
            read_only: folded_both(read_only),
            protected_paths: protected,
            start_up,
            caches: places.caches.iter().map(|path| resolved(path)).collect(),
            // One that is a link may lead to anything.
            readable: (places.readable.iter())
                .filter(|path| !path.is_symlink())
                .map(|path| resolved(path))
                .collect(),
            roots,
            places,
        }
    }

    /// The folders that belong to the workspace; its own is the first.
    pub fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// Those of them that are somebody's work. Folders for temporary files are shared by all programs
    /// of the user, may hold more than can be looked through, and what stands there may not stay.
    pub(super) fn projects(&self) -> &[PathBuf] {
        &self.roots[..=self.places.writable.len()]
    }

    /// Whether the real path `path` is in one of them.
    pub fn is_in_project(&self, path: &Path) -> bool {
        self.projects().iter().any(|root| path.starts_with(root))
    }

    /// Whether commands in the sandbox may have written the real path `path`.
    pub fn is_written(&self, path: &Path) -> bool {
        let elsewhere = self.writable_elsewhere();
        self.is_in_project(path) || elsewhere.iter().any(|folder| path.starts_with(folder))
    }

    /// Whether one of them is the home folder, or holds it: what runs by itself in there is more than
    /// anybody can list.
    pub fn holds_home(&self) -> bool {
        let home = self.places.home.as_deref().map(resolved);
        home.is_some_and(|home| self.projects().iter().any(|root| home.starts_with(root)))
    }

    /// The same for calls that see the temporary folders of all programs.
    pub fn without_private(&self) -> Self {
        Self::new(Places {
            private: None,
            ..self.places.clone()
        })
    }

    pub(super) fn private(&self) -> Option<&PrivateFolders> {
        self.places.private.as_ref()
    }

    pub(super) fn home(&self) -> Option<&Path> {
        self.places.home.as_deref()
    }

    /// What commands may write that is nobody's work: caches, folders for temporary files.
    pub(super) fn writable_elsewhere(&self) -> Vec<PathBuf> {
        let temporary = &self.roots[self.projects().len()..];
        self.caches.iter().chain(temporary).cloned().collect()
    }

    /// The zone of `path`, which must be a real one (see `locate`). Where a protected place and a
    /// folder of the workspace are nested, the inner one counts.
    pub fn zone(&self, path: &Path) -> Zone {
        let deepest = |paths: &[PathBuf]| {
            let holding = paths.iter().filter(|root| path.starts_with(root));
            holding.map(|root| root.components().count()).max()
        };
        let (root, readable) = (deepest(&self.roots), deepest(&self.readable));
        let folded = FoldedPath::new(path);
        let holding = self.protected.iter().filter(|it| folded.starts_with(it));
        let protected = holding.map(|it| it.names().len()).max();
        if is_of_a_process(path) || protected.is_some() && protected >= root.max(readable) {
            return Zone::Protected;
        }
        match root {
            None if readable.is_some() => Zone::ReadOnly,
            None => Zone::Outside,
            Some(root) if readable > Some(root) => Zone::ReadOnly,
            Some(root) => {
                // The name of the root itself counts too.
                let mut names = folded.names().iter().skip(root.saturating_sub(1));
                let by_name = names.any(|name| READ_ONLY_NAMES.contains(&name.as_str()));
                let listed = || self.read_only.iter().any(|it| folded.starts_with(it));
                if by_name || listed() {
                    Zone::ReadOnly
                } else {
                    Zone::Inside
                }
            }
        }
    }

    /// The folded last names of protected places below `root`, and whether folders of processes are
    /// there: what a search may have to leave out.
    pub(super) fn protected_below(&self, root: &Path) -> (HashSet<&str>, bool) {
        let folded = FoldedPath::new(root);
        let below = self.protected.iter().filter(|it| it.starts_with(&folded));
        let names = below.filter_map(|it| it.names().last());
        (
            names.map(String::as_str).collect(),
            Path::new(PROCESSES).starts_with(root),
        )
    }
}

/// The repository around `cwd`, else `cwd`. Not a repository of the home folder or of one above it:
/// somebody who keeps these in git does not want all projects to be one workspace.
fn root(cwd: &Path, home: Option<&Path>) -> PathBuf {
    let repository = cwd.ancestors().find(|it| it.join(".git").exists());
    let own = |root: &&Path| home.is_none_or(|home| !home.starts_with(root));
    repository.filter(own).unwrap_or(cwd).to_owned()
}

/// The real path, as far as it can be known.
fn resolved(path: &Path) -> PathBuf {
    real(path).unwrap_or_else(|_| path.to_owned())
}

/// Paths as they are written and as they are behind links.
fn folded_both(paths: impl Iterator<Item = PathBuf>) -> Vec<FoldedPath> {
    let mut folded = BTreeSet::new();
    for path in paths {
        folded.insert(FoldedPath::new(&resolved(&path)));
        folded.insert(FoldedPath::new(&path));
    }
    folded.into_iter().collect()
}

/// Whether it is in `/proc/PID`, where memory, environment and open files of programs are.
fn is_of_a_process(path: &Path) -> bool {
    let below = path.strip_prefix(PROCESSES).ok();
    let first = below.and_then(|below| below.components().next());
    first.is_some_and(|it| it.as_os_str().as_bytes().iter().all(u8::is_ascii_digit))
}

/// Where links in `folders` lead within `roots`: some keep their settings in a repository. Folders of
/// programs are left out: a link to what a project builds must not keep it from being built again.
fn links_to(roots: &[PathBuf], folders: &[PathBuf]) -> Vec<PathBuf> {
    let walk = |folder: &PathBuf| {
        let mut walk = WalkBuilder::new(folder);
        let entries = walk.standard_filters(false).max_depth(Some(3)).build();
        entries.flatten().take(MAX_LINKED)
    };
    let folders = folders.iter().filter(|folder| !folder.ends_with("bin"));
    let links = folders.flat_map(walk).filter(DirEntry::path_is_symlink);
    let places = links.filter_map(|link| real(link.path()).ok());
    let inside = places.filter(|place| {
        let holds = |root: &PathBuf| root.starts_with(place);
        roots.iter().any(|root| place.starts_with(root)) && !roots.iter().any(holds)
    });
    inside.collect()
}
