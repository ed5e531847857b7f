//! The actor's view of its session: there may be none, and a disk that refuses is reported once,
//! not with every message, while the run goes on in memory. Also says to other programs what the
//! session is doing.

use serde_json::{Value, json};

use super::SessionLog;
use super::live::{Presence, PresenceRecord, SessionState};
use crate::agent::event::{AgentEvent, NoticeLevel, Phase, RunOutcome, RunState, now_ms};
use crate::agent::memory::SessionPrompt;
use crate::llm::{Message, Model, ThinkingLevel};

/// What the user should read about the session file.
pub(in crate::agent) type SaveNotice = Option<(NoticeLevel, String)>;

/// A session, or none.
#[derive(Debug)]
pub(in crate::agent) struct Journal {
    log: Option<SessionLog>,
    /// There as long as other programs can see the session.
    live: Option<Presence>,
    id: String,
    model: Option<(String, String)>,
    thinking: Option<ThinkingLevel>,
    failing: bool,
}

impl Journal {
    /// A journal into `log` that begins with `model` and `thinking`.
    pub fn new(log: Option<SessionLog>, model: &Model, thinking: ThinkingLevel) -> Self {
        let id = match &log {
            Some(log) => log.id().to_owned(),
            None => uuid::Uuid::now_v7().to_string(),
        };
        let mut journal = Self {
            log,
            live: None,
            id,
            model: None,
            thinking: None,
            failing: false,
        };
        // Nothing is written before the first message, so nothing can fail yet.
        let _ = journal.model(model, thinking);
        journal
    }

    /// Lets other programs see the session, which will call `model` next.
    pub fn appear(&mut self, model: &Model) {
        let Some(log) = &self.log else { return };
        let record = PresenceRecord {
            id: self.id.clone(),
            state: SessionState::Idle,
            since: now_ms(),
            pid: std::process::id(),
            cwd: log.header().cwd().to_owned(),
            model: model.full_id(),
            path: log.path().to_owned(),
        };
        match Presence::open(log.root(), record) {
            Ok(live) => self.live = Some(live),
            Err(error) => tracing::warn!("other programs cannot see this session: {error}"),
        }
    }

    /// Shows what the agent is doing.
    pub fn show(&mut self, state: &RunState) {
        self.show_state(match state {
            RunState::Running {
                phase: Phase::Asking,
            } => SessionState::AwaitingInput,
            RunState::Running { .. } => SessionState::Processing,
            RunState::Idle | RunState::Stopping { .. } => SessionState::Idle,
        });
    }

    /// Shows that a run stands still until the user lets it go on.
    pub fn show_waiting(&mut self) {
        self.show_state(SessionState::AwaitingInput);
    }

    fn show_state(&mut self, state: SessionState) {
        match &mut self.live {
            Some(live) if live.record().state != state => report(live.show(|record| {
                record.state = state;
                record.since = now_ms();
            })),
            _ => {}
        }
    }

    /// Names the conversation, stored or not.
    pub fn id(&self) -> String {
        self.id.clone()
    }

    /// Stores a message.
    pub fn message(&mut self, message: &Message) -> SaveNotice {
        let written = self.log.as_mut().map(|log| log.message(message));
        self.judge(written)
    }

    /// Stores what the requests begin with from here on.
    pub fn prompt(&mut self, prompt: &SessionPrompt) -> SaveNotice {
        // Plain data cannot fail to serialise.
        let data = serde_json::to_value(prompt).unwrap_or_default();
        let written = self
            .log
            .as_mut()
            .map(|log| log.custom("tiller.prompt", data));
        self.judge(written)
    }

    /// Stores what an event says about how the run went; most say nothing of it.
    pub fn event(&mut self, event: &AgentEvent) -> SaveNotice {
        let data = lifecycle(event)?;
        let written = self
            .log
            .as_mut()
            .map(|log| log.custom("tiller.event", data));
        self.judge(written)
    }

    /// Stores the model and thinking level from here on, as far as they are new.
    pub fn model(&mut self, model: &Model, thinking: ThinkingLevel) -> SaveNotice {
        if let Some(live) = &mut self.live {
            report(live.show(|record| record.model = model.full_id()));
        }
        let log = self.log.as_mut()?;
        let mut written = Ok(());
        let named = Some((model.provider.clone(), model.id.clone()));
        if self.model != named {
            written = log.model_change(&model.provider, &model.id);
            self.model = named;
        }
        if self.thinking != Some(thinking) {
            written = written.and(log.thinking_level_change(thinking));
            self.thinking = Some(thinking);
        }
        self.judge(Some(written))
    }

    /// Returns when everything is on disk, or cannot be. From then on the session is closed.
    pub async fn close(&mut self) -> SaveNotice {
        self.live = None;
        let log = self.log.as_mut()?;
        let error = log.close().await.err()?;
        let path = log.path().display();
        let text = format!("The end of the session could not be saved to {path}: {error}");
        tracing::error!("{text}");
        Some((NoticeLevel::Error, text))
    }

    fn judge(&mut self, written: Option<std::io::Result<()>>) -> SaveNotice {
        let log = self.log.as_ref()?;
        match written? {
            Err(error) if !self.failing => {
                self.failing = true;
                let path = log.path().display();
                let text = format!(
                    "The session cannot be saved to {path}: {error}. The conversation goes on in memory; make room or fix the folder, and it is saved with the next message."
                );
                tracing::error!("{text}");
                Some((NoticeLevel::Error, text))
            }
            Ok(()) if self.failing && !log.is_behind() => {
                self.failing = false;
                let text = String::from("The session is saved again; nothing is missing from it.");
                Some((NoticeLevel::Info, text))
            }
            _ => log.take_sync_error().map(|error| {
                let path = log.path().display();
                let text = format!(
                    "The session file {path} could not be synced to the disk: {error}. A power cut may lose the end of the session."
                );
                tracing::error!("{text}");
                (NoticeLevel::Error, text)
            }),
        }
    }
}

fn report(shown: std::io::Result<()>) {
    if let Err(error) = shown {
        tracing::warn!("other programs see an old state of this session: {error}");
    }
}

/// The record of an event that belongs to the story of a run (E4).
fn lifecycle(event: &AgentEvent) -> Option<Value> {
    Some(match event {
        AgentEvent::RetryStart {
            attempt,
            max_attempts,
            delay_ms,
            error,
        } => json!({
            "event": "retry",
            "attempt": attempt,
            "maxAttempts": max_attempts,
            "delayMs": delay_ms,
            "errorMessage": error,
        }),
        AgentEvent::AgentEnd {
            outcome: RunOutcome::Failed { message },
            ..
        } => json!({ "event": "error", "errorMessage": message }),
        _ => return None,
    })
}
