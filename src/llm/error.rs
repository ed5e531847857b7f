//! Errors of models and their servers, as data: the class decides what happens next, the user reads the
//! message.

use std::fmt;

/// What to do about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// Worth trying again: 408, 409, 429, 5xx, a dropped or stalled connection.
    Retryable,
    /// The prompt is larger than the model's window: compact and retry.
    Overflow,
    /// One request exceeds what the provider allows per minute: ask for less output, or send less.
    Allowance,
    /// The model or a content filter refuses the content: ask another model, or rephrase.
    Refused,
    /// A missing, wrong or forbidden key: 401, 403.
    Auth,
    /// Quota or billing: waiting does not help.
    Quota,
    /// This model isn't usable: the provider doesn't have it, or its window is too small.
    NoModel,
    /// The provider refuses the thinking of earlier answers: retry without it.
    Thinking,
    /// The request or the configuration is wrong: 400, 404, and everything else.
    Client,
}

/// One failed request or stream.
#[derive(Clone, Debug, PartialEq)]
pub struct LlmError {
    /// The action to take.
    pub class: ErrorClass,
    /// What happened, for the user, with the provider's own message if it sent one.
    pub message: String,
    /// HTTP status, if there was a response.
    pub status: Option<u16>,
    /// How long the server asked us to wait, in milliseconds.
    pub retry_after_ms: Option<u64>,
    /// The server says that retrying this request won't help.
    pub retry_is_futile: bool,
    /// The next step for the user: an exact line to type or set.
    pub hint: Option<String>,
}

impl LlmError {
    /// An error of `class` with only a message.
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

    /// Adds the hint.
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
