//! What other programs can see of a session while it is open: one small record, locked as long as
//! the process that keeps it lives. A process that is killed leaves its record behind without the
//! lock, so nobody takes it for alive. Knows nothing of what was said.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::folder::make_private;
use crate::agent::event::{Phase, RunState, now_ms};

/// The folder of the records, below the root of all sessions.
const FOLDER: &str = ".live";

/// How often a lock is tried for that a reader holds for a moment, and how long between.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(2);

/// What a session is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionState {
    /// Open, waiting for a prompt.
    Idle,
    /// A run is under way.
    Processing,
    /// A run stands still until the user answers.
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
    /// What it is doing.
    pub state: SessionState,
    /// Since when, as Unix time in milliseconds.
    pub since: i64,
    /// The process that has it open.
    pub pid: u32,
    /// The folder it works in.
    pub cwd: String,
    /// `provider/id` of the model for the next call.
    pub model: String,
    /// The session file; it appears with the first message.
    pub path: PathBuf,
    /// The socket that takes messages for it; none when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket: Option<PathBuf>,
}

/// The record of a session that this process has open. Dropping it takes it away.
#[derive(Debug)]
pub struct Presence {
    file: File,
    place: PathBuf,
    record: PresenceRecord,
}

/// Why no record could be opened.
#[derive(Debug, thiserror::Error)]
pub enum PresenceError {
    /// Another process has the session open.
    #[error("the session is open in another process")]
    Taken,
    /// The disk refuses.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Presence {
    /// Shows `record` below `root`, the root of all sessions. Records that nobody keeps any more
    /// are removed on the way.
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

    /// Shows what the session is doing.
    pub fn set_state(&mut self, state: SessionState) {
        self.change(|record| {
            if record.state != state {
                (record.state, record.since) = (state, now_ms());
            }
        });
    }

    /// Shows the model of the next call.
    pub fn set_model(&mut self, model: String) {
        self.change(|record| record.model = model);
    }

    /// Shows where other programs can speak to the session.
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

    /// One write over the whole of it: a reader sees the old record, the new one, or something
    /// that does not parse and is read again.
    fn write(&self) -> io::Result<()> {
        // A record has string keys only and cannot fail to serialise.
        let mut text = serde_json::to_vec(&self.record).unwrap_or_default();
        let length = self.file.metadata()?.len() as usize;
        text.resize(text.len().max(length), b' ');
        self.file.write_all_at(&text, 0)
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        // Somebody may have taken the record away and put another one there.
        if is_at(&self.file, &self.place) {
            let _ = fs::remove_file(&self.place);
        }
    }
}

/// All sessions below `root` that some process has open, the latest change first.
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
    // Ids of other programs may hold anything.
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
            // Somebody may have removed it between the two calls.
            Ok(()) if is_at(&file, place) => return Ok(file),
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
    }
    Err(PresenceError::Taken)
}

/// Whether `file` is the one at `place`.
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

/// Whether some process holds the record. Looking takes a shared lock for a moment, so that those
/// who look do not mistake each other for its keeper.
fn is_kept(file: &File) -> bool {
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(file) = File::open(&path) else {
            continue;
        };
        // The lock is held until the record is gone, so that nobody takes it over in between.
        if file.try_lock().is_ok() && is_at(&file, &path) {
            let _ = fs::remove_file(&path);
        }
    }
}
