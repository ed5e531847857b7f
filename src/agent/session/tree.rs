//! The tree of a session's entries: an arena of nodes with id, parent, kind and place. A
//! conversation is the path from a leaf to the root; a fork is another leaf. Contains no text
//! except labels and the name. An entry's content is read from its place on demand.

use std::collections::{HashMap, HashSet};
use std::num::NonZero;
use std::sync::Arc;

use compact_str::{CompactString, ToCompactString, format_compact};
use indexmap::IndexMap;

use super::entry::{Body, Kind};

/// All entries of one session.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// The nodes in line order; the position is the [`NodeId`].
    pub(super) nodes: IndexMap<CompactString, Node>,
    leaf: Option<NodeId>,
    /// How often each id was already taken.
    copies: HashMap<Box<str>, u32>,
    labels: HashMap<NodeId, String>,
    name: Option<String>,
}

/// Identifies a node of one tree: its position, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(NonZero<u32>);

impl NodeId {
    fn at(index: usize) -> Self {
        let count = u32::try_from(index.saturating_add(1)).unwrap_or(u32::MAX);
        Self(NonZero::new(count).unwrap_or(NonZero::<u32>::MAX))
    }

    /// Its position in line order.
    pub fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// What the tree knows of an entry.
#[derive(Clone, Debug)]
pub struct Node {
    /// The parent entry; `None` for a root.
    pub parent: Option<NodeId>,
    /// The entry's kind.
    pub kind: Kind,
    /// Where the entry's text is.
    pub place: Place,
}

/// Where an entry's text is.
#[derive(Clone, Debug)]
pub enum Place {
    /// In the file, without the newline.
    File {
        /// Offset of its first byte.
        offset: u64,
        /// Length in bytes, capped for longer lines.
        length: u32,
    },
    /// In memory, because it isn't on disk (yet).
    Memory(Arc<Body>),
}

impl Place {
    pub(super) fn in_file(offset: u64, length: u64) -> Self {
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        Self::File { offset, length }
    }
}

impl Tree {
    /// Appends an entry below `parent` and makes it the leaf. A duplicate id gets a suffix, so that
    /// both entries are reachable.
    pub(super) fn push(
        &mut self,
        id: &str,
        parent: Option<NodeId>,
        kind: Kind,
        place: Place,
    ) -> NodeId {
        let node = Node {
            parent,
            kind,
            place,
        };
        let at = NodeId::at(self.nodes.len());
        let mut key = id.to_compact_string();
        while self.nodes.contains_key(key.as_str()) {
            let copies = self.copies.entry(id.into()).or_insert(1);
            *copies += 1;
            key = format_compact!("{id}#{copies}");
        }
        self.nodes.insert(key, node);
        self.leaf = Some(at);
        at
    }

    pub(super) fn fresh_id(&self) -> String {
        loop {
            let id = format!("{:08x}", uuid::Uuid::new_v4().as_fields().0);
            if !self.nodes.contains_key(id.as_str()) {
                return id;
            }
        }
    }

    /// The entry with this id, if any.
    pub fn find(&self, id: &str) -> Option<NodeId> {
        self.nodes.get_index_of(id).map(NodeId::at)
    }

    /// The entry's id within this tree, or an empty text if `node` isn't in it.
    pub fn id(&self, node: NodeId) -> &str {
        self.nodes
            .get_index(node.index())
            .map_or("", |(id, _)| id.as_str())
    }

    /// The entry's parent, kind and place. Panics if `node` is from a larger tree.
    pub fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node.index()]
    }

    /// Where the conversation continues.
    pub fn leaf(&self) -> Option<NodeId> {
        self.leaf
    }

    /// The entries of the conversation, from its leaf to its root.
    pub fn leaf_to_root(&self) -> impl Iterator<Item = NodeId> {
        self.leaf.into_iter().flat_map(|leaf| self.ancestors(leaf))
    }

    /// The same from root to leaf.
    pub fn branch(&self) -> Vec<NodeId> {
        self.leaf.map(|leaf| self.path(leaf)).unwrap_or_default()
    }

    /// The entries from the root to `node`.
    pub fn path(&self, node: NodeId) -> Vec<NodeId> {
        let mut path: Vec<NodeId> = self.ancestors(node).collect();
        path.reverse();
        path
    }

    /// `node` and its ancestors, up to its root.
    pub fn ancestors(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        std::iter::successors(Some(node), |node| self.node(*node).parent)
    }

    /// All nodes, in line order.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = NodeId> + use<> {
        (0..self.nodes.len()).map(NodeId::at)
    }

    /// Where a conversation that continues from `node` begins: after its calls' results.
    pub fn behind_results(&self, node: NodeId) -> NodeId {
        let mut said = self.ancestors(node).map(|node| self.node(node).kind);
        let said = said.find(|kind| kind.is_shown());
        if !matches!(said, Some(Kind::Assistant | Kind::ToolResult)) {
            return node;
        }
        let (mut end, mut last) = (node, node);
        for next in self.nodes().skip(node.index() + 1) {
            if self.node(next).parent != Some(last) {
                continue;
            }
            match self.node(next).kind {
                Kind::ToolResult => end = next,
                // The model may have changed while a call ran.
                kind if !kind.is_shown() => {}
                _ => break,
            }
            last = next;
        }
        end
    }

    pub(crate) fn common_ancestor(&self, one: NodeId, other: NodeId) -> Option<NodeId> {
        let of_one: HashSet<NodeId> = self.ancestors(one).collect();
        self.ancestors(other).find(|node| of_one.contains(node))
    }

    /// The user's label on `node`.
    pub fn label(&self, node: NodeId) -> Option<&str> {
        self.labels.get(&node).map(String::as_str)
    }

    pub(super) fn set_label(&mut self, node: NodeId, label: Option<String>) {
        match label {
            Some(label) => self.labels.insert(node, label),
            None => self.labels.remove(&node),
        };
    }

    /// The name that the user gave the session.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Names the session; an empty name removes it.
    pub(super) fn set_name(&mut self, name: Option<String>) {
        self.name = name.filter(|name| !name.trim().is_empty());
    }

    /// Assigns parents that come later in the file, except where that would close a cycle. Returns
    /// the number of these. Visits each node once, even in a malicious file.
    pub(super) fn adopt(&mut self, children: &[(NodeId, NodeId)]) -> usize {
        for (node, parent) in children {
            self.nodes[node.index()].parent = Some(*parent);
        }
        let mut circles = 0;
        // The walk that reached each node. A walk goes up until it meets a visited node.
        let mut walks = vec![
            0_u32;
            if children.is_empty() {
                0
            } else {
                self.nodes.len()
            }
        ];
        for (walk, (start, _)) in (1..).zip(children) {
            let mut node = *start;
            while walks[node.index()] == 0 {
                walks[node.index()] = walk;
                match self.nodes[node.index()].parent {
                    Some(parent) if walks[parent.index()] == walk => {
                        // Every cycle contains a link to a later line.
                        let child = self.last_link_down(parent);
                        self.nodes[child.index()].parent = None;
                        circles += 1;
                        break;
                    }
                    Some(parent) => node = parent,
                    None => break,
                }
            }
        }
        circles
    }

    /// The last node in the cycle through `node` whose parent comes after it.
    fn last_link_down(&self, node: NodeId) -> NodeId {
        let (mut at, mut found) = (node, node);
        loop {
            let Some(parent) = self.nodes[at.index()].parent else {
                return found;
            };
            if parent >= at {
                found = at;
            }
            at = parent;
            if at == node {
                return found;
            }
        }
    }
}
