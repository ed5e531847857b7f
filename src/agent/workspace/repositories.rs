//! Finds the repositories in a workspace by looking at all its folders. Folders unchanged since the
//! last look aren't read again.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::builtin::OWN_FOLDER;
use super::places::Workspace;
use crate::git::{RUNS_CODE, is_git_folder};

/// Most folders that are looked at, those nearest to the top first.
const MAX_FOLDERS: usize = 20_000;
/// The same limit for the target of a link into a cache. A larger one may contain a repository.
const MAX_BEHIND_LINK: usize = 2_000;
/// In seconds. File system clocks are coarse: after a change at most this old, another may not be visible.
const SETTLED: i64 = 2;
/// A look before a command may be this old if no command has been running since.
const RECENT: Duration = Duration::from_secs(2);
/// With more folders, a look takes longer than a command should.
const MANY_FOLDERS: usize = 500;

/// What is known about the repositories in a workspace, from one command to the next.
#[derive(Debug, Default)]
pub struct Repositories {
    /// The folders below each root at the last look, in the order of that look.
    folders: Vec<Vec<Option<Folder>>>,
    /// What existed when no command had been running: the user's.
    pub(super) own: HashSet<PathBuf>,
    /// What commands created, in the state they left it. Theirs until someone else changes it.
    made: HashMap<PathBuf, Code>,
    /// Number of commands that may have been running since the last look.
    pub(super) running: usize,
    /// How many of these are calls that haven't returned. Without any, something new may come from a
    /// background command or from the user.
    pub(super) in_foreground: usize,
    /// Findings of a look that couldn't report them.
    pub(super) unsaid: Vec<String>,
    /// Findings that may come from background commands, until a question has named them.
    pub(super) in_doubt: Vec<String>,
    /// The last look's findings and time, if no command has been running since.
    last: Option<(Instant, Found)>,
}

/// The result of looking at what commands created.
pub(crate) struct After {
    pub(super) found: Found,
    pub(super) disarmed: Vec<String>,
}

/// The findings of a look.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Git folders.
    pub git: Vec<PathBuf>,
    /// Entries named `.git` that lead to a git folder.
    pub links: Vec<PathBuf>,
    /// Links among git's own files, and tiller's settings folders: git and tiller would follow these
    /// later, outside the sandbox.
    pub followed: Vec<PathBuf>,
    /// Links into a folder of caches or temporary files, or above one. Commands write there, and
    /// nobody looks at what they create.
    pub into_shared: Vec<PathBuf>,
}

#[derive(Debug)]
struct Folder {
    id: Id,
    settled: bool,
    /// The folders in it that are looked at.
    below: Vec<OsString>,
    /// Index of the first of these in the list of all folders, where they are adjacent.
    first_below: usize,
    is_git: bool,
    has_link: bool,
    /// Names of the entries in [`Found::followed`].
    followed: Vec<OsString>,
    /// Links that lead outside the folders that are looked at, or nowhere.
    leading_out: Vec<OsString>,
}

/// A folder to look at, and its index at the last look.
struct Place {
    path: PathBuf,
    known: Option<usize>,
}

/// Identifies a file or folder and its last change. A folder changes when an entry appears or disappears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Id(u64, u64, i64, i64);

/// The state of a git folder, or of a link to one: everything in it that makes code run.
type Code = Vec<Option<Id>>;

impl Repositories {
    /// Adds texts for the next look to report first.
    pub(crate) fn say_later(&mut self, said: Vec<String>) {
        self.unsaid.extend(said);
    }

    /// Notes that a command starts.
    pub fn another_command(&mut self) {
        self.running += 1;
        self.in_foreground += 1;
        self.last = None;
    }

    /// Notes that a command's call has returned. It may have left processes.
    pub(crate) fn call_returned(&mut self) {
        self.in_foreground = self.in_foreground.saturating_sub(1);
    }

    /// Notes that a command whose call had returned has ended, with everything it started.
    pub(crate) fn command_ended(&mut self) {
        self.running = self.running.saturating_sub(1);
    }

    /// Returns what to report after a look.
    pub(crate) fn say(&mut self, after: After) -> Vec<String> {
        if after.disarmed.is_empty() && self.running == 0 {
            self.no_command_since(after.found);
        }
        let mut said = std::mem::take(&mut self.unsaid);
        said.extend(after.disarmed);
        said
    }

    /// Looks, unless that was done recently or must be repeated anyway. Only the first look, or one at
    /// many folders, takes long enough for this to help.
    pub(super) fn look_ahead(&mut self, workspace: &Workspace) {
        if self.running == 0 && !self.is_recent() {
            let found = self.look(workspace);
            self.no_command_since(found);
        }
    }

    /// Returns what exists before a command.
    pub(super) fn look_before(&mut self, workspace: &Workspace) -> Found {
        let recent = self.is_recent();
        match self.last.take().filter(|_| recent) {
            Some((_, found)) => found,
            None => self.look(workspace),
        }
    }

    /// Notes that no command has been running since `found`. If looks are slow, it serves for the next
    /// command, and what the user creates meanwhile is attributed to that command.
    pub(super) fn no_command_since(&mut self, found: Found) {
        self.last = self.take_time().then(|| (Instant::now(), found));
    }

    /// Forgets the last look: something outside the sandbox may have created repositories.
    pub(crate) fn look_again(&mut self) {
        self.last = None;
    }

    fn is_recent(&self) -> bool {
        let last = self.last.as_ref();
        last.is_some_and(|(at, _)| at.elapsed() < RECENT)
    }

    /// Returns `true` if a look takes long.
    pub(crate) fn take_time(&self) -> bool {
        self.folders.iter().map(Vec::len).sum::<usize>() > MANY_FOLDERS
    }

    /// Notes the state after a command has ended.
    pub(super) fn remember_made(&mut self, found: &Found) {
        let made = found.all().filter(|path| !self.own.contains(*path));
        self.made = made.map(|path| (path.clone(), code(path))).collect();
    }

    /// Treats everything in `found` that no command created as the user's.
    pub(super) fn take_for_own(&mut self, found: &Found, more: &[PathBuf]) {
        let own = found.all().filter(|path| !self.is_made(path));
        self.own = own.chain(more).cloned().collect();
    }

    /// Returns `true` if a command created it and no one else has changed it.
    pub(super) fn is_made(&self, path: &Path) -> bool {
        self.made.get(path).is_some_and(|it| *it == code(path))
    }

    /// Looks at the folders where commands may create repositories, on their file system.
    pub(super) fn look(&mut self, workspace: &Workspace) -> Found {
        let roots = workspace.looked_at();
        let mut found = Found::default();
        self.folders.resize_with(roots.len(), Vec::new);
        let mut left = MAX_FOLDERS;
        for (root, folders) in roots.iter().zip(&mut self.folders) {
            *folders = look_below(root, folders, left, &mut found);
            left = left.saturating_sub(folders.len());
        }
        let shared = workspace.writable_elsewhere();
        let leads_there = |link: &PathBuf| !reached_by(link, &shared).is_empty();
        found.into_shared.retain(leads_there);
        found
    }
}

impl Found {
    /// Keeps only entries in `own`. Returns the git folders that aren't.
    pub fn keep_own(&mut self, own: &HashSet<PathBuf>) -> Vec<PathBuf> {
        let others = self
            .git
            .extract_if(.., |path| !own.contains(path))
            .collect();
        self.links.retain(|path| own.contains(path));
        self.followed.retain(|path| own.contains(path));
        others
    }

    fn all(&self) -> impl Iterator<Item = &PathBuf> {
        let paths = self.git.iter().chain(&self.links);
        paths.chain(&self.followed).chain(&self.into_shared)
    }
}

impl Id {
    fn of(data: &fs::Metadata) -> Self {
        Self(data.dev(), data.ino(), data.ctime(), data.ctime_nsec())
    }
}

/// Returns the folders in `shared` that `link` leads into, each with the part that it reaches: all of it
/// if the link leads to a parent.
fn reached_by(link: &Path, shared: &[PathBuf]) -> Vec<(PathBuf, PathBuf)> {
    let Ok(target) = link.canonicalize() else {
        return Vec::new();
    };
    let reached = |top: &PathBuf| {
        let place = if target.starts_with(top) {
            &target
        } else {
            top
        };
        let is_reached = place == &target || top.starts_with(&target);
        is_reached.then(|| (top.clone(), place.clone()))
    };
    shared.iter().filter_map(reached).collect()
}

/// Returns `true` if `link` leads to or into a repository in one of the folders `shared`, or to a
/// folder that contains one or is too large to tell.
pub(super) fn leads_to_repository(link: &Path, shared: &[PathBuf]) -> bool {
    reached_by(link, shared).iter().any(|(top, place)| {
        let mut found = Found::default();
        let folders = look_below(place, &mut [], MAX_BEHIND_LINK, &mut found);
        let mut links = std::mem::take(&mut found.into_shared).into_iter();
        // Git searches upwards from its working folder.
        let mut around = place.ancestors().take_while(|it| it.starts_with(top));
        around.any(|it| is_git_folder(it) || it.join(".git").symlink_metadata().is_ok())
            || found.all().next().is_some()
            || links.any(|link| !reached_by(&link, shared).is_empty())
            || folders.len() == MAX_BEHIND_LINK
    })
}

/// Returns the state of what makes code run at `path`, which is a git folder or a link to one.
fn code(path: &Path) -> Code {
    let is_link = path.is_symlink();
    let places = RUNS_CODE.map(|name| path.join(name));
    let places = places.iter().filter(|_| !is_link).map(PathBuf::as_path);
    let itself = Some(path).filter(|path| is_link || !path.is_dir());
    let data = places.chain(itself).map(Path::symlink_metadata);
    data.map(|data| data.ok().as_ref().map(Id::of)).collect()
}

/// Looks at `root` and up to `most` folders below it. `known` are the folders of the last look.
fn look_below(
    root: &Path,
    known: &mut [Option<Folder>],
    most: usize,
    found: &mut Found,
) -> Vec<Option<Folder>> {
    let device = fs::metadata(root).map(|data| data.dev());
    let mut seen: Vec<Option<Folder>> = Vec::with_capacity(known.len());
    let mut places = vec![Place {
        path: root.to_owned(),
        known: (!known.is_empty()).then_some(0),
    }];
    while seen.len() < places.len().min(most) {
        let place = &mut places[seen.len()];
        let path = std::mem::take(&mut place.path);
        let before = place.known.and_then(|at| known.get_mut(at)?.take());
        let is_here = |folder: &Folder| !device.as_ref().is_ok_and(|device| folder.id.0 != *device);
        let looked = Folder::look(root, &path, before).ok();
        let Some((mut folder, before)) = looked.filter(|looked| is_here(&looked.0)) else {
            seen.push(None);
            continue;
        };
        places.extend(folder.below.iter().enumerate().map(|(at, name)| Place {
            path: path.join(name),
            known: before.place_of(at, name),
        }));
        folder.first_below = places.len() - folder.below.len();
        if folder.has_link {
            found.links.push(path.join(".git"));
        }
        let followed = folder.followed.iter().map(|name| path.join(name));
        found.followed.extend(followed);
        let leading_out = folder.leading_out.iter().map(|name| path.join(name));
        found.into_shared.extend(leading_out);
        if folder.is_git || path.file_name() == Some(OsStr::new(".git")) {
            found.git.push(path);
        }
        seen.push(Some(folder));
    }
    seen
}

/// The indexes of a folder's subfolders at the last look: the same subfolders as now, or others.
enum Before {
    Unknown,
    Same(usize),
    Other(HashMap<OsString, usize>),
}

impl Before {
    /// Returns the index of the subfolder `name` at the last look. `at` is its current position.
    fn place_of(&self, at: usize, name: &OsStr) -> Option<usize> {
        match self {
            Self::Unknown => None,
            Self::Same(first) => Some(first + at),
            Self::Other(below) => below.get(name).copied(),
        }
    }
}

impl Folder {
    /// Reads the folder `path` below `root`, and where its subfolders were at the last look.
    fn look(root: &Path, path: &Path, known: Option<Self>) -> io::Result<(Self, Before)> {
        let data = fs::symlink_metadata(path)?;
        let id = Id::of(&data);
        let known = match known {
            Some(known) if known.settled && known.id == id => {
                let before = Before::Same(known.first_below);
                return Ok((known, before));
            }
            known => known.map_or(Before::Unknown, |known| {
                let below = known.below.into_iter().enumerate();
                let at = |(at, name)| (name, known.first_below + at);
                Before::Other(below.map(at).collect())
            }),
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |now| now.as_secs() as i64);
        let mut folder = Self {
            id,
            settled: data.ctime() + SETTLED < now,
            below: Vec::new(),
            first_below: 0,
            is_git: false,
            has_link: false,
            followed: Vec::new(),
            leading_out: Vec::new(),
        };
        let mut links = Vec::new();
        let (mut head, mut objects, mut refs, mut commondir) = (false, false, false, false);
        for entry in fs::read_dir(path)?.flatten() {
            let name = entry.file_name();
            let kind = entry.file_type();
            let is_folder = kind.as_ref().is_ok_and(fs::FileType::is_dir);
            if name == OWN_FOLDER {
                folder.followed.push(name.clone());
            } else if kind.is_ok_and(|kind| kind.is_symlink()) {
                links.push(name.clone());
            }
            match name.as_encoded_bytes() {
                b"HEAD" => head = true,
                b"objects" => objects = true,
                b"refs" => refs = true,
                b"commondir" => commondir = true,
                b".git" => folder.has_link = !is_folder,
                _ => {}
            }
            if is_folder {
                folder.below.push(name);
            }
        }
        folder.is_git = head && (commondir || objects && refs);
        if folder.is_git || is_in_git(path) {
            folder.followed.extend(links);
        } else {
            let stays = |target: PathBuf| target.starts_with(root);
            links.retain(|name| !path.join(name).canonicalize().is_ok_and(stays));
            folder.leading_out = links;
        }
        // Skips git's many object folders, where it follows no link to write.
        let has_objects = path.ends_with("objects") && is_in_git(path);
        folder.below.retain(|name| !has_objects || name.len() != 2);
        Ok((folder, known))
    }
}

fn is_in_git(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == ".git")
}
