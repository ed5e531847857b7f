//! An open session: the tree of its entries and their file. When [`Session::append`] returns, the
//! entry is in the file or waits for disk space. Written lines never change.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::entry::{Body, Entry, Header, Kind, LEAF, ModelChange, VERSION, timestamp};
use super::file::{self, SessionFile, Sync};
use super::folder::{file_name, folder_for, make_private};
use super::outputs::{outputs_before, share_outputs};
use super::presence::is_at;
use super::reader::{self, Loaded};
use super::tree::{NodeId, Place, Tree};
use crate::event::NoticeLevel;
use tiller_llm::{Model, ThinkingLevel, Usage};

/// One open session.
#[derive(Debug)]
pub struct Session {
    header: Header,
    tree: Tree,
    /// The root of all sessions, and the file; `None` for an unstored session.
    stored: Option<Stored>,
    /// The file of a read-only session.
    looked_at: Option<(PathBuf, Arc<File>)>,
    /// Output folders of the sessions it was copied from.
    outputs_before: Vec<PathBuf>,
    /// Usage of all branches in the file when it was opened.
    usage: Usage,
    /// Current model and thinking level, from the last `model_change` and `thinking_level_change`
    /// entries before the leaf.
    model: Option<ModelChange>,
    thinking: Option<ThinkingLevel>,
}

#[derive(Debug)]
struct Stored {
    root: PathBuf,
    file: SessionFile,
    /// The nodes of the waiting lines, in order. The header has no node.
    waiting: Vec<NodeId>,
    /// The first user message, even a queued one, creates the file. Entries before it wait.
    begun: bool,
    /// The user knows that entries couldn't be written.
    failing: bool,
}

impl Stored {
    fn new(root: &Path, file: SessionFile, begun: bool) -> Self {
        Self {
            root: root.to_owned(),
            file,
            waiting: Vec::new(),
            begun,
            failing: false,
        }
    }
}

/// A notice about the session file, for the user.
pub type SaveNotice = Option<(NoticeLevel, String)>;

/// Why a session can't be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another program writes to it.
    #[error("another tiller has it open")]
    InUse,
    /// It was written by a newer version, or by one so old that only a copy can continue.
    #[error("it has session format version {0}; this tiller writes version {VERSION}")]
    Version(u32),
    /// It is unreadable, or not a session.
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl Session {
    /// A new session in `root` for the working folder `cwd`. Touches no disk yet.
    pub fn create(root: &Path, cwd: &Path) -> Self {
        let session = Self::unstored(cwd);
        let name = file_name(&session.header.timestamp, &session.header.id);
        let file = SessionFile::new(folder_for(root, cwd).join(name), line(&session.header));
        let stored = Some(Stored::new(root, file, false));
        Self { stored, ..session }
    }

    /// A session in `cwd` that exists only in memory.
    pub fn unstored(cwd: &Path) -> Self {
        Self {
            header: Header::new(cwd),
            tree: Tree::default(),
            stored: None,
            looked_at: None,
            outputs_before: Vec::new(),
            usage: Usage::default(),
            model: None,
            thinking: None,
        }
    }

    /// Opens the session in the file at `path` and returns what was skipped.
    pub fn open(root: &Path, path: &Path) -> Result<(Self, Vec<String>), OpenError> {
        let file = reader::open(path, OpenOptions::new().read(true).append(true))?;
        if !file::lock(&file) {
            return Err(OpenError::InUse);
        }
        // Another process may have moved it to the trash between the two calls.
        if !is_at(&file, path) {
            return Err(io::Error::from(io::ErrorKind::NotFound).into());
        }
        let mut loaded = reader::read(&file)?;
        if !(2..=VERSION).contains(&loaded.header.version) {
            return Err(OpenError::Version(loaded.header.version));
        }
        let mut problems = std::mem::take(&mut loaded.problems);
        if loaded.torn > 0 {
            problems.push(format!(
                "its last entry was cut off; the fragment of {} bytes is in {}",
                loaded.torn,
                file::torn_path(path).display()
            ));
        }
        let (length, unterminated) = (loaded.length, loaded.unterminated);
        let file = SessionFile::existing(path.to_owned(), file, length, unterminated)?;
        let outputs_before = outputs_before(root, &loaded.header);
        let mut session = Self::of(loaded, Some(Stored::new(root, file, true)), None);
        session.outputs_before = outputs_before;
        Ok((session, problems))
    }

    /// Opens the session in the file at `path` read-only, even while another program has it open.
    /// Returns what was skipped. New entries don't reach the file.
    pub fn look(path: &Path) -> Result<(Self, Vec<String>), OpenError> {
        let file = File::open(path)?;
        let mut loaded = reader::read(&file)?;
        let problems = std::mem::take(&mut loaded.problems);
        let looked_at = Some((path.to_owned(), Arc::new(file)));
        Ok((Self::of(loaded, None, looked_at), problems))
    }

    fn of(loaded: Loaded, stored: Option<Stored>, looked_at: Option<(PathBuf, Arc<File>)>) -> Self {
        let mut session = Self {
            header: loaded.header,
            tree: loaded.tree,
            stored,
            looked_at,
            outputs_before: Vec::new(),
            usage: loaded.usage,
            model: None,
            thinking: None,
        };
        session.recall_model();
        session
    }

    /// Opens a copy of the session in `source` for the working folder `cwd`, and returns what was
    /// skipped. The original stays unchanged and may be open elsewhere.
    pub fn fork(root: &Path, source: &Path, cwd: &Path) -> Result<(Self, Vec<String>), OpenError> {
        let file = reader::open(source, OpenOptions::new().read(true))?;
        let loaded = reader::read(&file)?;
        if loaded.header.version > VERSION {
            return Err(OpenError::Version(loaded.header.version));
        }
        let mut usage = loaded.usage.clone();
        loaded
            .header
            .usage_before
            .iter()
            .for_each(|it| usage.add(it));
        Self::write_copy(root, source, cwd, usage, |copy| {
            if loaded.header.version == 1 {
                for node in loaded.tree.nodes() {
                    copy.write_all(&loaded.with_id(&file, node)?)?;
                }
                return Ok(());
            }
            let mut entries = &file;
            entries.seek(io::SeekFrom::Start(loaded.header_length))?;
            let length = loaded.length.saturating_sub(loaded.header_length);
            io::copy(&mut entries.take(length), copy)?;
            copy.write_all(if loaded.unterminated { b"\n" } else { b"" })
        })
    }

    /// Opens a copy of the session in `source`, whose entries come from `write` and used `usage`.
    /// Returns what was skipped.
    pub(super) fn write_copy(
        root: &Path,
        source: &Path,
        cwd: &Path,
        usage: Usage,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> Result<(Self, Vec<String>), OpenError> {
        let header = Header::copy_of(source, cwd, usage);
        let path = folder_for(root, cwd).join(file_name(&header.timestamp, &header.id));
        let folder = path.parent().unwrap_or(root);
        make_private(folder)?;
        let mut copy = tempfile::Builder::new()
            .prefix(".fork-")
            .tempfile_in(folder)?;
        copy.write_all(&line(&header))?;
        write(copy.as_file_mut())?;
        copy.as_file().sync_data()?;
        copy.persist_noclobber(&path).map_err(|error| error.error)?;
        let apart = share_outputs(source, &path);
        let (session, mut problems) = Self::open(root, &path)?;
        problems.extend(apart);
        Ok((session, problems))
    }

    /// The session's id.
    pub fn id(&self) -> &str {
        &self.header.id
    }

    /// The first line of the file.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The folders with long outputs: `own`, and those of the sessions it was copied from.
    pub(crate) fn outputs(&self, own: &Path) -> Vec<PathBuf> {
        let mut folders = self.outputs_before.clone();
        folders.insert(0, own.to_owned());
        folders
    }

    /// All its entries.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Tokens and cost of all its branches.
    pub fn usage(&self) -> &Usage {
        &self.usage
    }

    /// The root of all sessions; `None` for an unstored session.
    pub fn root(&self) -> Option<&Path> {
        self.stored.as_ref().map(|stored| stored.root.as_path())
    }

    /// The file, which may not exist yet; `None` for an unstored session.
    pub fn path(&self) -> Option<&Path> {
        let looked_at = self.looked_at.as_ref().map(|(path, _)| path.as_path());
        let stored = self.stored.as_ref().map(|stored| stored.file.path());
        stored.or(looked_at)
    }

    /// True if it is read-only.
    pub fn is_read_only(&self) -> bool {
        self.looked_at.is_some()
    }

    /// Appends an entry after the leaf. It survives the end of this process unless the disk rejects
    /// it; then it waits for the next write.
    pub fn append(&mut self, body: Body) -> SaveNotice {
        self.append_below(self.tree.leaf(), body)
    }

    /// Moves the leaf to `node`, also for later runs.
    pub fn go_to(&mut self, node: Option<NodeId>) -> SaveNotice {
        let custom_type = LEAF.into();
        let data = Value::Null;
        let notice = self.append_below(node, Body::Custom { custom_type, data });
        self.recall_model();
        notice
    }

    /// Appends the model and thinking level if they changed.
    pub fn set_model(&mut self, model: &Model, thinking: ThinkingLevel) -> SaveNotice {
        let mut notice = None;
        let change = ModelChange {
            provider: model.provider.clone(),
            model_id: model.id.clone(),
        };
        if self.model.as_ref() != Some(&change) {
            self.model = Some(change.clone());
            notice = self.append(Body::ModelChange(change));
        }
        if self.thinking != Some(thinking) {
            self.thinking = Some(thinking);
            let thinking_level = thinking;
            let next = self.append(Body::ThinkingLevelChange { thinking_level });
            notice = notice.or(next);
        }
        notice
    }

    /// The current model at the leaf, if set.
    pub fn model(&self) -> Option<&ModelChange> {
        self.model.as_ref()
    }

    /// The current thinking level at the leaf, if set.
    pub fn thinking(&self) -> Option<ThinkingLevel> {
        self.thinking
    }

    /// The content of the entry at `node`.
    pub fn load(&self, node: NodeId) -> io::Result<Arc<Body>> {
        reader::load(&self.tree.node(node).place, self.open_file().as_deref())
    }

    /// Retries waiting lines. Returns a notice, and how many entries are still unsaved and why.
    pub fn save(&mut self) -> (SaveNotice, Option<(usize, String)>) {
        let written = self.write_out();
        let error = written.as_ref().err().map(ToString::to_string);
        let waiting = self.stored.as_ref().map_or(0, |it| it.waiting.len());
        (self.notice(written), error.map(|error| (waiting, error)))
    }

    /// Retries waiting lines and waits until all is synced.
    pub async fn close(&mut self) -> SaveNotice {
        let written = self.write_out();
        let stored = self.stored.as_ref()?;
        stored.file.close().await;
        let error = written.err().or_else(|| stored.file.take_sync_error())?;
        let path = stored.file.path().display();
        Some(failure(format!(
            "Couldn't save the end of the session to {path}: {error}"
        )))
    }

    /// The file to read entries from; `None` if nothing is stored yet.
    pub(super) fn open_file(&self) -> Option<Arc<File>> {
        let looked_at = self.looked_at.as_ref().map(|(_, file)| file);
        let stored = self
            .stored
            .as_ref()
            .and_then(|stored| stored.file.open_file());
        stored.or(looked_at).map(Arc::clone)
    }

    fn append_below(&mut self, parent: Option<NodeId>, body: Body) -> SaveNotice {
        if let Some(usage) = body.usage() {
            self.usage.add(usage);
        }
        let id = self.tree.fresh_id();
        let line = line(&Entry {
            r#type: body.type_name(),
            id: &id,
            parent_id: parent.map(|parent| self.tree.id(parent)),
            timestamp: timestamp(),
            body: &body,
        });
        let kind = body.kind();
        let begins = matches!(kind, Kind::User | Kind::Queued);
        self.note(&body);
        // After a power cut, delivered messages are still known by id; others are queued again.
        let sync = if kind == Kind::Unqueued || body.lifecycle().is_some() {
            Sync::Later
        } else {
            Sync::Now
        };
        let place = Place::Memory(Arc::new(body));
        let node = self.tree.push(&id, parent, kind, place);
        let stored = self.stored.as_mut()?;
        stored.begun |= begins;
        stored.file.push(line, sync);
        stored.waiting.push(node);
        let written = self.write_out();
        self.notice(written)
    }

    fn write_out(&mut self) -> io::Result<()> {
        let Some(stored) = self.stored.as_mut().filter(|stored| stored.begun) else {
            return Ok(());
        };
        // Writes the header first when creating the file. An entry too long to read back stays in
        // memory, so that the conversation doesn't change in the middle of a session.
        let header = stored.file.waiting() - stored.waiting.len();
        let mut done = 0;
        let written = stored.file.write_out(|offset, length| {
            done += 1;
            if let Some(at) = usize::checked_sub(done, header + 1)
                && reader::can_load(length)
            {
                let node = stored.waiting[at].index();
                self.tree.nodes[node].place = Place::in_file(offset, length);
            }
        });
        stored.waiting.drain(..usize::saturating_sub(done, header));
        written
    }

    /// Reports a write failure and the recovery, once each.
    fn notice(&mut self, written: io::Result<()>) -> SaveNotice {
        let stored = self.stored.as_mut()?;
        let path = stored.file.path().display();
        match written {
            Err(error) if !stored.failing => {
                let way_out = match error.kind() {
                    io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                        "Make the folder writable, or set TILLER_DATA_DIR at the next start"
                    }
                    _ => "Free disk space or fix the folder",
                };
                let text = format!(
                    "Can't save the session to {path}: {error}. It continues in memory. {way_out}; \
                     tiller tries again with the next message."
                );
                stored.failing = true;
                Some(failure(text))
            }
            Ok(()) if stored.failing && stored.file.waiting() == 0 => {
                stored.failing = false;
                let text = String::from("Saving works again; the session is complete.");
                Some((NoticeLevel::Info, text))
            }
            _ => Some(failure(format!(
                "Couldn't sync the session file {path}: {}. A power cut may lose the end of the \
                 session.",
                stored.file.take_sync_error()?
            ))),
        }
    }

    /// Applies what `body` says about the whole session.
    fn note(&mut self, body: &Body) {
        match body {
            Body::Label { target_id, label } => {
                if let Some(target) = self.tree.find(target_id) {
                    self.tree.set_label(target, label.clone());
                }
            }
            Body::SessionInfo { name } => self.tree.set_name(Some(name.clone())),
            _ => {}
        }
    }

    /// Finds the current model and thinking level on the path to the leaf.
    fn recall_model(&mut self) {
        (self.model, self.thinking) = (None, None);
        for node in self.tree.leaf_to_root() {
            let wanted = match self.tree.node(node).kind {
                Kind::ModelChange => self.model.is_none(),
                Kind::ThinkingLevelChange => self.thinking.is_none(),
                _ => false,
            };
            match wanted
                .then(|| self.load(node))
                .and_then(Result::ok)
                .as_deref()
            {
                Some(Body::ModelChange(change)) => self.model = Some(change.clone()),
                Some(Body::ThinkingLevelChange { thinking_level }) => {
                    self.thinking = Some(*thinking_level);
                }
                _ => {}
            }
            if self.model.is_some() && self.thinking.is_some() {
                break;
            }
        }
    }
}

fn failure(text: String) -> (NoticeLevel, String) {
    tracing::error!("{text}");
    (NoticeLevel::Error, text)
}

fn line(value: &impl Serialize) -> Vec<u8> {
    // These types have string keys only, so serializing can't fail.
    let mut line = serde_json::to_vec(value).unwrap_or_default();
    line.push(b'\n');
    line
}
