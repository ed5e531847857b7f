//! Creates a session from one path of another: the original lines up to an entry, and their labels.
//! The original stays unchanged.

use std::io::{self, Write};
use std::path::Path;

use super::entry::{Body, Kind, VERSION};
use super::reader;
use super::store::{OpenError, Session};
use super::tree::NodeId;
use super::view::SessionView;
use crate::event::is_from_user;
use tiller_llm::{Content, Message, Usage};

impl Session {
    /// Creates a session for the working folder `cwd` with the entries of `source` up to `leaf`.
    /// Also returns what was skipped. The session is empty if that path has no prompt.
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
    /// An entry's line with its newline. Replaces its ids if they differ from the tree's, as for
    /// duplicate ids, missing ids and unknown parents.
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

    /// Where a branch starting at an entry continues from, and that entry's prompt: before a user
    /// prompt, after anything else.
    pub fn fork_point(&self, node: NodeId) -> (Option<NodeId>, Option<Vec<Content>>) {
        let tree = self.tree();
        let body = self.entry(node).ok().and_then(|it| it.body);
        match body.as_ref().and_then(prompt_of) {
            Some(prompt) => (tree.node(node).parent, Some(prompt)),
            None => (Some(tree.behind_results(node)), None),
        }
    }
}

/// The user's text, if the entry is a prompt.
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
