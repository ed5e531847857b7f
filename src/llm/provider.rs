//! The one way to a model: a request in, a stream of events out.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use futures_util::stream::BoxStream;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::event::StreamEvent;
use super::message::Message;
use super::model::{Model, ThinkingLevel};

/// Turns a [`Request`] into a stream of [`StreamEvent`].
///
/// Owns no conversation. Never panics and never fails outside the stream: a failure is the
/// stream's last event, [`StreamEvent::Error`]. A stream ends with exactly one `Done` or `Error`.
/// Dropping the stream cancels the request and closes its socket.
pub trait Provider: Send + Sync {
    /// Starts the request. Returns at once; polling the stream does the work.
    fn stream(&self, request: Request) -> BoxStream<'static, StreamEvent>;

    /// Prepares a request to `model`: opens the connection and reads the key, while the user types. Best
    /// effort; the default does nothing.
    fn warm(&self, model: &Model) {
        let _ = model;
    }

    /// The window in tokens that the server loaded `model` with, for a model with an estimate. `None` if
    /// the window is already known or the server doesn't say.
    fn loaded_window(&self, model: &Model) -> BoxFuture<'static, Option<u64>> {
        let _ = model;
        ready(None).boxed()
    }
}

/// Everything one model call needs.
#[derive(Clone, Debug)]
pub struct Request {
    /// Which model, and where.
    pub model: Model,
    /// The system prompt.
    pub system: String,
    /// The conversation as stored, including failed and aborted messages and other models' thinking.
    /// Each API makes it valid through `handoff`.
    pub messages: Vec<Arc<Message>>,
    /// Leaves out thinking in messages before this index: it belongs to another prompt or tools.
    pub thinking_from: usize,
    /// The tools the model may call.
    pub tools: Vec<ToolSpec>,
    /// How hard to think.
    pub thinking: ThinkingLevel,
    /// Most tokens to produce, if set.
    pub max_output: Option<u64>,
    /// A stable id of the conversation, for prompt caches.
    pub session_id: Option<String>,
}

impl Request {
    /// The system prompt, if it is not blank.
    pub fn system_prompt(&self) -> Option<&str> {
        Some(self.system.as_str()).filter(|system| !system.trim().is_empty())
    }

    /// The session id as a `prompt_cache_key`, which is limited to 64 characters.
    pub fn cache_key(&self) -> Option<String> {
        let id = self.session_id.as_ref()?;
        Some(id.chars().take(64).collect())
    }
}

/// A tool as the model sees it. Its serde form is stored in sessions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// The name the model calls.
    pub name: String,
    /// Its purpose and how to use it.
    pub description: String,
    /// JSON schema of the arguments: an object without top-level `anyOf`.
    pub parameters: Value,
    /// The format of its one argument, for models with custom tools. Others get `parameters`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom: Option<CustomFormat>,
}

/// The free text a custom tool takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomFormat {
    /// `lark` or `regex`, as OpenAI names them.
    pub syntax: String,
    /// The grammar in that syntax.
    pub definition: String,
}
