//! What the model reads of the conversation. It stands in the session, so it is held only while a run
//! needs it: read when one begins, let go of where none goes on and it is large.

use std::sync::Arc;

use crate::agent::memory::SessionPrompts;
use crate::agent::runner::Folders;
use crate::agent::session::{History, NodeId, Place, Session};
use crate::llm::{Message, ToolResultMessage};

/// Bytes of entries that are held while nothing runs: so much is read again unnoticed.
const HELD: u64 = 1024 * 1024;

#[derive(Debug, Default)]
pub(super) struct View {
    /// None while nobody has read it.
    history: Option<History>,
    /// The prompts were read with it before, and what they say has been kept up to date since.
    knows_prompts: bool,
    /// The folders that its tools have looked into.
    folders: Folders,
    /// How many entries there were when those of its calls were last looked for.
    looked_to: usize,
}

impl View {
    /// The conversation, read from `session` where that is still to be done.
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

    /// The messages since the last time, with the calls of which a run has to look into folders, and
    /// those folders.
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

    /// Takes in a message that was stored at `node`. Where nobody has read the others, it is read with
    /// them.
    pub fn push(&mut self, node: NodeId, message: &Arc<Message>, session: &Session) {
        let Some(history) = &mut self.history else {
            return;
        };
        let mut message = Arc::clone(message);
        if session.path().is_some()
            && let Message::ToolResult(result) = &*message
            && result.details.is_some()
        {
            // No model reads them, and the screen reads them from the file.
            message = Arc::new(Message::ToolResult(ToolResultMessage {
                details: None,
                ..result.clone()
            }));
        }
        history.push(node, message);
    }

    /// Lets go of a conversation that is large, and all in the file of `session`.
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
