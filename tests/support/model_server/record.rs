//! What a client sent, and what happened to its connection.

use std::time::Instant;

use serde_json::Value;

use super::wire::Wire;

/// One request.
#[derive(Clone, Debug)]
pub struct Recorded {
    pub method: String,
    pub path: String,
    /// Names in lower case, in the order they came.
    pub headers: Vec<(String, String)>,
    /// `Null` if it wasn't JSON.
    pub body: Value,
    pub raw_body: Vec<u8>,
    /// None for a path that belongs to no wire.
    pub wire: Option<Wire>,
    /// When its first byte arrived.
    pub began: Instant,
    /// When its last byte arrived.
    pub at: Instant,
    /// The rule it broke, or a note that no reply was left.
    pub refused: Option<String>,
    /// When the client closed the connection, if the answer wasn't complete.
    pub hung_up: Option<Instant>,
    /// When the answer was complete.
    pub answered: Option<Instant>,
}

/// One message of a conversation, independent of the vendor.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    System(String),
    User(String),
    Assistant {
        text: String,
        thinking: String,
        /// Name and arguments.
        calls: Vec<(String, Value)>,
    },
    Result {
        id: String,
        text: String,
        images: usize,
        /// None where the wire can't tell.
        is_error: Option<bool>,
    },
}

impl Recorded {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    pub fn said(&self) -> Vec<Said> {
        self.wire
            .map(|wire| wire.said(&self.body))
            .unwrap_or_default()
    }

    /// The texts of the tool results, in order.
    pub fn results(&self) -> Vec<String> {
        self.said()
            .into_iter()
            .filter_map(|said| match said {
                Said::Result { text, .. } => Some(text),
                _ => None,
            })
            .collect()
    }

    /// The user's last text.
    pub fn last_user(&self) -> String {
        self.said()
            .into_iter()
            .rev()
            .find_map(|said| match said {
                Said::User(text) => Some(text),
                _ => None,
            })
            .unwrap_or_default()
    }

    /// The names of the offered tools.
    pub fn tools(&self) -> Vec<String> {
        let name = |tool: &Value| {
            let name = tool.get("name").or_else(|| tool.pointer("/function/name"));
            name.and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let tools = self.body["tools"].as_array().into_iter().flatten();
        tools
            .flat_map(|tool| match tool["functionDeclarations"].as_array() {
                Some(declarations) => declarations.iter().map(name).collect(),
                None => vec![name(tool)],
            })
            .collect()
    }

    /// The whole body as text, to check that it doesn't contain something.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.raw_body).into_owned()
    }
}
