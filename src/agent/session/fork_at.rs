//! A new session from one path of another: the lines on the way to an entry, byte for byte, and the
//! labels of their entries. The other one stays as it is.

use std::io::{self, Write};
use std::path::Path;

use super::entry::{Body, Header, Kind, VERSION};
use super::folder::{file_name, folder_for, make_private};
use super::outputs::share_outputs;
use super::reader;
use super::snapshot::Entries;
use super::store::{OpenError, Session, line};
use super::tree::NodeId;
use super::view::SessionView;
use crate::agent::event::is_from_user;
use crate::llm::{Content, Message, Usage};

impl Session {
    /// Opens a new session for the working directory `cwd` with what stands in the session file
    /// `source` on the way to `leaf`, and says what was passed over. Where no prompt stands there it
    /// is an empty one.
    ///
    /// # Errors
    /// The other one is of a newer version, or of one without ids; it cannot be read, or the new one
    /// not be written.
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
        let header = Header::copy_of(source.path(), cwd, usage);
        let file = folder_for(root, cwd).join(file_name(&header.timestamp, &header.id));
        let folder = file.parent().unwrap_or(root);
        make_private(folder)?;
        let mut copy = tempfile::Builder::new()
            .prefix(".fork-")
            .tempfile_in(folder)?;
        copy.write_all(&line(&header))?;
        for node in &path {
            copy.write_all(&source.line_with_id(*node)?)?;
        }
        copy.as_file().sync_data()?;
        copy.persist_noclobber(&file).map_err(|error| error.error)?;
        let apart = share_outputs(source.path(), &file);
        let (mut session, mut problems) = Self::open(root, &file)?;
        problems.extend(apart);
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
        let body = Entries::entry(self, node).ok().and_then(|it| it.body);
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
