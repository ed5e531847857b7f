//! The file that keeps unsent text when the program dies. Sessions keep their queued messages; this
//! file has them only for unstored sessions, or if an older version wrote it.
//!
//! Each working folder has a folder of drafts, with at most one file per session. A program locks
//! the file while it has the session open. So the next program takes only what a dead one left, and
//! continues with the same file: it's never deleted before its text is sent. A draft comes back
//! with its session, or with any session if its own was never stored. Every call blocks, so only
//! effects make them, never the event loop.

use std::fs::{self, DirEntry, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::history_file::open_regular;
use crate::agent::session::folder::make_private;

const PREFIX: &str = ".draft-";
/// An older temporary file was left by a program killed while writing.
const LEFT_BEHIND: Duration = Duration::from_mins(1);

/// Unsent text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedDraft {
    /// Queued messages, in sending order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queue: Vec<String>,
    /// The editor's text.
    pub text: String,
    /// Whether the text is always a message, because it came back from the queue.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_message: bool,
    /// Output of the user's commands, for the next message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<String>,
    /// What to tell the user when the draft comes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// Ids of the messages that came back into the text: their session can drop them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub returned: Vec<u64>,
    /// How many earlier drafts the editor had restored by then.
    #[serde(skip)]
    pub taken: usize,
    /// The session file it was typed in; filled in when it is stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<PathBuf>,
}

impl SavedDraft {
    pub(crate) fn is_empty(&self) -> bool {
        let is_empty = self.queue.is_empty() && self.text.is_empty() && self.told.is_empty();
        is_empty && self.notice.is_none()
    }

    /// Puts `before`, which never reached the editor, before this draft.
    pub(crate) fn come_after(&mut self, before: &Self) {
        self.told = [&*before.told, &self.told].concat();
        self.returned = [&*before.returned, &self.returned].concat();
        self.queue = [&*before.queue, &self.queue].concat();
        if self.text.is_empty() {
            self.text.clone_from(&before.text);
            self.is_message = before.is_message;
        } else if !before.text.is_empty() {
            self.queue.push(before.text.clone());
        }
    }

    /// The whole draft as one text for the editor, separated by blank lines.
    pub(crate) fn joined(&self) -> String {
        let text = Some(&self.text).filter(|text| !text.is_empty());
        let texts: Vec<&str> = self.queue.iter().chain(text).map(String::as_str).collect();
        texts.join("\n\n")
    }
}

#[derive(Debug)]
pub(crate) struct DraftFile {
    folder: PathBuf,
    session: Option<PathBuf>,
    /// Our file, locked.
    held: Option<(PathBuf, File)>,
}

/// Drafts that dead programs left in a folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct LeftBehind {
    pub draft: Option<SavedDraft>,
    /// The newest session file with a draft of another session.
    pub elsewhere: Option<PathBuf>,
}

impl DraftFile {
    /// A draft in `folder`; nothing is read or created yet.
    pub(crate) fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            session: None,
            held: None,
        }
    }

    /// Saves the draft for `session` from now on, and moves the saved text along.
    pub(crate) fn come_along(&mut self, session: PathBuf) {
        self.session = Some(session);
    }

    /// Switches to the draft of `session` and returns it. The old draft stays with its session.
    pub(crate) fn change_to(&mut self, session: PathBuf) -> io::Result<Option<SavedDraft>> {
        self.held = None;
        self.session = Some(session);
        Ok(self.load(|_| false)?.draft)
    }

    /// Takes over a dead program's draft for `session`, or for a session that was never stored.
    pub(crate) fn open(&mut self, session: PathBuf) -> io::Result<LeftBehind> {
        self.session = Some(session);
        self.load(|session| session.is_none_or(|session| !session.exists()))
    }

    /// Takes over the newest draft of our session, or else one that `also` accepts.
    fn load(&mut self, also: impl Fn(Option<&Path>) -> bool) -> io::Result<LeftBehind> {
        let mut left = LeftBehind::default();
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(left),
            entries => entries?,
        };
        let entries: Vec<DirEntry> = entries.flatten().collect();
        entries.iter().for_each(remove_if_left_behind);
        let mut files: Vec<(SystemTime, PathBuf)> = entries
            .iter()
            .filter(|entry| entry.path().extension().is_some_and(|end| end == "json"))
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        files.sort();
        let (mut own, mut free) = (Vec::new(), Vec::new());
        for (_, path) in files.into_iter().rev() {
            // Don't lock before we know whose draft it is.
            let Ok(draft) = read(&path) else { continue };
            let session = draft.session;
            if session.is_some() && session == self.session {
                own.push(path);
            } else if also(session.as_deref()) {
                free.push(path);
            } else if left.elsewhere.is_none() && lock_and_read(&path).is_ok() {
                left.elsewhere = session;
            }
        }
        for path in own.into_iter().chain(free) {
            if let Ok((file, draft)) = lock_and_read(&path) {
                self.held = Some((path, file));
                left.draft = Some(draft);
                break;
            }
        }
        Ok(left)
    }

    /// Saves this draft in place of the earlier one; an empty draft saves nothing.
    pub(crate) fn save(&mut self, draft: &SavedDraft) -> io::Result<()> {
        if draft.is_empty() {
            return match self.held.take() {
                Some((path, _)) => fs::remove_file(path),
                None => Ok(()),
            };
        }
        make_private(&self.folder)?;
        // Written to a temporary file and renamed, so the old draft stays whole until then.
        let mut file = tempfile::Builder::new()
            .prefix(PREFIX)
            .tempfile_in(&self.folder)?;
        // Without file locks, another program in this folder may show the draft too.
        let _ = file.as_file().try_lock();
        let draft = SavedDraft {
            session: self.session.clone(),
            ..draft.clone()
        };
        file.write_all(&serde_json::to_vec(&draft)?)?;
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

/// Removes a temporary file left by a program that was killed while writing.
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

fn read(path: &Path) -> io::Result<SavedDraft> {
    let mut bytes = Vec::new();
    open_regular(OpenOptions::new().read(true), path)?.read_to_end(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes)?)
}

/// Locks and reads a draft whose program is dead.
fn lock_and_read(path: &Path) -> io::Result<(File, SavedDraft)> {
    let mut file = open_regular(OpenOptions::new().read(true), path)?;
    file.try_lock()?;
    // A running program may just have replaced it by a newer file.
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
            ..SavedDraft::default()
        }
    }

    /// The draft that comes back in a new session.
    fn load(file: &mut DraftFile) -> Option<SavedDraft> {
        let new = PathBuf::from("/nowhere/new.jsonl");
        let mut draft = file.open(new).unwrap().draft?;
        draft.session = None;
        Some(draft)
    }

    #[test]
    fn a_draft_survives_its_program_until_it_is_sent() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("drafts/here");
        let mut first = DraftFile::new(&folder);
        assert_eq!(load(&mut first), None);
        first.save(&draft(&[], "typed")).unwrap();
        first
            .save(&draft(&["waits"], &"x".repeat(3_000_000)))
            .unwrap();

        let mut second = DraftFile::new(&folder);
        assert_eq!(load(&mut second), None, "its program lives");
        drop(first);
        let found = load(&mut second).unwrap();
        assert_eq!(found.queue, ["waits"]);
        assert_eq!(found.text.len(), 3_000_000);
        let mut third = DraftFile::new(&folder);
        assert_eq!(load(&mut third), None, "it has been taken over");

        let files = || fs::read_dir(&folder).unwrap().flatten();
        let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(folder.clone()), 0o700);
        assert!(files().all(|file| mode(file.path()) == 0o600));
        let torn = folder.join(".draft-torn");
        let hour_ago = SystemTime::now() - Duration::from_hours(1);
        File::create(&torn).unwrap().set_modified(hour_ago).unwrap();
        fs::write(folder.join(".draft-new"), "").unwrap();
        assert_eq!(load(&mut third), None);
        assert!(!torn.exists() && folder.join(".draft-new").exists());
        fs::remove_file(folder.join(".draft-new")).unwrap();
        second.save(&SavedDraft::default()).unwrap();
        assert_eq!(files().count(), 0);
    }

    /// If the program ends before its editor has the draft, both stay.
    #[test]
    fn a_draft_that_never_reached_the_editor_is_kept() {
        let before = draft(&["waits"], "before");
        for (typed, queue, text) in [
            ("", &["waits"][..], "before"),
            ("typed", &["waits", "before"], "typed"),
        ] {
            let mut kept = draft(&[], typed);
            kept.come_after(&before);
            assert_eq!(kept, draft(queue, text));
        }
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
        assert_eq!(load(&mut first), Some(draft(&[], "new")));
        assert_eq!(load(&mut second), Some(draft(&[], "old")));
        assert_eq!(load(&mut third), None);
    }

    #[test]
    fn a_draft_comes_back_with_its_session() {
        let folder = tempfile::tempdir().unwrap();
        let sessions = folder.path().join("sessions");
        fs::create_dir(&sessions).unwrap();
        let [one, two, never] = ["one", "two", "never"].map(|name| sessions.join(name));
        fs::write(&one, "").unwrap();
        fs::write(&two, "").unwrap();
        let drafts = folder.path().join("drafts");
        let keep = |session: &Path, text: &str| {
            let mut file = DraftFile::new(&drafts);
            file.come_along(session.to_owned());
            file.save(&draft(&["waits"], text)).unwrap();
            file
        };
        let of = |left: LeftBehind| (left.draft.map(|draft| draft.text), left.elsewhere);
        let open = |session: &Path| {
            let mut file = DraftFile::new(&drafts);
            let left = of(file.open(session.to_owned()).unwrap());
            (file, left)
        };
        let living = keep(&one, "of one");
        // Its program is running, so no other one takes it or sees it.
        assert_eq!(open(&two).1, (None, None));
        assert_eq!(open(&one).1, (None, None));
        drop(living);
        assert_eq!(open(&two).1, (None, Some(one.clone())));
        assert_eq!(open(&one).1, (Some("of one".into()), None));
        // The draft of a session without a file goes to any session.
        drop(keep(&never, "of none"));
        let (mut file, left) = open(&two);
        assert_eq!(left, (Some("of none".into()), Some(one.clone())));
        // It stays with its new session when another one opens.
        file.save(&draft(&[], "of two")).unwrap();
        let back = file.change_to(one.clone()).unwrap().unwrap();
        assert_eq!(
            (back.text.as_str(), back.session),
            ("of one", Some(one.clone()))
        );
        assert_eq!(open(&two).1, (Some("of two".into()), None));
        // A draft that moves along leaves no file.
        file.come_along(never.clone());
        file.save(&draft(&[], "with me")).unwrap();
        assert_eq!(open(&one).1, (None, Some(two)));
    }
}
