//! Requests to an agent about the changes of its turns.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::history::Direction;
use super::preview::Preview;

/// A request. All are refused during a run.
#[derive(Debug)]
pub enum UndoCommand {
    /// Returns what the next undo or redo would change, if anything.
    Preview(Direction, oneshot::Sender<Result<Option<Preview>, String>>),
    /// Undoes or redoes this turn, which must be the next one.
    Go {
        /// The direction.
        direction: Direction,
        /// The turn's id.
        turn: String,
    },
    /// Returns the prompts of the conversation and what each changed.
    Prompts(oneshot::Sender<Result<Vec<RewindPoint>, String>>),
    /// Returns which files rewinding to before this prompt would change.
    PreviewRewind(RewindPoint, oneshot::Sender<Result<Preview, String>>),
    /// Rewinds to before this prompt.
    Rewind(RewindPoint, Rewind),
}

/// A prompt to rewind to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RewindPoint {
    /// The id of its entry in the session.
    pub entry: String,
    /// Its text.
    pub prompt: String,
    /// All turns of the conversation, oldest first.
    pub all_turns: Arc<[String]>,
    /// The first turn after this prompt.
    pub first: usize,
    /// The files it changed that are still changed.
    pub files: usize,
}

impl RewindPoint {
    /// The turns after this prompt, oldest first.
    pub fn turns(&self) -> &[String] {
        &self.all_turns[self.first..]
    }
}

/// The parts to rewind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rewind {
    /// Conversation and files.
    Both,
    /// Only the conversation.
    Conversation,
    /// Only the files.
    Files,
}
