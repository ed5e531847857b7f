//! The APIs of model providers.

use serde::{Deserialize, Serialize};

/// The API that a model's server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Api {
    /// Anthropic Messages.
    #[serde(rename = "anthropic-messages")]
    AnthropicMessages,
    /// OpenAI Chat Completions and everything compatible with it.
    #[serde(rename = "openai-chat")]
    OpenAiChat,
    /// OpenAI Responses.
    #[serde(rename = "openai-responses")]
    OpenAiResponses,
    /// Google generateContent.
    #[serde(rename = "google-generate-content")]
    GoogleGenerateContent,
    /// No API: a script played by `scripted`.
    #[serde(rename = "scripted")]
    Scripted,
}

impl Api {
    /// The name used in settings and session files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AnthropicMessages => "anthropic-messages",
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::GoogleGenerateContent => "google-generate-content",
            Self::Scripted => "scripted",
        }
    }
}
