//! The script's TOML format. `play` plays it.

use serde::Deserialize;
use serde_json::{Map, Value};

/// A whole script. The format is on the page of [`scripted`](super).
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Script {
    /// The message that starts the show.
    pub prompt: String,
    /// Milliseconds before each piece of text.
    pub text_ms: u64,
    /// Milliseconds before each piece of thinking.
    pub thinking_ms: u64,
    /// Milliseconds before each piece of a call's arguments.
    pub arguments_ms: u64,
    /// The project to play the script in.
    #[serde(rename = "file")]
    pub files: Vec<File>,
    /// The responses in sequence, one for each model call.
    #[serde(rename = "reply")]
    pub replies: Vec<Reply>,
    /// The responses to messages that aren't in the script.
    #[serde(rename = "on_message")]
    pub message_replies: Vec<MessageReply>,
}

/// One file of the script's project.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Relative to the project's folder.
    pub path: String,
    pub text: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    pub steps: Vec<ReplyStep>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MessageReply {
    /// The message must contain one of these words, in any case. An empty list matches any message.
    #[serde(default)]
    pub when: Vec<String>,
    /// In order. `{message}` in a text stands for the first line of the message.
    pub steps: Vec<ReplyStep>,
}

/// One step of a response.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum ReplyStep {
    /// A block of reasoning: `{ thinking = "..." }`.
    Thinking {
        /// The thought.
        thinking: String,
    },
    /// A block of text: `{ text = "..." }`.
    Text {
        /// The text.
        text: String,
    },
    /// A tool call: `{ call = "grep", args = { pattern = "x" } }`.
    Call {
        /// The tool.
        call: String,
        /// Its arguments.
        #[serde(default)]
        args: Map<String, Value>,
    },
    /// Silence: `{ pause_ms = 300 }`.
    Pause {
        /// In milliseconds.
        pause_ms: u64,
    },
}

impl Script {
    /// Parses a script. The error says where it is wrong.
    pub fn parse(toml: &str) -> Result<Self, String> {
        toml::from_str(toml).map_err(|error| error.to_string())
    }

    /// The first response that matches `message`.
    pub fn reply_to(&self, message: &str) -> Option<&MessageReply> {
        let message = message.to_lowercase();
        let contained = |word: &String| message.contains(&word.to_lowercase());
        let mut replies = self.message_replies.iter();
        replies.find(|reply| reply.when.is_empty() || reply.when.iter().any(contained))
    }
}
