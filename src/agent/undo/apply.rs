//! Brings paths from one state into another: what has to go first, the deepest first; then folders
//! from the top; then files and links, each whole or not at all. A path that does not hold what it
//! should is left alone and named. No link is ever written through.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::error::UndoError;
use super::look::{bytes_of_blob, look};
use super::state::{Content, State};
use super::store::Store;
use crate::agent::trial::is_gone;

/// How the names of files begin that wait beside their place, and end.
const PREFIX: &str = ".tiller-";
const SUFFIX: &str = ".tmp";

/// A path that is to be brought from one state into another.
#[derive(Clone, Debug)]
pub(super) struct Step<'a> {
    pub path: &'a Path,
    pub from: &'a State,
    pub to: &'a State,
}

/// A path that stays as it is, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The path.
    pub path: PathBuf,
    /// Why.
    pub why: String,
}

impl Kept {
    pub(super) fn new(path: &Path, why: &str) -> Self {
        Self {
            path: path.to_owned(),
            why: why.to_owned(),
        }
    }
}

/// What can be done of `steps` with the files as they are, and what stays. What has come about already
/// is neither.
pub(super) fn plan<'a>(steps: Vec<Step<'a>>, store: &Store) -> (Vec<Step<'a>>, Vec<Kept>) {
    let (mut todo, mut kept) = (Vec::new(), Vec::new());
    for step in steps {
        let here = look(step.path);
        match obstacle(&step, &here, store) {
            Some(why) => kept.push(Kept::new(step.path, why)),
            None if here == *step.to => {}
            None => todo.push(step),
        }
    }
    (todo, kept)
}

/// Why a step cannot be done where `here` stands at its path.
pub(super) fn obstacle(step: &Step<'_>, here: &State, store: &Store) -> Option<&'static str> {
    match step.to {
        to if here == to => None,
        State::Special => Some("was no file and no folder"),
        _ if here != step.from && !is_same_folder(here, step.from) => {
            Some("was changed since by others")
        }
        State::File { content, .. } => is_missing(content, store),
        _ => None,
    }
}

fn is_same_folder(here: &State, from: &State) -> bool {
    matches!((here, from), (State::Folder(_), State::Folder(_)))
}

/// Why the bytes cannot be had.
fn is_missing(content: &Content, store: &Store) -> Option<&'static str> {
    if store.has(&content.hash) {
        return None;
    }
    match (&content.blob, content.lost) {
        (Some(_), _) => None,
        (None, Some(lost)) => Some(lost.why()),
        (None, None) => Some("its copy is gone: undo.max_bytes was reached"),
    }
}

/// Keeps the bytes of all files that `steps` take away or overwrite, so that they can be brought back.
pub(super) fn keep_present(
    steps: &[Step<'_>],
    store: &Store,
    largest: u64,
) -> Result<(), UndoError> {
    for step in steps {
        if let State::File { content, .. } = step.from
            && content.size <= largest
            && !store.has(&content.hash)
        {
            // One that changes at this very moment is noticed right before it is written.
            let _ = store.keep_file(step.path)?;
        }
    }
    Ok(())
}

/// Does all of `steps`. Gives those that could not be done.
pub(super) fn apply(steps: &[Step<'_>], store: &Store) -> Vec<Kept> {
    let mut failed = Vec::new();
    let mut note = |step: &Step<'_>, done: io::Result<()>| {
        if let Err(error) = done {
            failed.push(Kept {
                path: step.path.to_owned(),
                why: error.to_string(),
            });
        }
    };
    let mut ordered: Vec<&Step<'_>> = steps.iter().collect();
    ordered.sort_by_key(|step| step.path);
    let mut inodes: Vec<_> = ordered.iter().filter_map(|it| inode(it.path)).collect();
    inodes.sort_unstable();
    let twice: HashSet<_> = inodes
        .windows(2)
        .filter(|it| it[0] == it[1])
        .map(|it| it[0])
        .collect();
    for step in ordered.iter().rev() {
        if !stays(step.from, step.to) {
            note(step, take_away(step));
        }
    }
    for step in &ordered {
        if let State::Folder(_) = step.to {
            note(step, make_folder(step.path));
        }
    }
    for step in &ordered {
        match step.to {
            State::File { mode, content } => {
                let shared = inode(step.path).is_some_and(|it| twice.contains(&it));
                note(step, put(step.path, *mode, content, store, shared));
            }
            State::Link(target) => note(step, put_link(step.path, target)),
            _ => {}
        }
    }
    // Last, since one may not be writable then.
    for step in ordered.iter().rev() {
        if let State::Folder(mode) = step.to {
            let set = fs::set_permissions(step.path, Permissions::from_mode(*mode));
            note(step, set);
        }
    }
    failed
}

/// Whether what is there can stay until something takes its place.
fn stays(from: &State, to: &State) -> bool {
    match (from, to) {
        (_, State::Nothing) => false,
        (State::Folder(_), to) => matches!(to, State::Folder(_)),
        (_, State::Folder(_)) => false,
        _ => true,
    }
}

fn take_away(step: &Step<'_>) -> io::Result<()> {
    let removed = match step.from {
        State::Nothing => return Ok(()),
        State::Folder(_) => match fs::remove_dir(step.path) {
            // What others have put into it stays, and with it the folder.
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
                return match step.to {
                    State::Nothing => Ok(()),
                    _ => Err(error),
                };
            }
            removed => removed,
        },
        _ => fs::remove_file(step.path),
    };
    match removed {
        Err(error) if !is_gone(&error) => Err(error),
        _ => Ok(()),
    }
}

fn make_folder(path: &Path) -> io::Result<()> {
    match fs::create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if fs::symlink_metadata(path)?.is_dir() {
                Ok(())
            } else {
                Err(error)
            }
        }
        made => made,
    }
}

/// The file at `path`, if it has other names.
fn inode(path: &Path) -> Option<(u64, u64)> {
    let meta = fs::symlink_metadata(path).ok()?;
    (meta.is_file() && meta.nlink() > 1).then(|| (meta.dev(), meta.ino()))
}

/// Puts the bytes of `content` in the place of what is at `path`: of a file with other names, in
/// the file itself, unless those get content of their own.
fn put(path: &Path, mode: u32, content: &Content, store: &Store, parts: bool) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let permissions = Permissions::from_mode(mode);
    let there = fs::symlink_metadata(path).ok();
    let there = there.filter(fs::Metadata::is_file);
    if !parts && there.as_ref().is_some_and(|meta| meta.nlink() > 1) {
        // Its other names stay names of it.
        let mut options = OpenOptions::new();
        options.write(true).custom_flags(nix::libc::O_NOFOLLOW);
        let mut file = options.truncate(true).open(path)?;
        fill(&mut file, content, store)?;
        return file.set_permissions(permissions);
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    let mut temp = builder.tempfile_in(folder)?;
    fill(temp.as_file_mut(), content, store)?;
    if let Some(meta) = &there {
        copy_owner(meta, temp.as_file());
    }
    temp.as_file().set_permissions(permissions)?;
    temp.as_file().sync_data()?;
    temp.persist(path).map(drop).map_err(|error| error.error)
}

fn fill(file: &mut File, content: &Content, store: &Store) -> io::Result<()> {
    if store.has(&content.hash) {
        let mut kept = File::open(store.path_of(&content.hash))?;
        if rustix::fs::ioctl_ficlone(&*file, &kept).is_err() {
            io::copy(&mut kept, file)?;
        }
        return Ok(());
    }
    let bytes = content
        .blob
        .as_ref()
        .and_then(|blob| bytes_of_blob(blob, content.size));
    match bytes {
        Some(bytes) => file.write_all(&bytes),
        None => Err(io::Error::other("git no longer has its former content")),
    }
}

/// As far as the system lets us.
fn copy_owner(meta: &fs::Metadata, file: &File) {
    let own = file.metadata();
    if own.is_ok_and(|own| own.uid() != meta.uid() || own.gid() != meta.gid()) {
        let _ = std::os::unix::fs::fchown(file, Some(meta.uid()), Some(meta.gid()));
    }
}

fn put_link(path: &Path, target: &Path) -> io::Result<()> {
    let mut name = OsString::from(PREFIX);
    name.push(uuid::Uuid::new_v4().simple().to_string());
    name.push(SUFFIX);
    let temp = path.with_file_name(name);
    symlink(target, &temp)?;
    fs::rename(&temp, path).inspect_err(|_| drop(fs::remove_file(&temp)))
}
