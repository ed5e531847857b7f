//! What waits for the start of the screen.

use std::sync::Arc;

use crate::agent::session::{HistoryFacts, SessionBranch};
use crate::app::sessions::{Recent, Refused};
use crate::llm::Content;

/// What happens by itself at the start.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// A prompt that is sent at once; empty when there is none.
    pub prompt: Vec<Content>,
    /// The prompt of a demonstration, and when it is sent unless the user types first (Unix ms; 0
    /// until the first frame is drawn).
    pub demo: Option<(String, i64)>,
    /// Whether the user asked for the demonstration.
    pub demo_asked: bool,
    /// The conversation so far, of a session that goes on, as the user and as a model reads it.
    pub history: (Arc<SessionBranch>, HistoryFacts),
    /// Whether the list of sessions is opened.
    pub resume: bool,
    /// The session that was asked for and not opened: how to go on is asked.
    pub refused: Option<Refused>,
    /// Whether the user has not said yet if the project is trusted, and it brings something along.
    pub asks_trust: bool,
    /// The session that Enter on the empty editor goes on with, while nothing is said.
    pub recent: Option<Recent>,
    /// The provider of the model that is started with, where its key is missing.
    pub no_key: Option<String>,
    /// What the user should read; shown on the empty screen, then part of the transcript.
    pub notices: Vec<String>,
}
