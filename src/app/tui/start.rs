//! What waits for the start of the screen.

use std::path::{Path, PathBuf};
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
    /// Unsent text that waits in another session.
    pub draft_elsewhere: Option<DraftElsewhere>,
}

/// Unsent text that waits in another session than the one that is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DraftElsewhere {
    pub session: PathBuf,
    pub notice: String,
}

impl Start {
    /// What the user should read besides the session that is offered, while this one is empty.
    pub fn notices(&self) -> impl Iterator<Item = &str> {
        let notices = self.notices.iter().map(String::as_str);
        let elsewhere = self.draft_elsewhere.iter().filter(|it| !self.offers(it));
        notices.chain(elsewhere.map(|it| it.notice.as_str()))
    }

    /// Whether the session that is offered has unsent text.
    pub fn offers_draft(&self) -> bool {
        let elsewhere = self.draft_elsewhere.as_ref();
        elsewhere.is_some_and(|it| self.offers(it))
    }

    fn offers(&self, draft: &DraftElsewhere) -> bool {
        let recent = self.recent.as_ref();
        recent.is_some_and(|recent| recent.session.path == draft.session)
    }

    /// The same, to be told once in the session in this file: not what waits in itself.
    pub fn told_in(&self, session: Option<&Path>) -> Vec<String> {
        let elsewhere = self.draft_elsewhere.iter();
        let elsewhere = elsewhere.filter(|it| Some(it.session.as_path()) != session);
        let notices = self.notices.iter().cloned();
        notices
            .chain(elsewhere.map(|it| it.notice.clone()))
            .collect()
    }

    pub(crate) fn forget_notices(&mut self) {
        self.notices.clear();
        self.draft_elsewhere = None;
    }
}
