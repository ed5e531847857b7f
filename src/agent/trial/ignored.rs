//! Files that git ignores. A trial begins without them. Those that it makes are copied when it is kept,
//! except what programs can make again.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::copy::{Found, Looker, copy_file, link};
use super::error::{Obstacle, TrialError};
use super::record::Trial;
use crate::git::{Git, can_be_made_again, is_cache};

/// Lists what git ignores, with whole folders as one entry, which ends in a slash.
const LIST: [&str; 6] = [
    "ls-files",
    "-z",
    "--others",
    "--ignored",
    "--exclude-standard",
    "--directory",
];

/// What has become of the files that a trial made and git ignores. Paths are below the repository's root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CopiedIgnored {
    /// Copied to the user's folder.
    pub copied: Vec<PathBuf>,
    /// Only in the trial, with the reason.
    pub left: Vec<Obstacle>,
}

/// Returns the ignored files in the copy that weren't there when the trial began.
pub(super) fn new(trial: &Trial) -> Result<Vec<PathBuf>, TrialError> {
    let begun = trial.begun()?;
    let own = (PathBuf::new(), trial.git_dir.clone());
    let modules = trial.modules.iter();
    let modules = modules.filter_map(|(below, git_dir)| Some((below.clone(), git_dir.clone()?)));
    let mut files = Vec::new();
    for (below, git_dir) in [own].into_iter().chain(modules) {
        let folder = trial.tree.join(&below);
        if !folder.is_dir() {
            continue;
        }
        let git = Git::within(&folder)
            .with("GIT_DIR", git_dir)
            .with("GIT_WORK_TREE", &folder);
        for path in list(&git, &folder)? {
            add_files(&trial.tree, below.join(path), &mut files);
        }
    }
    files.retain(|path| begun.get(path).is_none());
    files.sort_unstable();
    files.dedup();
    Ok(files)
}

/// Returns a file or folder of the user that git ignores and that no program makes again, if there is one.
/// The trial lacks it.
#[must_use]
pub fn not_copied(trial: &Trial) -> Option<PathBuf> {
    let mut paths = list(&Git::within(&trial.root), &trial.root).ok()?;
    paths.sort_unstable();
    // Folders are more important than files such as logs.
    let is_file = |path: &PathBuf| !trial.root.join(path).is_dir();
    paths.sort_by_key(is_file);
    let mut paths = paths.into_iter();
    paths.find(|path| holds_files(&trial.root.join(path)))
}

/// Returns `true` for a file, and for a folder with a file outside of caches.
fn holds_files(path: &Path) -> bool {
    if !fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir()) {
        return true;
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    !is_cache(path) && entries.map(|entry| entry.path()).any(|it| holds_files(&it))
}

/// The ignored files and folders below `folder`, without folders that can be made again.
fn list(git: &Git, folder: &Path) -> Result<Vec<PathBuf>, TrialError> {
    let listed = git.run(&LIST)?;
    let names = listed.split(|byte| *byte == 0).filter(|it| !it.is_empty());
    let paths = names.map(|name| {
        let name = name.strip_suffix(b"/").unwrap_or(name);
        PathBuf::from(OsStr::from_bytes(name))
    });
    let made_again = |path: &PathBuf| {
        let whole = folder.join(path);
        let above = path
            .ancestors()
            .skip(1)
            .filter(|it| !it.as_os_str().is_empty());
        (whole.is_dir() && can_be_made_again(&whole))
            || above.map(|it| folder.join(it)).any(|it| is_cache(&it))
    };
    Ok(paths.filter(|path| !made_again(path)).collect())
}

/// Adds the file `path`, or all files in that folder. Adds a folder that it can't read itself.
fn add_files(root: &Path, path: PathBuf, files: &mut Vec<PathBuf>) {
    let mut open = vec![path];
    while let Some(path) = open.pop() {
        let whole = root.join(&path);
        if !fs::symlink_metadata(&whole).is_ok_and(|meta| meta.is_dir()) {
            files.push(path);
        } else if !is_cache(&whole) {
            match fs::read_dir(&whole) {
                Ok(entries) => {
                    let names = entries.flatten().map(|entry| entry.file_name());
                    open.extend(names.map(|name| path.join(name)));
                }
                Err(_) => files.push(path),
            }
        }
    }
}

impl CopiedIgnored {
    /// Copies `files` from the trial to where the user has nothing.
    pub(super) fn copy(trial: &Trial, files: Vec<PathBuf>) -> Self {
        let mut done = Self::default();
        for path in files {
            match copy(trial, &path) {
                Ok(true) => done.copied.push(path),
                Ok(false) => {}
                Err(why) => done.left.push(Obstacle { path, why }),
            }
        }
        done
    }
}

/// Copies one file. Returns `false` if the user has the same, and the reason if it can't be copied.
fn copy(trial: &Trial, path: &Path) -> Result<bool, &'static str> {
    let unreadable = |_| "can't be read";
    let (from, to) = (trial.tree.join(path), trial.root.join(path));
    let theirs = Looker::new(&trial.tree).look(path).map_err(unreadable)?;
    let own = Looker::new(&trial.root).look(path).map_err(unreadable)?;
    let made = match (theirs, own) {
        (Found::Nothing, _) => return Ok(false),
        (Found::Folder, _) => return Err("can't be read"),
        (Found::Special, _) => return Err("is neither a file nor a folder"),
        (Found::Link(theirs), Found::Link(own)) if theirs == own => return Ok(false),
        (Found::File(theirs), Found::File(own))
            if theirs.len() == own.len() && is_same(&from, &to).map_err(unreadable)? =>
        {
            return Ok(false);
        }
        (Found::Link(target), Found::Nothing) => {
            make_folders(trial, path).and_then(|()| link(&target, &to))
        }
        (Found::File(_), Found::Nothing) => {
            make_folders(trial, path).and_then(|()| copy_new(&from, &to))
        }
        _ => return Err("exists here with other content"),
    };
    made.map(|()| true).map_err(|error| match error.kind() {
        io::ErrorKind::NotADirectory => "is in a folder that is a file or a link here",
        io::ErrorKind::StorageFull => "doesn't fit on the disk",
        _ => "can't be written here",
    })
}

/// Makes the folders above `path` in the user's working tree, and never follows a link there.
fn make_folders(trial: &Trial, path: &Path) -> io::Result<()> {
    let above: Vec<&Path> = path.ancestors().skip(1).collect();
    for folder in above.into_iter().rev() {
        let folder = trial.root.join(folder);
        match fs::symlink_metadata(&folder) {
            Ok(meta) if meta.is_dir() => {}
            Ok(_) => return Err(io::ErrorKind::NotADirectory.into()),
            Err(_) => fs::create_dir(&folder)?,
        }
    }
    Ok(())
}

/// Leaves no part of a file behind if it fails.
fn copy_new(from: &Path, to: &Path) -> io::Result<()> {
    copy_file(from, to).inspect_err(|error| {
        if error.kind() != io::ErrorKind::AlreadyExists {
            let _ = fs::remove_file(to);
        }
    })
}

/// Compares two files piece by piece, because data can be large.
fn is_same(one: &Path, other: &Path) -> io::Result<bool> {
    let (mut one, mut other) = (
        BufReader::new(File::open(one)?),
        BufReader::new(File::open(other)?),
    );
    loop {
        let (a, b) = (one.fill_buf()?, other.fill_buf()?);
        let shared = a.len().min(b.len());
        if shared == 0 || a[..shared] != b[..shared] {
            return Ok(a.is_empty() && b.is_empty());
        }
        one.consume(shared);
        other.consume(shared);
    }
}
