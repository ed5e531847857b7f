//! The entries of a conversation for display, in order, with their sizes. Their content is read on
//! demand, so a long past costs a few bytes per entry. Independent of the model's context:
//! compacted entries appear here too.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use indexmap::IndexMap;

use super::entry::{Body, Kind};
use super::history_facts::{is_failure, is_unanswered};
use super::lifecycle::{CallState, call_states};
use super::reader;
use super::store::Session;
use super::tree::{NodeId, Place, Tree};
use tiller_llm::Message;

/// Size to assume for an entry in memory, in bytes.
const IN_MEMORY: u64 = 512;

/// The user-visible entries on the path to a leaf.
#[derive(Clone, Debug, Default)]
pub struct SessionBranch {
    /// `None` if nothing is stored.
    file: Option<Arc<File>>,
    entries: Vec<Entry>,
    calls: IndexMap<String, CallState>,
}

#[derive(Clone, Debug)]
struct Entry {
    kind: Kind,
    place: Place,
}

impl SessionBranch {
    /// The entries in `file` on the path to the leaf of `tree`.
    pub(super) fn of(tree: &Tree, file: Option<Arc<File>>) -> Self {
        let path = tree.branch().into_iter().filter(|node| {
            let kind = tree.node(*node).kind;
            kind.is_shown() || kind == Kind::RunEnd
        });
        let mut branch = Self::of_nodes(tree, file, path);
        branch.calls = branch.calls_in(tree);
        branch
    }

    fn of_nodes(
        tree: &Tree,
        file: Option<Arc<File>>,
        nodes: impl IntoIterator<Item = NodeId>,
    ) -> Self {
        let entry = |node| {
            let it = tree.node(node);
            Entry {
                kind: it.kind,
                place: it.place.clone(),
            }
        };
        Self {
            entries: nodes.into_iter().map(entry).collect(),
            file,
            calls: IndexMap::new(),
        }
    }

    /// The last calls by id, and how far each had come when the program ended.
    pub fn calls(&self) -> &IndexMap<String, CallState> {
        &self.calls
    }

    fn calls_in(&self, tree: &Tree) -> IndexMap<String, CallState> {
        let path = tree.leaf().into_iter().flat_map(|it| tree.ancestors(it));
        let nodes = path.map(|node| tree.node(node));
        let end = nodes.take_while(|node| !matches!(node.kind, Kind::Assistant | Kind::User));
        let events = end.filter(|node| node.kind == Kind::Other);
        let bodies: Vec<Arc<Body>> = events
            .filter_map(|node| reader::load(&node.place, self.file.as_deref()).ok())
            .collect();
        call_states(bodies.iter().rev().map(AsRef::as_ref))
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The kind of the entry at `index`.
    pub fn kind(&self, index: usize) -> Kind {
        self.entries[index].kind
    }

    /// The approximate size of its line in bytes.
    pub fn length(&self, index: usize) -> u64 {
        match self.entries[index].place {
            Place::File { length, .. } => u64::from(length),
            Place::Memory(_) => IN_MEMORY,
        }
    }

    /// True if it is in the file.
    pub fn is_in_file(&self, index: usize) -> bool {
        self.file.is_some() && matches!(self.entries[index].place, Place::File { .. })
    }

    /// Reads the entries in `range`; each may fail on its own.
    pub fn read(&self, range: Range<usize>) -> Vec<io::Result<Arc<Body>>> {
        let entries = self.entries.get(range).unwrap_or_default();
        let read = |entry: &Entry| reader::load(&entry.place, self.file.as_deref());
        entries.iter().map(read).collect()
    }
}

/// The messages of one run: the last ones in memory, all of them in the session.
#[derive(Clone, Debug, Default)]
pub struct RunMessages {
    end: Vec<Arc<Message>>,
    stored: SessionBranch,
}

impl RunMessages {
    /// Number of messages.
    pub fn len(&self) -> usize {
        self.stored.len().max(self.end.len())
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The last user message or tool call, with everything after it.
    pub fn end(&self) -> &[Arc<Message>] {
        &self.end
    }

    /// True if they end in a failure whose removed message leaves nothing to answer.
    pub fn is_settled(&self) -> bool {
        is_failure(&self.end) && !is_unanswered(&self.end)
    }

    /// Reads all of them in order, without unreadable ones. Blocks.
    pub fn read(&self) -> Vec<Arc<Message>> {
        if self.stored.is_empty() {
            return self.end.clone();
        }
        let bodies = self.stored.read(0..self.stored.len()).into_iter().flatten();
        let message = |body: Arc<Body>| match &*body {
            Body::Message { message } => Some(Arc::clone(message)),
            _ => None,
        };
        bodies.filter_map(message).collect()
    }
}

/// Messages that aren't stored.
impl From<Vec<Arc<Message>>> for RunMessages {
    fn from(end: Vec<Arc<Message>>) -> Self {
        let stored = SessionBranch::default();
        Self { end, stored }
    }
}

impl Session {
    /// The run's messages at `nodes`, the last of which are in `end`.
    pub(crate) fn run_messages(&self, nodes: &[NodeId], end: &[Arc<Message>]) -> RunMessages {
        let nodes = nodes.iter().copied();
        RunMessages {
            end: end.to_vec(),
            stored: SessionBranch::of_nodes(self.tree(), self.open_file(), nodes),
        }
    }
}
