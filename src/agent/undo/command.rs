//! What an agent can be asked about the changes of its turns.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::history::Direction;
use super::preview::Preview;

/// What can be asked. Everything is refused while a run is under way.
#[derive(Debug)]
pub enum UndoCommand {
    /// Answers with what the next undo or redo would change; none where there is nothing.
    Preview(Direction, oneshot::Sender<Result<Option<Preview>, String>>),
    /// Undoes or redoes this turn, which must be the next one.
    Go {
        /// Which way.
        direction: Direction,
        /// The id of the turn.
        turn: String,
    },
    /// Answers with the prompts of the conversation and what each of them has changed.
    Prompts(oneshot::Sender<Result<Vec<RewindPoint>, String>>),
    /// Answers with what going back to before this prompt would change in files.
    PreviewRewind(RewindPoint, oneshot::Sender<Result<Preview, String>>),
    /// Goes back to before this prompt.
    Rewind(RewindPoint, Rewind),
}

/// A prompt that can be gone back to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RewindPoint {
    /// The id of its entry in the session.
    pub entry: String,
    /// What the user said.
    pub prompt: String,
    /// All turns of the conversation, the oldest first.
    pub all_turns: Arc<[String]>,
    /// Which of them is the first from this prompt on.
    pub first: usize,
    /// The files that it has changed and that are still changed.
    pub files: usize,
}

impl RewindPoint {
    /// The turns from this prompt on, the oldest first.
    pub fn turns(&self) -> &[String] {
        &self.all_turns[self.first..]
    }
}

/// What goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rewind {
    /// Conversation and files.
    Both,
    /// The conversation alone.
    Conversation,
    /// The files alone.
    Files,
}
