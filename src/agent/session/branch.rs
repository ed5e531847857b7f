//! The entries of a conversation, for whoever shows it: in order, with their sizes. What they hold is
//! read when it is looked at, so a long past costs some bytes an entry. Knows nothing of contexts:
//! what a compaction took out of one stands here all the same.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::entry::{Body, Kind};
use super::lifecycle::unanswered;
use super::reader;
use super::tree::{NodeId, Place, Tree};

/// What an entry that is not in the file counts for, in bytes.
const IN_MEMORY: u64 = 512;

/// The entries on the way to a leaf that say something to the user.
#[derive(Clone, Debug, Default)]
pub struct SessionBranch {
    /// None where nothing is stored.
    file: Option<Arc<File>>,
    entries: Vec<Entry>,
    unanswered: Vec<String>,
}

#[derive(Clone, Debug)]
struct Entry {
    node: NodeId,
    kind: Kind,
    place: Place,
}

impl SessionBranch {
    /// The entries on the way to the leaf of `tree`, which stand in `file`.
    pub(super) fn of(tree: &Tree, file: Option<Arc<File>>) -> Self {
        let path = tree.leaf().map(|leaf| tree.path(leaf)).unwrap_or_default();
        let entries = path.into_iter().filter_map(|node| {
            let it = tree.node(node);
            (it.kind.is_shown() || it.kind == Kind::RunEnd).then(|| Entry {
                node,
                kind: it.kind,
                place: it.place.clone(),
            })
        });
        let mut branch = Self {
            entries: entries.collect(),
            file,
            unanswered: Vec::new(),
        };
        branch.unanswered = branch.unanswered_in(tree);
        branch
    }

    /// The calls at its end that have not run, since the user was asked and has not answered.
    pub fn unanswered(&self) -> &[String] {
        &self.unanswered
    }

    fn unanswered_in(&self, tree: &Tree) -> Vec<String> {
        let path = tree.leaf().into_iter().flat_map(|it| tree.ancestors(it));
        let nodes = path.map(|node| tree.node(node));
        let end = nodes.take_while(|node| !matches!(node.kind, Kind::Assistant | Kind::User));
        let events = end.filter(|node| node.kind == Kind::Other);
        let bodies: Vec<Arc<Body>> = events
            .filter_map(|node| self.body(&node.place).ok())
            .collect();
        unanswered(bodies.iter().map(AsRef::as_ref))
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// What kind of entry stands at `index`.
    pub fn kind(&self, index: usize) -> Kind {
        self.entries[index].kind
    }

    /// The entry's node in the tree of the session.
    pub fn node(&self, index: usize) -> NodeId {
        self.entries[index].node
    }

    /// Bytes of its line, about.
    pub fn length(&self, index: usize) -> u64 {
        match self.entries[index].place {
            Place::File { length, .. } => u64::from(length),
            Place::Memory(_) => IN_MEMORY,
        }
    }

    /// Whether it stands in the file.
    pub fn is_in_file(&self, index: usize) -> bool {
        self.file.is_some() && matches!(self.entries[index].place, Place::File { .. })
    }

    /// Reads what the entries at `range` hold; an error for each that cannot be read.
    pub fn read(&self, range: Range<usize>) -> Vec<io::Result<Arc<Body>>> {
        let entries = self.entries.get(range).unwrap_or_default();
        let read = |entry: &Entry| self.body(&entry.place);
        entries.iter().map(read).collect()
    }

    fn body(&self, place: &Place) -> io::Result<Arc<Body>> {
        match place {
            Place::Memory(body) => Ok(Arc::clone(body)),
            Place::File { offset, length } => {
                let file = self.file.as_ref().ok_or(io::ErrorKind::NotFound)?;
                reader::body(file, *offset, *length).map(Arc::new)
            }
        }
    }
}
