//! A new session from one path of another: the lines on the way to an entry, byte for byte, and the
//! labels of their entries. The other one stays as it is.

use std::io::{self, Write};
use std::path::Path;

use super::entry::{Body, Kind, VERSION};
use super::reader;
use super::store::{OpenError, Session};
use super::tree::NodeId;
use super::view::SessionView;
use crate::agent::event::is_from_user;
use crate::llm::{Content, Message, Usage};

impl Session {
    /// Opens a new session for the working directory `cwd` with what stands in the session file
    /// `source` on the way to `leaf`, and says what was passed over. Where no prompt stands there it
    /// is an empty one.
    pub fn fork_at(
        root: &Path,
        source: &SessionView,
        cwd: &Path,
        leaf: Option<NodeId>,
    ) -> Result<(Self, Vec<String>), OpenError> {
        let version = source.header().version;
        if !(2..=VERSION).contains(&version) {
            return Err(OpenError::Version(version));
        }
        let tree = source.tree();
        let path = leaf.map(|leaf| tree.path(leaf)).unwrap_or_default();
        if !path.iter().any(|node| tree.node(*node).kind == Kind::User) {
            return Ok((Self::create(root, cwd), Vec::new()));
        }
        let mut usage = Usage::default();
        for node in &path {
            if tree.node(*node).kind.may_have_usage() {
                let body = source.entry(*node)?.body;
                body.iter()
                    .filter_map(Body::usage)
                    .for_each(|it| usage.add(it));
            }
        }
        let (mut session, problems) = Self::write_copy(root, source.path(), cwd, usage, |copy| {
            path.iter()
                .try_for_each(|node| copy.write_all(&source.line_with_id(*node)?))
        })?;
        for node in path {
            if let Some(label) = tree.label(node) {
                session.append(Body::Label {
                    target_id: tree.id(node).to_owned(),
                    label: Some(label.to_owned()),
                });
            }
        }
        Ok((session, problems))
    }
}

impl SessionView {
    /// The line of an entry with its end, and with the ids that its tree has where the line has
    /// others: of two entries with the same id, without one, without a parent that is there.
    fn line_with_id(&self, node: NodeId) -> io::Result<Vec<u8>> {
        let tree = self.tree();
        let parent = tree.node(node).parent.map(|parent| tree.id(parent));
        let mut bytes = self.bytes(node)?;
        if !reader::names(&bytes, tree.id(node), parent) {
            let mut entry: serde_json::Map<String, serde_json::Value> =
                serde_json::from_slice(&bytes)?;
            entry.insert("id".into(), tree.id(node).into());
            entry.insert("parentId".into(), parent.into());
            bytes = serde_json::to_vec(&entry)?;
        }
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// Where a branch that begins at an entry leaves, and the prompt that stands there: before a
    /// prompt of the user, behind anything else.
    pub fn fork_point(&self, node: NodeId) -> (Option<NodeId>, Option<Vec<Content>>) {
        let tree = self.tree();
        let body = self.entry(node).ok().and_then(|it| it.body);
        match body.as_ref().and_then(prompt_of) {
            Some(prompt) => (tree.node(node).parent, Some(prompt)),
            None => (Some(tree.behind_results(node)), None),
        }
    }
}

/// What the user typed, if the entry is a prompt.
pub fn prompt_of(body: &Body) -> Option<Vec<Content>> {
    match body {
        Body::Message { message } => match &**message {
            Message::User(user) if is_from_user(user.origin.as_deref()) => {
                Some(user.content.clone())
            }
            _ => None,
        },
        _ => None,
    }
}
