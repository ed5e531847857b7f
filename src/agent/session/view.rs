//! A read-only view of a session: its header, its tree and its entries' content. Takes no lock and
//! changes nothing, so the session may be open, here or elsewhere: a file only grows, so positions
//! in the tree stay valid.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::branch::SessionBranch;
use super::entry::{Body, Entry, Header, Kind, ModelChange};
use super::reader::{self, Loaded};
use super::store::Session;
use super::tree::{NodeId, Place, Tree};
use tiller_llm::Usage;

/// A session, read-only.
#[derive(Clone, Debug)]
pub struct SessionView {
    path: PathBuf,
    /// `None` if nothing is stored yet.
    file: Option<Arc<File>>,
    loaded: Loaded,
}

/// An entry's time and content, as read from its line.
#[derive(Debug)]
pub struct StoredEntry {
    /// In ISO 8601, as in the file; empty if missing.
    pub timestamp: String,
    /// The content; `None` if its format is unknown.
    pub body: Option<Body>,
}

impl SessionView {
    /// Reads the session in the file at `path`.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = reader::open(path, OpenOptions::new().read(true))?;
        let loaded = reader::read(&file)?;
        let (path, file) = (path.to_owned(), Some(Arc::new(file)));
        Ok(Self { path, file, loaded })
    }

    /// The file; an empty path for an unstored session.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its first line.
    pub fn header(&self) -> &Header {
        &self.loaded.header
    }

    /// All its entries.
    pub fn tree(&self) -> &Tree {
        &self.loaded.tree
    }

    /// Tokens and cost of all its branches, without those of a session it was copied from.
    pub fn usage(&self) -> &Usage {
        &self.loaded.usage
    }

    /// The skipped parts, for the user.
    pub fn problems(&self) -> &[String] {
        &self.loaded.problems
    }

    /// Bytes in the file.
    pub fn size(&self) -> u64 {
        self.loaded.length + self.loaded.torn
    }

    /// Bytes at its end that aren't a complete entry.
    pub fn torn(&self) -> u64 {
        self.loaded.torn
    }

    /// The nodes from the root to the leaf.
    pub fn branch(&self) -> Vec<NodeId> {
        self.tree().branch()
    }

    /// The current model at the leaf, if set.
    pub fn model(&self) -> Option<ModelChange> {
        let tree = self.tree();
        let mut changes = tree
            .leaf_to_root()
            .filter(|node| tree.node(*node).kind == Kind::ModelChange);
        match self.entry(changes.next()?).ok()?.body? {
            Body::ModelChange(change) => Some(change),
            _ => None,
        }
    }

    /// An entry's line.
    pub fn line(&self, node: NodeId) -> io::Result<Value> {
        let tree = self.tree();
        if let Place::Memory(body) = &tree.node(node).place {
            return Ok(serde_json::to_value(Entry {
                r#type: body.type_name(),
                id: tree.id(node),
                parent_id: tree.node(node).parent.map(|parent| tree.id(parent)),
                timestamp: String::new(),
                body,
            })?);
        }
        Ok(serde_json::from_slice(&self.bytes(node)?)?)
    }

    /// An entry's content.
    pub fn entry(&self, node: NodeId) -> io::Result<StoredEntry> {
        if let Place::Memory(body) = &self.tree().node(node).place {
            return Ok(StoredEntry {
                timestamp: String::new(),
                body: Some(body.as_ref().clone()),
            });
        }
        Ok(StoredEntry::read(&self.bytes(node)?)?)
    }

    /// The complete lines of the file.
    pub fn lines(&self) -> io::Result<impl Read> {
        let mut file = self.file()?;
        file.rewind()?;
        Ok(file.take(self.loaded.length))
    }

    fn file(&self) -> io::Result<&File> {
        Ok(self.file.as_ref().ok_or(io::ErrorKind::NotFound)?)
    }

    /// The entries up to the leaf, for the user.
    pub fn shown(&self) -> SessionBranch {
        SessionBranch::of(self.tree(), self.file.clone())
    }

    /// The text of an entry's line; empty for an entry that is only in memory.
    pub fn bytes(&self, node: NodeId) -> io::Result<Vec<u8>> {
        let Place::File { offset, length } = self.tree().node(node).place else {
            return Ok(Vec::new());
        };
        reader::line(self.file()?, offset, length)
    }
}

impl Session {
    /// A view of the session up to its last entry.
    pub fn snapshot(&self) -> SessionView {
        SessionView {
            path: self.path().unwrap_or(Path::new("")).to_owned(),
            file: self.open_file(),
            loaded: Loaded {
                header: self.header().clone(),
                tree: self.tree().clone(),
                usage: self.usage().clone(),
                header_length: 0,
                length: 0,
                torn: 0,
                unterminated: false,
                problems: Vec::new(),
            },
        }
    }
}

impl StoredEntry {
    /// Parses an entry's line.
    ///
    /// # Errors
    /// The line isn't JSON.
    pub fn read(line: &[u8]) -> serde_json::Result<Self> {
        let line: Value = serde_json::from_slice(line)?;
        let timestamp = line["timestamp"].as_str().unwrap_or_default().to_owned();
        let body = Body::of(line);
        Ok(Self { timestamp, body })
    }
}
