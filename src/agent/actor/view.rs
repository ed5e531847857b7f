//! The part of the conversation that the model reads. It can be loaded from the session, so it is in
//! memory only while a run needs it: a large one is freed when no run is active.

use std::sync::Arc;

use crate::memory::SessionPrompts;
use crate::runner::Folders;
use crate::session::{History, NodeId, Place, Session};
use tiller_llm::{Message, ToolResultMessage};

/// Bytes of entries that stay in memory while idle. Rereading this much isn't noticeable.
const HELD: u64 = 1024 * 1024;

#[derive(Debug, Default)]
pub(super) struct View {
    /// `None` until it is read.
    history: Option<History>,
    /// `true` if the prompts were read with it before; they have been kept up to date since.
    knows_prompts: bool,
    /// The folders that its tools have looked into.
    folders: Folders,
    /// Number of entries when their calls were last examined.
    looked_to: usize,
}

impl View {
    /// Returns the conversation, reading it from `session` if needed.
    pub fn read(&mut self, session: &Session, prompts: &mut SessionPrompts) -> &mut History {
        let knows_prompts = std::mem::replace(&mut self.knows_prompts, true);
        self.history.get_or_insert_with(|| {
            let mut history = session.history();
            let stored = std::mem::take(&mut history.prompts);
            if !knows_prompts {
                prompts.restore(stored, &history.messages);
            }
            history
        })
    }

    /// Returns the messages since the last time, and the folders so far.
    pub fn look_at(
        &mut self,
        session: &Session,
        prompts: &mut SessionPrompts,
    ) -> (Vec<Arc<Message>>, Folders) {
        let looked_to = std::mem::replace(&mut self.looked_to, session.tree().nodes().len());
        let history = self.read(session, prompts);
        let messages = history.nodes.iter().zip(&history.messages);
        let since = messages.filter(|(node, _)| node.index() >= looked_to);
        let since = since.map(|(_, message)| Arc::clone(message)).collect();
        (since, Arc::clone(&self.folders))
    }

    /// Adds a message stored at `node`. If the conversation isn't loaded, it will be read with the rest.
    pub fn push(&mut self, node: NodeId, message: &Arc<Message>, session: &Session) {
        let Some(history) = &mut self.history else {
            return;
        };
        let mut message = Arc::clone(message);
        if session.path().is_some()
            && let Message::ToolResult(result) = &*message
            && result.details.is_some()
        {
            // The model doesn't read them, and the screen reads them from the file.
            message = Arc::new(Message::ToolResult(ToolResultMessage {
                details: None,
                ..result.clone()
            }));
        }
        history.push(node, message);
    }

    /// Frees a large conversation if all of it is in the file of `session`.
    pub fn rest(&mut self, session: &Session) {
        let nodes = self.history.iter().flat_map(|history| &history.nodes);
        let bytes = nodes.map(|node| match session.tree().node(*node).place {
            Place::File { length, .. } => Some(u64::from(length)),
            Place::Memory(_) => None,
        });
        if bytes.sum::<Option<u64>>().is_some_and(|bytes| bytes > HELD) {
            self.history = None;
        }
    }
}
