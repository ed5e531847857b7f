//! The file in which unsent text survives the program: the draft and the messages that wait.
//!
//! Each working folder has a folder of drafts, each running program at most one file in it. The
//! file is locked while its program lives, so the next program takes only what a dead one left
//! behind, and goes on with that very file: it is never deleted before its text is sent. Every call
//! blocks and is made by an effect, never by the loop.

use std::fs::{self, DirEntry, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::history_file::open_regular;
use crate::agent::session::folder::make_private;

/// What the name of a file that is being written begins with.
const PREFIX: &str = ".draft-";
/// A file of that name which is older belongs to a program that was killed while it wrote.
const LEFT_BEHIND: Duration = Duration::from_mins(1);

/// What was typed and not sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedDraft {
    /// Messages that wait, in the order they would go out.
    #[serde(default)]
    pub queue: Vec<String>,
    /// The text of the editor.
    pub text: String,
}

impl SavedDraft {
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.text.is_empty()
    }

    /// All of it as one text for the editor, with blank lines between.
    pub(crate) fn joined(&self) -> String {
        let text = Some(&self.text).filter(|text| !text.is_empty());
        let texts: Vec<&str> = self.queue.iter().chain(text).map(String::as_str).collect();
        texts.join("\n\n")
    }
}

/// The draft of this program in one folder.
#[derive(Debug)]
pub(crate) struct DraftFile {
    folder: PathBuf,
    /// Our file, locked.
    held: Option<(PathBuf, File)>,
}

impl DraftFile {
    /// A draft below `folder`; nothing is read or made yet.
    pub(crate) fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            held: None,
        }
    }

    /// Takes over the newest draft that a dead program left behind.
    pub(crate) fn load(&mut self) -> io::Result<Option<SavedDraft>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            entries => entries?,
        };
        let entries: Vec<DirEntry> = entries.flatten().collect();
        entries.iter().for_each(remove_if_left_behind);
        let mut left: Vec<(SystemTime, PathBuf)> = entries
            .iter()
            .filter(|entry| entry.path().extension().is_some_and(|end| end == "json"))
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        left.sort();
        for (_, path) in left.into_iter().rev() {
            if let Ok((file, draft)) = lock_and_read(&path) {
                self.held = Some((path, file));
                return Ok(Some(draft));
            }
        }
        Ok(None)
    }

    /// Keeps this in place of what was kept before; an empty draft keeps nothing.
    pub(crate) fn save(&mut self, draft: &SavedDraft) -> io::Result<()> {
        if draft.is_empty() {
            return match self.held.take() {
                Some((path, _)) => fs::remove_file(path),
                None => Ok(()),
            };
        }
        make_private(&self.folder)?;
        // Written beside it and moved into place: what was kept before is whole until then.
        let mut file = tempfile::Builder::new()
            .prefix(PREFIX)
            .tempfile_in(&self.folder)?;
        // Where files cannot be locked, another program of this folder may show the draft too.
        let _ = file.as_file().try_lock();
        file.write_all(&serde_json::to_vec(draft)?)?;
        let path = match &self.held {
            Some((path, _)) => path.clone(),
            None => {
                let name = uuid::Uuid::new_v4().simple();
                self.folder.join(format!("{name}.json"))
            }
        };
        let file = file.persist(&path).map_err(|error| error.error)?;
        self.held = Some((path, file));
        Ok(())
    }
}

/// Removes a temporary file that a program which was killed while it wrote left behind.
fn remove_if_left_behind(entry: &DirEntry) {
    let old = || {
        let age = entry.metadata().ok()?.modified().ok()?.elapsed().ok()?;
        Some(age > LEFT_BEHIND)
    };
    let temporary = entry
        .file_name()
        .as_encoded_bytes()
        .starts_with(PREFIX.as_bytes());
    if temporary && old() == Some(true) {
        let _ = fs::remove_file(entry.path());
    }
}

/// Locks and reads a draft whose program is dead.
fn lock_and_read(path: &Path) -> io::Result<(File, SavedDraft)> {
    let mut file = open_regular(OpenOptions::new().read(true), path)?;
    file.try_lock()?;
    // A living program may just have moved a newer file into its place.
    if fs::metadata(path)?.ino() != file.metadata()?.ino() {
        return Err(ErrorKind::NotFound.into());
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let draft = serde_json::from_slice(&bytes)?;
    Ok((file, draft))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn draft(queue: &[&str], text: &str) -> SavedDraft {
        SavedDraft {
            queue: queue.iter().map(|text| (*text).to_owned()).collect(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn a_draft_outlives_its_program_and_goes_when_it_is_sent() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("drafts/here");
        let mut first = DraftFile::new(&folder);
        assert_eq!(first.load().unwrap(), None);
        first.save(&draft(&[], "typed")).unwrap();
        first
            .save(&draft(&["waits"], &"x".repeat(3_000_000)))
            .unwrap();

        let mut second = DraftFile::new(&folder);
        assert_eq!(second.load().unwrap(), None, "its program lives");
        drop(first);
        let found = second.load().unwrap().unwrap();
        assert_eq!(found.queue, ["waits"]);
        assert_eq!(found.text.len(), 3_000_000);
        let mut third = DraftFile::new(&folder);
        assert_eq!(third.load().unwrap(), None, "it has been taken over");

        let files = || fs::read_dir(&folder).unwrap().flatten();
        let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(folder.clone()), 0o700);
        assert!(files().all(|file| mode(file.path()) == 0o600));
        let torn = folder.join(".draft-torn");
        let hour_ago = SystemTime::now() - Duration::from_hours(1);
        File::create(&torn).unwrap().set_modified(hour_ago).unwrap();
        fs::write(folder.join(".draft-new"), "").unwrap();
        assert_eq!(third.load().unwrap(), None);
        assert!(!torn.exists() && folder.join(".draft-new").exists());
        fs::remove_file(folder.join(".draft-new")).unwrap();
        second.save(&SavedDraft::default()).unwrap();
        assert_eq!(files().count(), 0);
    }

    #[test]
    fn each_program_gets_one_draft_the_newest_first() {
        let folder = tempfile::tempdir().unwrap();
        for (name, content, seconds_old) in [
            ("a.json", r#"{"text":"old"}"#, 100),
            ("b.json", r#"{"text":"new"}"#, 0),
            ("c.json", "no json", 0),
        ] {
            let mut file = File::create(folder.path().join(name)).unwrap();
            file.write_all(content.as_bytes()).unwrap();
            let time = SystemTime::now() - Duration::from_secs(seconds_old);
            file.set_modified(time).unwrap();
        }
        let mut first = DraftFile::new(folder.path());
        let mut second = DraftFile::new(folder.path());
        let mut third = DraftFile::new(folder.path());
        assert_eq!(first.load().unwrap(), Some(draft(&[], "new")));
        assert_eq!(second.load().unwrap(), Some(draft(&[], "old")));
        assert_eq!(third.load().unwrap(), None);
    }
}
