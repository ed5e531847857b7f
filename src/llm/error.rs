//! What can go wrong between us and a model, as data: the class decides what happens next, the
//! message is what the user reads.

use std::fmt;

/// What an error calls for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// Worth trying again: 408, 409, 429, 5xx, a dropped or stalled connection.
    Retryable,
    /// The prompt is larger than the model's window: compact, then try again.
    Overflow,
    /// More than the provider allows in a minute, in one request: ask for less output, or send less.
    Allowance,
    /// The model or a content filter refuses what was said: ask another model, or say it differently.
    Refused,
    /// A missing, wrong or forbidden key: 401, 403.
    Auth,
    /// Quota or billing: waiting does not help.
    Quota,
    /// This model cannot be used: the provider does not know it, or its window is too small.
    NoModel,
    /// The provider refuses thinking of earlier answers: ask without it.
    Thinking,
    /// The request or the configuration is wrong: 400, 404, and everything else.
    Client,
}

/// One failed request or stream.
#[derive(Clone, Debug, PartialEq)]
pub struct LlmError {
    /// What it calls for.
    pub class: ErrorClass,
    /// What happened, in words a user can act on; the provider's own message where it sent one.
    pub message: String,
    /// HTTP status, when a response came.
    pub status: Option<u16>,
    /// How long the server asked us to wait, in milliseconds.
    pub retry_after_ms: Option<u64>,
    /// The server says that a retry of this request does not help.
    pub retry_is_futile: bool,
    /// The way out: an exact line to type or set.
    pub hint: Option<String>,
}

impl LlmError {
    /// An error of `class` with nothing but a message.
    pub fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        Self {
            class,
            message: message.into(),
            status: None,
            retry_after_ms: None,
            retry_is_futile: false,
            hint: None,
        }
    }

    /// The same error with the way out.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for LlmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(hint) = &self.hint {
            write!(f, "\n{hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for LlmError {}
