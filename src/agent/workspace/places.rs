//! The workspace: its folders, and the protected places. All its paths are resolved once, when it
//! is created. After that it judges paths without accessing the file system.

use std::collections::{BTreeSet, HashSet};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use ignore::{DirEntry, WalkBuilder};

use super::builtin::{
    NAME_PROGRAMS, PROTECTED, PROTECTED_IN_HOME, READ_ONLY_NAMES, START_UP_IN_HOME,
    START_UP_IN_PROJECT,
};
use super::folded::FoldedPath;
use super::hooks::hooks_folder;
use super::locate::Zone;
use super::private::PrivateFolders;
use crate::git::{git_folders, repository};
use crate::paths::real;

/// Most files of a folder that are checked for links.
const MAX_LINKED: usize = 10_000;
/// Contains a folder for each process.
const PROCESSES: &str = "/proc";

/// The folders that define a workspace: absolute paths that may not exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The folder the tools work in.
    pub cwd: PathBuf,
    /// More folders that belong to the workspace.
    pub writable: Vec<PathBuf>,
    /// Folders for temporary files, which also belong to it. Undo doesn't cover changes there.
    pub temporary: Vec<PathBuf>,
    /// Folders outside the workspace that sandboxed commands may write to: caches of build tools,
    /// shared with other projects.
    pub caches: Vec<PathBuf>,
    /// Protected files or folders besides the built-in list.
    pub protected: Vec<PathBuf>,
    /// The home folder, if there is one.
    pub home: Option<PathBuf>,
    /// tiller's own folders: its settings, keys, sessions. Protected.
    pub own: Vec<PathBuf>,
    /// Readable folders in `own`: long outputs of the open session. Set by the agent.
    pub readable: Vec<PathBuf>,
    /// The session's private temporary folders, which belong to the workspace.
    pub private: Option<PrivateFolders>,
}

/// The workspace of a session. All paths in it are real: without links and `..`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    places: Places,
    /// The folders that belong to it: its own, the added ones, the temporary ones.
    roots: Vec<PathBuf>,
    pub(super) readable: Vec<PathBuf>,
    pub(super) caches: Vec<PathBuf>,
    protected: Vec<FoldedPath>,
    /// The same as they were written.
    pub(super) protected_paths: Vec<PathBuf>,
    /// Files in the home folder that run automatically, and where links there lead.
    pub(super) start_up: Vec<PathBuf>,
    /// Read-only places below a root.
    read_only: Vec<FoldedPath>,
}

impl Workspace {
    /// Resolves `places`. Accesses the file system, which may block.
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
            // A link may lead to anything.
            readable: (places.readable.iter())
                .filter(|path| !path.is_symlink())
                .map(|path| resolved(path))
                .collect(),
            roots,
            places,
        }
    }

    /// The folders that belong to the workspace, its own first.
    pub fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// The roots with the user's work. Temporary folders aren't among them: all programs of the user
    /// share them, they may hold too much to search, and their files may disappear.
    pub(super) fn projects(&self) -> &[PathBuf] {
        &self.roots[..=self.places.writable.len()]
    }

    /// Returns `true` if the real path `path` is in a folder of the workspace that isn't temporary.
    pub fn is_in_project(&self, path: &Path) -> bool {
        self.projects().iter().any(|root| path.starts_with(root))
    }

    /// Returns `true` if sandboxed commands may have written the real path `path`.
    pub fn is_written(&self, path: &Path) -> bool {
        let elsewhere = self.writable_elsewhere();
        self.is_in_project(path) || elsewhere.iter().any(|folder| path.starts_with(folder))
    }

    /// Returns `true` if a project is the home folder or contains it. More files run automatically
    /// there than anyone can list.
    pub fn holds_home(&self) -> bool {
        let home = self.places.home.as_deref().map(resolved);
        home.is_some_and(|home| self.projects().iter().any(|root| home.starts_with(root)))
    }

    /// Returns the same workspace with the shared temporary folders instead of private ones.
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

    /// Folders that commands may write to but that hold no one's work: caches, temporary folders.
    pub(super) fn writable_elsewhere(&self) -> Vec<PathBuf> {
        let temporary = &self.roots[self.projects().len()..];
        self.caches.iter().chain(temporary).cloned().collect()
    }

    /// Returns the zone of `path`, which must be real (see `locate`). If a protected place and a
    /// folder of the workspace are nested, the inner one decides.
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
                // The root's own name is checked too.
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

    /// Whether the real path `path` is protected because the user named it or a folder above it.
    pub fn is_listed(&self, path: &Path) -> bool {
        let path = FoldedPath::new(path);
        let listed = folded_both(self.places.protected.iter().cloned());
        listed.iter().any(|it| path.starts_with(it))
    }

    /// What a search below `root` may have to leave out: the folded last names of the protected
    /// places, and whether there are folders of processes.
    pub(super) fn protected_below(&self, root: &Path) -> (HashSet<&str>, bool) {
        let folded = FoldedPath::new(root);
        let below = self.protected.iter().filter(|it| it.starts_with(&folded));
        let names = below.filter_map(|it| it.names().last());
        (
            names.map(String::as_str).collect(),
            Path::new(PROCESSES).starts_with(root),
        )
    }

    /// Returns `true` if `path` is in a folder that git treats as its own, or will once `written` exist.
    /// Settings there run programs, regardless of the folder's name.
    pub(crate) fn is_in_git_folder(&self, path: &Path, written: &[PathBuf]) -> bool {
        let inside = |folder: &&Path| self.roots().iter().any(|root| folder.starts_with(root));
        path.ancestors().skip(1).take_while(inside).any(|folder| {
            let has = |name| {
                let part = folder.join(name);
                written.iter().any(|path| path.starts_with(&part)) || part.exists()
            };
            has("HEAD") && (has("commondir") || has("objects") && has("refs"))
        })
    }
}

/// Returns the repository around `cwd`, else `cwd`. Skips a repository of the home folder or above:
/// users who keep these in git don't want all projects in one workspace.
fn root(cwd: &Path, home: Option<&Path>) -> PathBuf {
    let own = |root: &&Path| home.is_none_or(|home| !home.starts_with(root));
    repository(cwd).filter(own).unwrap_or(cwd).to_owned()
}

/// The real path, as far as it can be determined.
fn resolved(path: &Path) -> PathBuf {
    real(path).unwrap_or_else(|_| path.to_owned())
}

/// Paths as written and with links resolved.
fn folded_both(paths: impl Iterator<Item = PathBuf>) -> Vec<FoldedPath> {
    let mut folded = BTreeSet::new();
    for path in paths {
        folded.insert(FoldedPath::new(&resolved(&path)));
        folded.insert(FoldedPath::new(&path));
    }
    folded.into_iter().collect()
}

/// Returns `true` for paths in `/proc/PID`, which expose memory, environment and open files of programs.
fn is_of_a_process(path: &Path) -> bool {
    let below = path.strip_prefix(PROCESSES).ok();
    let first = below.and_then(|below| below.components().next());
    first.is_some_and(|it| it.as_os_str().as_bytes().iter().all(u8::is_ascii_digit))
}

/// Returns where links in `folders` lead within `roots`, since some users keep their settings in a
/// repository. Skips program folders: a link to a build result must not prevent building it again.
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
