//! What every run of an agent works with and nothing changes while the agent lives: the way to
//! models, the folders. What may change between turns is in `Turn`.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::link::{RunLink, Turn};
use crate::agent::event::{AgentEvent, NoticeLevel};
use crate::llm::{Model, Provider, Request, window_check};

/// The unchanging part of an agent.
pub(in crate::agent) struct RunEnv {
    /// The way to models.
    pub provider: Arc<dyn Provider>,
    /// The models that answer when the chosen one cannot, in order.
    pub fallback: Vec<Arc<Model>>,
    /// The folder the tools work in.
    pub cwd: PathBuf,
    /// Names the conversation for prompt caches: the session's id, if there is one.
    pub conversation_id: String,
    /// Where outputs that are too long for the model are kept, a file for each call.
    pub spill_dir: PathBuf,
    /// The models whose small window the user was warned of.
    pub warned: Mutex<HashSet<String>>,
}

impl RunEnv {
    /// The same for the runs of another session.
    pub fn for_session(&self, id: &str, spill_dir: PathBuf) -> Self {
        Self {
            provider: Arc::clone(&self.provider),
            fallback: self.fallback.clone(),
            cwd: self.cwd.clone(),
            conversation_id: id.to_owned(),
            spill_dir,
            warned: Mutex::default(),
        }
    }

    /// Says that the window of `model` is small, once.
    pub async fn warn_of_window(&self, link: &RunLink, model: &Model) {
        let Some(text) = window_check::warning(model) else {
            return;
        };
        let new = {
            let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
            warned.insert(model.full_id())
        };
        if new {
            let level = NoticeLevel::Warning;
            link.emit(AgentEvent::Notice { level, text }).await;
        }
    }

    /// The request that asks the model of `turn`.
    pub fn request(&self, turn: &Turn) -> Request {
        Request {
            model: (*turn.model).clone(),
            system: turn.prompt.system.clone(),
            messages: turn.messages.clone(),
            thinking_from: turn.prompt.thinking_from,
            tools: turn.prompt.tools.clone(),
            thinking: turn.thinking,
            max_output: None,
            session_id: Some(self.conversation_id.clone()),
        }
    }
}
