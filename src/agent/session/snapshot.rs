//! The tree of an open session as it was at one moment, to be read beside the agent that goes on
//! writing: the file only grows, so what the tree names stays where it is.

use std::fs::File;
use std::io;
use std::sync::Arc;

use super::branch::SessionBranch;
use super::reader;
use super::store::Session;
use super::tree::{NodeId, Place, Tree};
use super::view::StoredEntry;

/// An open session at one moment.
#[derive(Clone, Debug)]
pub struct SessionSnapshot {
    pub(super) tree: Tree,
    pub(super) file: Option<Arc<File>>,
}

impl Session {
    /// The session as it is now.
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

    /// What an entry holds.
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

    /// The entries on the way to the leaf, as the user reads them.
    pub fn branch(&self) -> SessionBranch {
        SessionBranch::of(&self.tree, self.file.clone())
    }
}
