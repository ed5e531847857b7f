//! What other programs can see of an open session: a small record, locked while its process lives.
//! A killed process leaves its record unlocked, so others recognize it as stale. Contains no
//! messages.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::folder::make_private;
use crate::event::{Phase, RunState, now_ms};

/// The folder of the records, in the root of all sessions.
const FOLDER: &str = ".live";

/// How often, and after which pause, to retry a lock that a reader holds briefly.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(2);

/// The state of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionState {
    /// Open, waiting for a prompt.
    Idle,
    /// The agent is working.
    Processing,
    /// A run waits for the user's answer.
    AwaitingInput,
    /// No process has it open.
    Closed,
}

impl From<&RunState> for SessionState {
    fn from(state: &RunState) -> Self {
        match state {
            RunState::Running {
                phase: Phase::Asking,
            } => Self::AwaitingInput,
            RunState::Running { .. } => Self::Processing,
            RunState::Idle | RunState::Stopping { .. } => Self::Idle,
        }
    }
}

impl SessionState {
    /// Its name for other programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Processing => "processing",
            Self::AwaitingInput => "awaiting_input",
            Self::Closed => "closed",
        }
    }
}

/// One open session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PresenceRecord {
    /// The session's id.
    pub id: String,
    /// Its state.
    pub state: SessionState,
    /// Start of this state, as Unix time in milliseconds.
    pub since: i64,
    /// The process that has it open.
    pub pid: u32,
    /// Its folder.
    pub cwd: String,
    /// `provider/id` of the model for the next call.
    pub model: String,
    /// The session file, which appears with the first message.
    pub path: PathBuf,
    /// The socket for messages, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket: Option<PathBuf>,
}

/// The record of a session open in this process. Dropping it removes it.
#[derive(Debug)]
pub struct Presence {
    file: File,
    place: PathBuf,
    record: PresenceRecord,
}

/// Why the record couldn't be created.
#[derive(Debug, thiserror::Error)]
pub enum PresenceError {
    /// Another process has the session open.
    #[error("the session is open in another process")]
    Taken,
    /// An IO error.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Presence {
    /// Publishes `record` in `root`, the root of all sessions, and removes stale records.
    pub fn open(root: &Path, record: PresenceRecord) -> Result<Self, PresenceError> {
        let folder = root.join(FOLDER);
        make_private(&folder)?;
        sweep(&folder);
        let place = place(root, &record.id);
        let file = locked(&place)?;
        let live = Self {
            file,
            place,
            record,
        };
        live.write()?;
        Ok(live)
    }

    /// Publishes the session's state.
    pub fn set_state(&mut self, state: SessionState) {
        self.change(|record| {
            if record.state != state {
                (record.state, record.since) = (state, now_ms());
            }
        });
    }

    /// Publishes the model for the next call.
    pub fn set_model(&mut self, model: String) {
        self.change(|record| record.model = model);
    }

    /// Publishes the socket for messages.
    pub fn set_socket(&mut self, socket: Option<PathBuf>) {
        self.change(|record| record.socket = socket);
    }

    fn change(&mut self, change: impl FnOnce(&mut PresenceRecord)) {
        let before = self.record.clone();
        change(&mut self.record);
        if self.record != before
            && let Err(error) = self.write()
        {
            tracing::warn!("other programs see an old state of this session: {error}");
        }
    }

    /// Overwrites the record with one write. A reader sees the old one, the new one, or invalid
    /// JSON, which it reads again.
    fn write(&self) -> io::Result<()> {
        // A record has string keys only, so serializing can't fail.
        let mut text = serde_json::to_vec(&self.record).unwrap_or_default();
        let length = self.file.metadata()?.len() as usize;
        text.resize(text.len().max(length), b' ');
        self.file.write_all_at(&text, 0)
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        // Another process may have replaced the record.
        if is_at(&self.file, &self.place) {
            let _ = fs::remove_file(&self.place);
        }
    }
}

/// All open sessions in `root`, latest change first.
pub fn live_sessions(root: &Path) -> Vec<PresenceRecord> {
    let Ok(entries) = fs::read_dir(root.join(FOLDER)) else {
        return Vec::new();
    };
    let mut records: Vec<PresenceRecord> = entries
        .flatten()
        .filter_map(|entry| read(&entry.path()))
        .collect();
    records.sort_by_key(|record| std::cmp::Reverse(record.since));
    records
}

fn place(root: &Path, id: &str) -> PathBuf {
    // Other programs' ids may contain anything.
    let name: String = id
        .chars()
        .map(|c| if c == '/' || c == '\0' { '_' } else { c })
        .collect();
    root.join(FOLDER).join(format!("{name}.json"))
}

/// The record file at `place`, locked by us.
fn locked(place: &Path) -> Result<File, PresenceError> {
    for _ in 0..TRIES {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(place)?;
        match file.try_lock() {
            // Another process may have removed it between the two calls.
            Ok(()) if is_at(&file, place) => return Ok(file),
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
    }
    Err(PresenceError::Taken)
}

/// True if `file` is the one at `place`.
pub(super) fn is_at(file: &File, place: &Path) -> bool {
    match (file.metadata(), fs::metadata(place)) {
        (Ok(ours), Ok(there)) => ours.ino() == there.ino() && ours.dev() == there.dev(),
        _ => false,
    }
}

/// The record at `path`, if its process lives.
fn read(path: &Path) -> Option<PresenceRecord> {
    let mut text = String::new();
    for _ in 0..TRIES {
        let mut file = File::open(path).ok()?;
        if !is_kept(&file) {
            return None;
        }
        text.clear();
        file.read_to_string(&mut text).ok()?;
        if let Ok(record) = serde_json::from_str(&text) {
            return Some(record);
        }
        thread::sleep(PAUSE);
    }
    None
}

/// True if a process holds the record. Readers briefly take a shared lock, so that they don't
/// mistake each other for the owner.
fn is_kept(file: &File) -> bool {
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(file) = File::open(&path) else {
            continue;
        };
        // Holds the lock until the record is gone, so that no process takes it over in between.
        if file.try_lock().is_ok() && is_at(&file, &path) {
            let _ = fs::remove_file(&path);
        }
    }
}
