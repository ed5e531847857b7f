//! The wires the server speaks. To add one, add a variant here, a folder next to this file, and a
//! line in each `match`.

use serde_json::Value;

use super::failure::Failure;
use super::record::{Recorded, Said};
use super::script::Usage;
use super::{anthropic, chat, google, responses};

/// One protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    Anthropic,
    Chat,
    Responses,
    Google,
}

/// A broken rule, in the vendor's words.
pub(super) type Broken = (u16, String);

/// Writes one streamed response. Each function returns the bytes of its events.
pub(super) trait Render: Send {
    fn begin(&mut self, usage: Usage) -> String;
    fn thinking(&mut self, piece: &str) -> String;
    fn redacted(&mut self, data: &str) -> String;
    fn text(&mut self, piece: &str) -> String;
    fn call(&mut self, id: &str, name: &str) -> String;
    /// The argument text to send on this wire.
    fn argument_text(&self, _name: &str, arguments: &str) -> String {
        arguments.to_owned()
    }
    fn arguments(&mut self, piece: &str) -> String;
    /// Closes the open block, if any. A thinking block gets `signature`.
    fn close(&mut self, signature: Option<&str>) -> String;
    fn error(&mut self, failure: Failure, message: Option<&str>) -> String;
    fn end(&mut self, stop: &str, usage: Usage) -> String;
}

impl Wire {
    pub const ALL: [Self; 4] = [Self::Anthropic, Self::Chat, Self::Responses, Self::Google];

    /// The wire a path belongs to.
    pub fn of_path(path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or(path);
        match path {
            "/v1/messages" => Some(Self::Anthropic),
            "/chat/completions" | "/v1/chat/completions" => Some(Self::Chat),
            "/responses" | "/v1/responses" => Some(Self::Responses),
            _ => google::model_of(path).map(|_| Self::Google),
        }
    }

    /// The API's name in the settings.
    pub fn api(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic-messages",
            Self::Chat => "openai-chat",
            Self::Responses => "openai-responses",
            Self::Google => "google-generate-content",
        }
    }

    pub(super) fn render(self, request: &Recorded) -> Box<dyn Render> {
        match self {
            Self::Anthropic => Box::new(anthropic::Stream::new(request)),
            Self::Chat => Box::new(chat::Stream::new(request)),
            Self::Responses => Box::new(responses::Stream::new(request)),
            Self::Google => Box::new(google::Stream::new(request)),
        }
    }

    /// Checks a request against the vendor's rules. `issued` tells whether this server issued a
    /// thinking signature for exactly that text.
    pub(super) fn check(
        self,
        request: &Recorded,
        issued: &dyn Fn(&str, &str) -> bool,
    ) -> Result<(), Broken> {
        match self {
            Self::Anthropic => anthropic::check(request, issued),
            Self::Chat => chat::check(request),
            Self::Responses => responses::check(request, issued),
            // Google's rules need no list of signatures: each one is a hash of what it signs.
            Self::Google => google::check(request),
        }
    }

    /// Status and body of an error response.
    pub(super) fn error_body(self, failure: Failure, message: Option<&str>) -> (u16, String) {
        match self {
            Self::Anthropic => anthropic::error_body(failure, message),
            Self::Chat => chat::error_body(failure, message),
            Self::Responses => responses::error_body(failure, message),
            Self::Google => google::error_body(failure, message),
        }
    }

    /// The body of a rejection: `kind` by status, with this message.
    pub(super) fn refusal(self, status: u16, message: &str) -> String {
        let failure = match status {
            401 => Failure::Auth,
            404 => Failure::NotFound,
            _ => Failure::Invalid,
        };
        self.error_body(failure, Some(message)).1
    }

    /// The conversation in a request, independent of the vendor.
    pub(super) fn said(self, body: &Value) -> Vec<Said> {
        match self {
            Self::Anthropic => anthropic::said(body),
            Self::Chat => chat::said(body),
            Self::Responses => responses::said(body),
            Self::Google => google::said(body),
        }
    }

    /// The id of a call if the script gives none.
    pub(super) fn call_id(self, request: usize, call: usize) -> String {
        match self {
            Self::Anthropic => format!("toolu_{request:02}_{call:02}ABCdefGHIjkl"),
            Self::Chat | Self::Responses => format!("call_{request:02}_{call:02}ABCdefGHIjkl"),
            Self::Google => format!("{request:02}{call:02}qz8k"),
        }
    }
}

impl Wire {
    /// A model that tiller reaches over this wire with the environment of `ModelServer::env`.
    pub fn model(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic/claude-sonnet-5-5",
            Self::Chat => "groq/scripted",
            Self::Responses => "openai/gpt-scripted",
            Self::Google => "google/gemini-3.8-flash",
        }
    }
}
