//! A snapshot of an open session's tree, readable while the agent keeps writing. The file only
//! grows, so positions in the tree stay valid.

use std::fs::File;
use std::io;
use std::sync::Arc;

use serde_json::Value;

use super::branch::SessionBranch;
use super::entry::Entry;
use super::reader;
use super::store::Session;
use super::tree::{NodeId, Place, Tree};
use super::view::StoredEntry;

/// A snapshot of an open session.
#[derive(Clone, Debug)]
pub struct SessionSnapshot {
    pub(super) tree: Tree,
    pub(super) file: Option<Arc<File>>,
}

impl Session {
    /// The session's current state.
    pub fn snapshot(&self) -> SessionSnapshot {
        SessionSnapshot {
            tree: self.tree().clone(),
            file: self.open_file(),
        }
    }
}

impl SessionSnapshot {
    /// All its entries.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The content of an entry.
    pub fn entry(&self, node: NodeId) -> io::Result<StoredEntry> {
        match &self.tree.node(node).place {
            Place::Memory(body) => Ok(StoredEntry {
                timestamp: String::new(),
                body: Some(body.as_ref().clone()),
            }),
            Place::File { offset, length } => {
                let file = self.file.as_ref().ok_or(io::ErrorKind::NotFound)?;
                Ok(StoredEntry::read(&reader::line(file, *offset, *length)?)?)
            }
        }
    }

    /// An entry as a line of the file, in JSON.
    pub fn line(&self, node: NodeId) -> io::Result<Value> {
        let tree = &self.tree;
        match &tree.node(node).place {
            Place::Memory(body) => Ok(serde_json::to_value(Entry {
                r#type: body.type_name(),
                id: tree.id(node),
                parent_id: tree.node(node).parent.map(|parent| tree.id(parent)),
                timestamp: String::new(),
                body,
            })?),
            Place::File { offset, length } => {
                let file = self.file.as_ref().ok_or(io::ErrorKind::NotFound)?;
                Ok(serde_json::from_slice(&reader::line(
                    file, *offset, *length,
                )?)?)
            }
        }
    }

    /// The entries up to the leaf, for the user.
    pub fn branch(&self) -> SessionBranch {
        SessionBranch::of(&self.tree, self.file.clone())
    }
}
