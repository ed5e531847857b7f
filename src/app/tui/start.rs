//! The first steps of the screen.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::agent::session::{HistoryFacts, SessionBranch};
use crate::app::sessions::{Recent, Refused};
use crate::llm::Content;

/// Actions and notices for the start.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// A prompt to send at once, or empty.
    pub prompt: Vec<Content>,
    /// The demo's prompt, and when to send it unless the user types (Unix ms).
    pub demo: Option<(String, i64)>,
    /// Whether the user asked for the demo.
    pub demo_asked: bool,
    /// The resumed conversation, for the user and for the model.
    pub history: (Arc<SessionBranch>, HistoryFacts),
    /// Whether to open the session list.
    pub resume: bool,
    /// The session that couldn't be opened: ask how to continue.
    pub refused: Option<Refused>,
    /// Whether the project has something to trust and the user hasn't decided yet.
    pub asks_trust: bool,
    /// The session that Enter on the empty editor resumes, while this one is empty.
    pub recent: Option<Recent>,
    /// The provider of the start model, if its key is missing.
    pub no_key: Option<String>,
    /// Whether the start model is one that the user never chose, so that nothing may go to it.
    pub must_choose: bool,
    /// Notices, shown on the empty screen, then in the transcript.
    pub notices: Vec<String>,
    /// The number of this screen among the agent's front ends; 0 for the program's own.
    pub client: u64,
    /// Unsent text in another session.
    pub draft_elsewhere: Option<DraftElsewhere>,
}

/// Unsent text in a session other than the open one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DraftElsewhere {
    pub session: PathBuf,
    pub notice: String,
}

impl Start {
    /// The notices besides the offered session, while this session is empty.
    pub fn notices(&self) -> impl Iterator<Item = &str> {
        let notices = self.notices.iter().map(String::as_str);
        let elsewhere = self.draft_elsewhere.iter().filter(|it| !self.offers(it));
        notices.chain(elsewhere.map(|it| it.notice.as_str()))
    }

    /// Whether the offered session has unsent text.
    pub fn offers_draft(&self) -> bool {
        let elsewhere = self.draft_elsewhere.as_ref();
        elsewhere.is_some_and(|it| self.offers(it))
    }

    fn offers(&self, draft: &DraftElsewhere) -> bool {
        let recent = self.recent.as_ref();
        recent.is_some_and(|recent| recent.session.path == draft.session)
    }

    /// The notices to show once in the session in this file, except about its own draft.
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
