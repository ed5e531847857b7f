//! The actor's view of its session: there may be none, and a disk that refuses is reported once,
//! not with every message, while the run goes on in memory.

use super::SessionLog;
use crate::agent::event::NoticeLevel;
use crate::llm::{Message, Model, ThinkingLevel};

/// Something to tell the person about the session file.
type Trouble = Option<(NoticeLevel, String)>;

/// A session, or none.
#[derive(Debug)]
pub(in crate::agent) struct Journal {
    log: Option<SessionLog>,
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
            id,
            model: None,
            thinking: None,
            failing: false,
        };
        // Nothing is written before the first message, so nothing can fail yet.
        let _ = journal.model(model, thinking);
        journal
    }

    /// Names the conversation, stored or not.
    pub fn id(&self) -> String {
        self.id.clone()
    }

    /// Stores a message.
    pub fn message(&mut self, message: &Message) -> Trouble {
        let written = self.log.as_mut().map(|log| log.message(message));
        self.judge(written)
    }

    /// Stores the model and thinking level from here on, as far as they are new.
    pub fn model(&mut self, model: &Model, thinking: ThinkingLevel) -> Trouble {
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

    /// Returns when everything is on disk, or cannot be.
    pub async fn close(&mut self) {
        if let Some(log) = &mut self.log
            && let Err(error) = log.close().await
        {
            tracing::error!("session {} not saved: {error}", log.path().display());
        }
    }

    fn judge(&mut self, written: Option<std::io::Result<()>>) -> Trouble {
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
            _ => None,
        }
    }
}
