//! What a client sent, as it was sent, and what became of its connection.

use std::time::Instant;

use serde_json::Value;

use super::wire::Wire;

/// One request.
#[derive(Clone, Debug)]
pub struct Recorded {
    pub method: String,
    pub path: String,
    /// Names in lower case, in order.
    pub headers: Vec<(String, String)>,
    /// `Null` when it was not JSON.
    pub body: Value,
    pub raw_body: Vec<u8>,
    /// Absent for paths no wire knows.
    pub wire: Option<Wire>,
    /// When its first byte had arrived.
    pub began: Instant,
    /// When its last byte had arrived.
    pub at: Instant,
    /// The rule it broke, or that no reply was left.
    pub refused: Option<String>,
    /// When the client closed the connection before the answer was whole.
    pub hung_up: Option<Instant>,
    /// When the answer was whole.
    pub answered: Option<Instant>,
}

/// One message of a conversation, in no vendor's form.
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
        /// Where the wire can say so.
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

    /// What the user said last.
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

    /// The names of the tools on offer.
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

    /// Everything the body holds, for looking for what must not be in it.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.raw_body).into_owned()
    }
}
