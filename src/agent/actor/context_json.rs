//! The JSON of a context: what its views say, written out. Read back, a message stands once again.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use super::context::{Bounds, Context};
use crate::llm::{Message, ToolCall};

impl Serialize for Context {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct View<'a> {
            iterations: Vec<IterationView<'a>>,
            current_iteration: u32,
            created_at: Timestamp,
            updated_at: Timestamp,
        }
        #[derive(Serialize)]
        struct IterationView<'a> {
            number: u32,
            messages: Vec<Said<'a>>,
            tool_calls: Vec<&'a ToolCall>,
            started_at: Timestamp,
            completed_at: Option<Timestamp>,
            metadata: &'a Map<String, Value>,
        }
        #[derive(Serialize)]
        #[serde(untagged)]
        enum Said<'a> {
            System { role: &'a str, content: &'a str },
            Message(&'a Message),
        }
        let iterations = self.iterations().map(|iteration| {
            let role = "system";
            let system = iteration
                .system
                .map(|content| Said::System { role, content });
            let messages = iteration
                .messages
                .iter()
                .map(|message| Said::Message(message));
            IterationView {
                number: iteration.number,
                messages: system.into_iter().chain(messages).collect(),
                tool_calls: iteration.tool_calls().collect(),
                started_at: iteration.started_at,
                completed_at: iteration.completed_at,
                metadata: iteration.metadata,
            }
        });
        View {
            iterations: iterations.collect(),
            current_iteration: self.current_iteration(),
            created_at: self.created_at,
            updated_at: self.updated_at,
        }
        .serialize(serializer)
    }
}

/// The stored form, as far as it is not computed from the rest.
#[derive(Deserialize)]
pub(super) struct StoredContext {
    #[serde(default)]
    iterations: Vec<StoredIteration>,
    created_at: Timestamp,
    updated_at: Timestamp,
}

#[derive(Deserialize)]
struct StoredIteration {
    #[serde(default)]
    messages: Vec<StoredMessage>,
    started_at: Timestamp,
    #[serde(default)]
    completed_at: Option<Timestamp>,
    #[serde(default)]
    metadata: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum StoredMessage {
    Message(Arc<Message>),
    System { content: String },
}

impl From<StoredContext> for Context {
    fn from(stored: StoredContext) -> Self {
        let mut context = Self {
            system: None,
            messages: Vec::new(),
            bounds: Vec::new(),
            created_at: stored.created_at,
            updated_at: stored.updated_at,
        };
        for iteration in stored.iterations {
            context.bounds.push(Bounds {
                start: context.messages.len(),
                started_at: iteration.started_at,
                completed_at: iteration.completed_at,
                metadata: iteration.metadata,
            });
            for message in iteration.messages {
                match message {
                    StoredMessage::Message(message) => context.messages.push(message),
                    StoredMessage::System { content } => context.system = Some(content),
                }
            }
        }
        context
    }
}
