//! Changes paths from one state to another. Removes what must go, deepest first, then creates
//! folders from the top, then files and links, each completely or not at all. A path in an
//! unexpected state stays unchanged and is reported. Never writes through a link.

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::error::UndoError;
use super::git_contents::{GitContents, TOGETHER};
use super::look::look;
use super::state::{Content, State};
use super::store::{Store, share_blocks};
use crate::new_file::{self, NewFile};
use crate::stamp::Stamp;
use crate::trial::is_gone;
use crate::workspace::Place;

/// Why what others have changed stays.
const OTHERS: &str = "changed since by someone else";
/// Files to write before waiting for the disk. Waiting for each of thousands takes minutes. Modern
/// file systems write a file before the name that it takes over.
const SYNCED: usize = 64;

/// A path to change from one state to another.
#[derive(Clone, Debug)]
pub(super) struct Step<'a> {
    pub path: &'a Path,
    pub from: &'a State,
    pub to: &'a State,
    /// When the path was last touched, as of planning; `None` if it isn't a file.
    stamp: Option<Stamp>,
}

impl<'a> Step<'a> {
    pub fn new(path: &'a Path, from: &'a State, to: &'a State) -> Self {
        Self {
            path,
            from,
            to,
            stamp: None,
        }
    }

    /// True if the path was touched since planning. It checks only stamps, because reading
    /// everything again would double the time.
    fn is_touched(&self) -> bool {
        match self.from {
            State::File { .. } => stamp(self.path) != self.stamp,
            State::Link(target) => fs::read_link(self.path).ok().as_ref() != Some(target),
            State::Nothing => fs::symlink_metadata(self.path).is_ok(),
            State::Folder(_) | State::Special => false,
        }
    }
}

/// The stamp without what changes when another name of the file goes.
fn stamp(path: &Path) -> Option<Stamp> {
    let meta = fs::symlink_metadata(path).ok()?;
    let stamp = Stamp::of(&meta);
    meta.is_file().then_some(Stamp {
        changed: stamp.modified,
        ..stamp
    })
}

/// A path that stays unchanged, and why.
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

/// The result of undoing or redoing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The changed paths.
    pub changed: BTreeSet<PathBuf>,
    /// Paths that stay, because the turn's change has been replaced or its bytes are lost.
    pub kept: Vec<Kept>,
    /// Paths that failed. The turn stays open until they succeed, so you can retry.
    pub failed: Vec<Kept>,
}

/// Splits `steps` into those possible now and those that stay; drops those done. After an
/// interruption (`is_resumed`), a file being overwritten is treated as untouched.
pub(super) fn plan<'a>(
    steps: Vec<Step<'a>>,
    is_resumed: bool,
    store: &Store,
) -> (Vec<Step<'a>>, Vec<Kept>) {
    let (mut todo, mut kept) = (Vec::new(), Vec::new());
    for mut step in steps {
        step.stamp = stamp(step.path);
        let mut here = look(step.path);
        if is_resumed && is_cut_off(&step, &here, store) {
            here = step.from.clone();
        }
        match obstacle(&step, &here, store) {
            Some(why) => kept.push(Kept::new(step.path, why)),
            None if here == *step.to => {}
            None => todo.push(step),
        }
    }
    (todo, kept)
}

/// True if the file may be the rest of an interrupted in-place overwrite: it has several names, or
/// attributes that can't be copied.
pub(super) fn is_cut_off(step: &Step<'_>, here: &State, store: &Store) -> bool {
    let (State::File { content: from, .. }, State::File { content: to, .. }) = (step.from, step.to)
    else {
        return false;
    };
    let is_other = here != step.from && here != step.to;
    let is_left = |meta: fs::Metadata| {
        meta.ino() == from.inode && meta.is_file() && meta.len() <= from.size.max(to.size)
    };
    if !is_other || !fs::symlink_metadata(step.path).is_ok_and(is_left) {
        return false;
    }
    let contents = GitContents::read([from, to].into_iter(), store);
    let (Some(from), Some(to)) = (contents.get(from), contents.get(to)) else {
        return false;
    };
    fs::read(step.path).is_ok_and(|now| {
        new_file::is_cut_off(&now, &from, &to) || new_file::is_cut_off(&now, &to, &from)
    })
}

/// Why a step is impossible with `here` at its path.
pub(super) fn obstacle(step: &Step<'_>, here: &State, store: &Store) -> Option<&'static str> {
    match step.to {
        to if here == to => None,
        State::Special => Some("was neither a file nor a folder"),
        _ if here != step.from
            && !matches!((here, step.from), (State::Folder(_), State::Folder(_))) =>
        {
            Some(OTHERS)
        }
        State::File { content, .. } => is_missing(content, store),
        _ => None,
    }
}

/// Why the bytes are unavailable.
fn is_missing(content: &Content, store: &Store) -> Option<&'static str> {
    if store.has(&content.hash, content.size) {
        return None;
    }
    match (&content.blob, content.lost) {
        (Some(_), _) => None,
        (None, Some(lost)) => Some(lost.why()),
        (None, None) => Some("its copy is gone or damaged"),
    }
}

/// Saves the bytes of all files that `steps` remove or overwrite.
pub(super) fn keep_present(
    steps: &[Step<'_>],
    store: &Store,
    largest: u64,
) -> Result<(), UndoError> {
    for step in steps {
        if let State::File { content, .. } = step.from
            && content.size <= largest
            && !store.has(&content.hash, content.size)
        {
            // A file that changes right now is detected before it is replaced.
            let _ = store.keep_file(step.path)?;
        }
    }
    Ok(())
}

/// Runs all `steps` and returns those that failed.
pub(super) fn apply(steps: &[Step<'_>], store: &Store) -> Vec<Kept> {
    let mut failed = Vec::new();
    let mut note = |step: &Step<'_>, done: io::Result<()>| {
        if let Err(error) = &done {
            failed.push(Kept::new(step.path, &error.to_string()));
        }
        done.is_ok()
    };
    let mut ordered: Vec<&Step<'_>> = steps.iter().collect();
    ordered.sort_by_key(|step| step.path);
    let mut left: HashSet<&Path> = HashSet::new();
    for step in ordered.iter().rev() {
        if !stays(step.from, step.to) && !note(step, untouched(step).and_then(|()| take_away(step)))
        {
            left.insert(step.path);
        }
    }
    ordered.retain(|step| !left.contains(step.path));
    for step in &ordered {
        if let State::Folder(_) = step.to {
            let made = Place::open(step.path).and_then(|place| place.make_folder());
            note(step, made);
        }
    }
    let is_synced = ordered.len() <= SYNCED;
    let mut written: HashSet<(u64, u64)> = HashSet::new();
    for steps in ordered.chunks(TOGETHER) {
        let wanted = steps.iter().filter_map(|step| match step.to {
            State::File { content, .. } => Some(content),
            _ => None,
        });
        let contents = GitContents::read(wanted, store);
        for step in steps {
            let shared = shared_file(step);
            // This undo has just written it under another name.
            let is_own = || {
                let here = fs::symlink_metadata(step.path);
                here.is_ok_and(|it| written.contains(&(it.dev(), it.ino())))
            };
            let done = match step.to {
                // It came with another name of the same file.
                _ if shared.is_some_and(|file| written.contains(&file)) => Ok(()),
                _ if stays(step.from, step.to) && step.is_touched() && !is_own() => untouched(step),
                State::File { mode, content } => {
                    let new = New {
                        mode: *mode,
                        content,
                        in_place: shared.is_some(),
                        is_synced,
                    };
                    let done = put(step.path, &new, store, &contents);
                    written.extend(shared.filter(|_| done.is_ok()));
                    done
                }
                State::Link(target) => {
                    Place::open(step.path).and_then(|place| new_file::put_link(&place, target))
                }
                _ => Ok(()),
            };
            note(step, done);
        }
    }
    // Permissions come last, because a folder may become unwritable.
    for step in ordered.iter().rev() {
        if let State::Folder(mode) = step.to {
            let set = Place::open(step.path).and_then(|place| place.set_folder_mode(*mode));
            note(step, set);
        }
    }
    failed
}

/// Fails if the path was touched since planning.
fn untouched(step: &Step<'_>) -> io::Result<()> {
    if step.is_touched() {
        return Err(io::Error::other(OTHERS));
    }
    Ok(())
}

/// True if the old content can stay until something replaces it.
fn stays(from: &State, to: &State) -> bool {
    match (from, to) {
        (_, State::Nothing) => false,
        (State::Folder(_), to) => matches!(to, State::Folder(_)),
        (_, State::Folder(_)) => false,
        _ => true,
    }
}

fn take_away(step: &Step<'_>) -> io::Result<()> {
    let is_folder = matches!(step.from, State::Folder(_));
    let removed = Place::open(step.path).and_then(|place| match step.from {
        State::Nothing => Ok(()),
        State::Folder(_) => place.remove_folder(),
        _ => place.remove(),
    });
    match removed {
        Err(error) if is_gone(&error) => Ok(()),
        // Others have put files into the folder, so it stays.
        Err(error) if is_folder && error.kind() == io::ErrorKind::DirectoryNotEmpty => {
            match step.to {
                State::Nothing => Ok(()),
                _ => Err(error),
            }
        }
        removed => removed,
    }
}

/// The file of `step`, if its other names also had the former content. It is then overwritten in
/// place, which changes all names. Any other file is replaced, because its other names may belong
/// to anyone.
fn shared_file(step: &Step<'_>) -> Option<(u64, u64)> {
    let State::File { content, .. } = step.to else {
        return None;
    };
    let meta = fs::symlink_metadata(step.path).ok()?;
    let is_shared = meta.is_file() && meta.nlink() > 1 && meta.ino() == content.inode;
    is_shared.then(|| (meta.dev(), meta.ino()))
}

/// The new state of a file.
struct New<'a> {
    mode: u32,
    content: &'a Content,
    /// Whether to write it in place, to keep its other names.
    in_place: bool,
    is_synced: bool,
}

/// Replaces the file at `path` with these bytes, or writes them into it.
fn put(path: &Path, new: &New<'_>, store: &Store, contents: &GitContents<'_>) -> io::Result<()> {
    let place = Place::open(path)?;
    let there = fs::symlink_metadata(path)
        .ok()
        .filter(fs::Metadata::is_file);
    if new.in_place && there.is_some() {
        return overwrite(&place, new, contents);
    }
    let mut file = NewFile::beside(&place, 0o600)?;
    if let Some(there) = there {
        let old = place.open_file(OFlags::RDONLY);
        match old.and_then(|old| file.copy_attributes(&old)) {
            Err(_) if there.nlink() == 1 => return overwrite(&place, new, contents),
            copied => copied?,
        }
    }
    fill(file.file(), new.content, store, contents)?;
    (file.file()).set_permissions(Permissions::from_mode(new.mode))?;
    if new.is_synced {
        file.file().sync_data()?;
    }
    file.replace(&place)
}

fn overwrite(place: &Place, new: &New<'_>, contents: &GitContents<'_>) -> io::Result<()> {
    let bytes = contents.get(new.content).ok_or_else(gone_from_git)?;
    let mut file = place.open_file(OFlags::RDWR)?;
    new_file::overwrite(&mut file, &bytes)?;
    file.set_permissions(Permissions::from_mode(new.mode))
}

fn fill(
    file: &mut File,
    content: &Content,
    store: &Store,
    contents: &GitContents<'_>,
) -> io::Result<()> {
    if store.has(&content.hash, content.size) {
        let mut kept = File::open(store.path_of(&content.hash))?;
        if !share_blocks(&kept, file) {
            io::copy(&mut kept, file)?;
        }
        return Ok(());
    }
    file.write_all(&contents.get(content).ok_or_else(gone_from_git)?)
}

fn gone_from_git() -> io::Error {
    io::Error::other("git no longer has the old content")
}

#[cfg(test)]
mod tests {
    use super::*;

    // Another program may put it there between the plan and the step.
    #[test]
    fn nothing_is_made_removed_or_changed_behind_a_link() {
        let root = tempfile::tempdir().unwrap();
        let other = root.path().join("other");
        fs::create_dir_all(other.join("folder")).unwrap();
        fs::write(other.join("file"), "theirs").unwrap();
        std::os::unix::fs::symlink(&other, root.path().join("link")).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let before = (mode(&other), mode(&other.join("folder")));
        let store = Store::open(&root.path().join("store")).unwrap();
        let (nothing, folder) = (State::Nothing, State::Folder(0o700));
        let link = State::Link(PathBuf::from("x"));
        for (path, from, to) in [
            ("link/file", &link, &nothing),
            ("link/folder", &folder, &nothing),
            ("link/new", &nothing, &folder),
            ("link/folder", &folder, &folder),
            ("link", &folder, &folder),
        ] {
            let path = root.path().join(path);
            let step = Step::new(&path, from, to);
            if matches!(to, State::Nothing) {
                assert!(take_away(&step).is_err(), "{}", path.display());
            } else {
                assert!(!apply(&[step], &store).is_empty(), "{}", path.display());
            }
        }
        assert_eq!(fs::read_to_string(other.join("file")).unwrap(), "theirs");
        assert_eq!((mode(&other), mode(&other.join("folder"))), before);
        assert!(!other.join("new").exists());
    }
}
