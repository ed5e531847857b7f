//! One session file being written. Each entry is one line and one write, so a crash can tear the
//! last line at most; entries that could not be written wait in memory and go first the next time.
//! Never changes what is written, and reads it only to put a removed file back.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use super::entry::{Body, Entry, Header, timestamp};
use super::folder::{file_name, folder_for, make_private};
use super::sync::Syncer;
use crate::agent::event::NoticeLevel;
use crate::llm::{Message, Model, ThinkingLevel};

/// One open session file. It appears on disk with the first message of the user; what comes
/// before (the model, the thinking level) waits for it.
#[derive(Debug)]
pub struct SessionLog {
    header: Header,
    root: PathBuf,
    path: PathBuf,
    /// The number that is the id of the last entry.
    last_id: u32,
    leaf: Option<String>,
    unwritten: VecDeque<Vec<u8>>,
    begun: bool,
    /// A write stopped in mid-line and the piece could not be taken back.
    torn: bool,
    disk: Option<Disk>,
    /// The model and thinking level in the last entries about them.
    model: Option<(String, String)>,
    thinking: Option<ThinkingLevel>,
    /// The user was told that entries could not be written.
    failing: bool,
}

/// What the user should read about the session file.
pub type SaveNotice = Option<(NoticeLevel, String)>;

#[derive(Debug)]
struct Disk {
    file: Arc<File>,
    syncer: Option<Syncer>,
}

impl SessionLog {
    /// A new session below `root` for the working directory `cwd`. Touches no disk yet.
    pub fn create(root: &Path, cwd: &Path) -> Self {
        let header = Header::new(cwd);
        let path = folder_for(root, cwd).join(file_name(&header.timestamp, &header.id));
        Self {
            root: root.to_owned(),
            path,
            last_id: uuid::Uuid::new_v4().as_fields().0,
            leaf: None,
            unwritten: VecDeque::from([line(&header)]),
            header,
            begun: false,
            torn: false,
            disk: None,
            model: None,
            thinking: None,
            failing: false,
        }
    }

    /// The session's id.
    pub fn id(&self) -> &str {
        &self.header.id
    }

    /// The first line of the file.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The root of all sessions.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The file, whether it exists yet or not.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder for outputs too long for the model: the file's path without its extension.
    pub fn spill_dir(&self) -> PathBuf {
        self.path.with_extension("")
    }

    /// Appends an entry. It then survives the end of this process, unless the disk refuses it: a
    /// refused entry waits and is tried again with the next one.
    pub fn append(&mut self, body: Body<'_>) -> SaveNotice {
        self.begun |= matches!(
            body,
            Body::Message {
                message: Message::User(_)
            }
        );
        // An odd step visits every number once before any comes back.
        self.last_id = self.last_id.wrapping_add(0x9E37_79B1);
        let id = format!("{:08x}", self.last_id);
        let entry = Entry::new(id.clone(), self.leaf.replace(id), timestamp(), body);
        self.unwritten.push_back(line(&entry));
        let written = self.write_out();
        self.notice(written)
    }

    /// Appends the model and thinking level from here on, as far as they are new.
    pub fn model(&mut self, model: &Model, thinking: ThinkingLevel) -> SaveNotice {
        let (provider, model_id) = (&model.provider, &model.id);
        let mut notice = None;
        let named = Some((provider.clone(), model_id.clone()));
        if self.model != named {
            self.model = named;
            notice = self.append(Body::ModelChange { provider, model_id });
        }
        if self.thinking != Some(thinking) {
            self.thinking = Some(thinking);
            let thinking_level = thinking;
            let next = self.append(Body::ThinkingLevelChange { thinking_level });
            notice = notice.or(next);
        }
        notice
    }

    /// Tries once more to write what waits, and returns when all of it is synced.
    pub async fn close(&mut self) -> SaveNotice {
        let written = self.write_out();
        if let Some(syncer) = self.syncer() {
            syncer.settle().await;
        }
        let error = written.err().or_else(|| self.take_sync_error())?;
        let path = self.path.display();
        Some(failure(format!(
            "The end of the session could not be saved to {path}: {error}"
        )))
    }

    fn syncer(&self) -> Option<&Syncer> {
        self.disk.as_ref()?.syncer.as_ref()
    }

    fn take_sync_error(&self) -> Option<io::Error> {
        self.syncer()?.take_error()
    }

    /// What to say of a write: that it failed, and that all is saved again, once each.
    fn notice(&mut self, written: io::Result<()>) -> SaveNotice {
        let path = self.path.display();
        match written {
            Err(error) if !self.failing => {
                self.failing = true;
                Some(failure(format!(
                    "The session cannot be saved to {path}: {error}. The conversation goes on in memory; make room or fix the folder, and it is saved with the next message."
                )))
            }
            Ok(()) if self.failing && self.unwritten.is_empty() => {
                self.failing = false;
                let text = String::from("The session is saved again; nothing is missing from it.");
                Some((NoticeLevel::Info, text))
            }
            _ => Some(failure(format!(
                "The session file {path} could not be synced to the disk: {}. A power cut may lose the end of the session.",
                self.take_sync_error()?
            ))),
        }
    }

    fn write_out(&mut self) -> io::Result<()> {
        if !self.begun {
            return Ok(());
        }
        let disk = match &mut self.disk {
            Some(disk) => disk,
            none => none.insert(Disk::open(&self.path)?),
        };
        if disk.is_removed() {
            *disk = disk.restored(&self.path)?;
        }
        while let Some(line) = self.unwritten.front() {
            if self.torn {
                (&*disk.file).write_all(b"\n")?;
                self.torn = false;
            }
            disk.write(line).inspect_err(|error| {
                self.torn = error.kind() == io::ErrorKind::WriteZero;
            })?;
            self.unwritten.pop_front();
        }
        if let Some(syncer) = &disk.syncer {
            syncer.request();
        }
        Ok(())
    }
}

impl Disk {
    fn open(path: &Path) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            make_private(folder)?;
        }
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            .open(path)?;
        Ok(Self::on(file))
    }

    fn on(file: File) -> Self {
        let file = Arc::new(file);
        // Without the thread the data still reaches the kernel with every write.
        let syncer = Syncer::spawn(Arc::clone(&file)).ok();
        Self { file, syncer }
    }

    /// Whether somebody has removed the file. What it held is there as long as it is open.
    fn is_removed(&self) -> bool {
        self.file.metadata().is_ok_and(|data| data.nlink() == 0)
    }

    /// A new file in the place of a removed one, with everything that was in it.
    fn restored(&self, path: &Path) -> io::Result<Self> {
        let folder = path.parent().unwrap_or(Path::new("."));
        make_private(folder)?;
        // In place only when it is whole; also readable by its owner alone.
        let mut copy = tempfile::Builder::new()
            .prefix(".session-")
            .append(true)
            .tempfile_in(folder)?;
        let mut old = &*self.file;
        old.seek(io::SeekFrom::Start(0))?;
        io::copy(&mut old, copy.as_file_mut())?;
        let file = copy.persist_noclobber(path).map_err(|error| error.error)?;
        Ok(Self::on(file))
    }

    /// Writes one line with one write. When only a piece of it fits, the piece is taken back;
    /// `WriteZero` says that even that failed.
    fn write(&self, line: &[u8]) -> io::Result<()> {
        let mut file = &*self.file;
        let written = loop {
            match file.write(line) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        if written == line.len() {
            return Ok(());
        }
        let length = file.metadata()?.len();
        file.set_len(length.saturating_sub(written as u64))
            .map_err(|_| io::Error::from(io::ErrorKind::WriteZero))?;
        Err(io::ErrorKind::StorageFull.into())
    }
}

fn failure(text: String) -> (NoticeLevel, String) {
    tracing::error!("{text}");
    (NoticeLevel::Error, text)
}

fn line(value: &impl Serialize) -> Vec<u8> {
    // These types have string keys only and cannot fail to serialise.
    let mut line = serde_json::to_vec(value).unwrap_or_default();
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn say(log: &mut SessionLog, text: &str) -> SaveNotice {
        log.append(Body::Message {
            message: &Message::user(text, 1),
        })
    }

    fn lines(path: &Path) -> Vec<Value> {
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.ends_with('\n'));
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    #[tokio::test]
    async fn a_full_disk_is_reported_and_nothing_is_forgotten() {
        let mut log = SessionLog::create(Path::new("/"), Path::new("/w"));
        log.path = PathBuf::from("/dev/full");
        let (level, text) = say(&mut log, "one").unwrap();
        assert_eq!(level, NoticeLevel::Error);
        assert!(text.contains("/dev/full"), "{text}");
        assert_eq!(say(&mut log, "two"), None, "told once");

        // The disk has room again.
        let root = tempfile::tempdir().unwrap();
        log.path = root.path().join("s.jsonl");
        log.disk = None;
        assert_eq!(say(&mut log, "three").unwrap().0, NoticeLevel::Info);
        assert_eq!(log.close().await, None);
        let texts: Vec<_> = lines(log.path())[1..]
            .iter()
            .map(|line| line["message"]["content"][0]["text"].clone())
            .collect();
        assert_eq!(texts, ["one", "two", "three"]);
    }

    #[test]
    fn a_torn_line_is_closed_before_the_next() {
        let root = tempfile::tempdir().unwrap();
        let mut log = SessionLog::create(root.path(), Path::new("/w"));
        assert_eq!(say(&mut log, "one"), None);
        (&*log.disk.as_ref().unwrap().file)
            .write_all(b"{\"ty")
            .unwrap();
        log.torn = true;
        assert_eq!(say(&mut log, "two"), None);
        let text = std::fs::read_to_string(log.path()).unwrap();
        let whole = |line: &&str| serde_json::from_str::<Value>(line).is_ok();
        assert_eq!(text.lines().count(), 4);
        assert_eq!(text.lines().filter(whole).count(), 3);
    }
}
