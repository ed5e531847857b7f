//! The repositories in a workspace, found by looking at all of its folders. A folder that has not
//! changed since the last look is not read again.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::git_folders::RUNS_CODE;

/// How many folders are looked at; those nearest to the top come first.
const MAX_FOLDERS: usize = 20_000;
/// A change that is not older may be followed by another that does not show: clocks of file systems
/// are coarse.
const SETTLED: i64 = 2;

/// What is known of the repositories in a workspace, from one command to the next.
#[derive(Debug, Default)]
pub struct Repositories {
    folders: HashMap<PathBuf, Folder>,
    /// What was there when no command had been running: the user's.
    pub(super) own: HashSet<PathBuf>,
    /// What commands made, as they left it: theirs until somebody else changes it.
    made: HashMap<PathBuf, Code>,
    /// How many commands may have been running since the last look.
    pub(super) running: usize,
    /// What was found at a look that could not say it.
    pub(super) unsaid: Vec<String>,
}

/// What a look found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Folders with git's own files.
    pub git: Vec<PathBuf>,
    /// What is called `.git` and leads to such a folder.
    pub links: Vec<PathBuf>,
}

#[derive(Clone, Debug)]
struct Folder {
    id: Id,
    settled: bool,
    below: Vec<OsString>,
    is_git: bool,
    has_link: bool,
}

/// A file or folder itself, and when it last changed: of a folder, when something in it last appeared
/// or went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Id(u64, u64, i64, i64);

/// A folder of git or a link to one, and what in it makes code run.
type Code = Vec<Option<Id>>;

impl Repositories {
    /// What the next look says first.
    pub(in crate::agent) fn say_later(&mut self, said: Vec<String>) {
        self.unsaid.extend(said);
    }

    /// A command starts.
    pub(in crate::agent) fn another_command(&mut self) {
        self.running += 1;
    }

    /// A command has ended, and `found` is what stands there now.
    pub(super) fn remember_made(&mut self, found: &Found) {
        let made = found.all().filter(|path| !self.own.contains(*path));
        self.made = made.map(|path| (path.clone(), code(path))).collect();
    }

    /// Takes what of `found` no command has made for the user's.
    pub(super) fn take_for_own(&mut self, found: &Found, more: impl Iterator<Item = PathBuf>) {
        let own = found.all().filter(|path| !self.is_made(path)).cloned();
        self.own = own.chain(more).collect();
    }

    /// Whether a command has made it, and nobody else has changed it.
    pub(super) fn is_made(&self, path: &Path) -> bool {
        self.made.get(path).is_some_and(|it| *it == code(path))
    }

    /// Looks at the folders below `roots`, on the same file system.
    pub(super) fn look(&mut self, roots: &[PathBuf]) -> Found {
        let mut found = Found::default();
        let mut seen = HashMap::new();
        for root in roots {
            let device = fs::metadata(root).map(|data| data.dev());
            let mut waiting = VecDeque::from([root.clone()]);
            while let Some(path) = waiting.pop_front() {
                if seen.len() >= MAX_FOLDERS {
                    break;
                }
                let known = self.folders.remove(&path);
                let Ok(folder) = Folder::look(&path, known) else {
                    continue;
                };
                if device.as_ref().is_ok_and(|device| folder.id.0 != *device) {
                    continue;
                }
                let below = folder
                    .below
                    .iter()
                    .filter(|name| folder.leads_on(&path, name));
                waiting.extend(below.map(|name| path.join(name)));
                if folder.has_link {
                    found.links.push(path.join(".git"));
                }
                if folder.is_git || path.file_name() == Some(OsStr::new(".git")) {
                    found.git.push(path.clone());
                }
                seen.insert(path, folder);
            }
        }
        self.folders = seen;
        found
    }
}

impl Found {
    /// Those that are among `own`, and the others.
    pub fn split(self, own: &HashSet<PathBuf>) -> (Self, Self) {
        let part = |paths: Vec<PathBuf>| paths.into_iter().partition(|path| own.contains(path));
        let ((git, other_git), (links, other_links)) = (part(self.git), part(self.links));
        let others = Self {
            git: other_git,
            links: other_links,
        };
        (Self { git, links }, others)
    }

    fn all(&self) -> impl Iterator<Item = &PathBuf> {
        self.git.iter().chain(&self.links)
    }
}

impl Id {
    fn of(data: &fs::Metadata) -> Self {
        Self(data.dev(), data.ino(), data.ctime(), data.ctime_nsec())
    }
}

/// What makes code run at `path`, which is a folder of git or a link to one.
fn code(path: &Path) -> Code {
    let places = RUNS_CODE.map(|name| path.join(name));
    let places = places.iter().map(PathBuf::as_path);
    let itself = Some(path).filter(|path| !path.is_dir() || path.is_symlink());
    let data = places.chain(itself).map(Path::symlink_metadata);
    data.map(|data| data.ok().as_ref().map(Id::of)).collect()
}

impl Folder {
    fn look(path: &Path, known: Option<Self>) -> io::Result<Self> {
        let data = fs::symlink_metadata(path)?;
        let id = Id::of(&data);
        if let Some(known) = known.filter(|known| known.settled && known.id == id) {
            return Ok(known);
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |now| now.as_secs() as i64);
        let mut folder = Self {
            id,
            settled: data.ctime() + SETTLED < now,
            below: Vec::new(),
            is_git: false,
            has_link: false,
        };
        let (mut head, mut objects, mut refs, mut commondir) = (false, false, false, false);
        for entry in fs::read_dir(path)?.flatten() {
            let name = entry.file_name();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
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
        Ok(folder)
    }

    /// Whether there may be more in the folder `name` of it: what belongs to git is not searched but
    /// for the folders of submodules and of other working trees.
    fn leads_on(&self, path: &Path, name: &OsStr) -> bool {
        let is_own = path.file_name() == Some(OsStr::new(".git"));
        let in_own = || path.components().any(|part| part.as_os_str() == ".git");
        if is_own || self.is_git && in_own() {
            return name == "modules" || name == "worktrees";
        }
        true
    }
}
