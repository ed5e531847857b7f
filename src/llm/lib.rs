//! Talks to language models: takes a request and streams the answer as events.
//!
//! This crate knows the providers' APIs, the list of models and the user's keys. It runs no tools, reads no
//! project files and draws nothing.
//!
//! - [`Provider`] turns a [`Request`] into a stream of [`StreamEvent`]s. [`Client`] asks real models;
//!   [`scripted::Scripted`] plays a script.
//! - [`AssistantMessage::apply`] folds the events into a [`Message`].
//! - [`Catalog`] finds a [`Model`] by its name, with its window, limits and prices.
//! - [`Keys`] has the user's keys, and [`auth::Redactor`] removes them from any text.
//! - [`LlmError`] is the last event of a failed stream. Its [`ErrorClass`] says whether to try again.
//!
//! # Ask a model
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use futures_util::StreamExt;
//! use tiller_llm::{
//!     AssistantMessage, Catalog, Client, Keys, Message, Provider, Request, ThinkingLevel,
//! };
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let catalog = Arc::new(Catalog::default());
//! let keys: Keys = std::env::vars().collect();
//! let (model, _) = catalog.resolve("anthropic/claude-sonnet-5-5", &keys, |_| Ok(None))?;
//! let client = Client::new(catalog, keys, None);
//!
//! let mut events = client.stream(Request {
//!     model,
//!     system: "Answer in one sentence.".to_owned(),
//!     messages: vec![Arc::new(Message::user("What is a tiller?", 0))],
//!     thinking_from: 0,
//!     tools: Vec::new(),
//!     thinking: ThinkingLevel::Off,
//!     max_output: Some(1_000),
//!     session_id: None,
//! });
//! let mut answer = AssistantMessage::default();
//! while let Some(event) = events.next().await {
//!     answer.apply(&event);
//! }
//! println!("{}", Message::Assistant(answer).text());
//! # Ok(())
//! # }
//! ```
//!
//! # Play a script
//!
//! Tests need neither a key nor a network:
//!
//! ```
//! # use std::sync::Arc;
//! # use futures_util::StreamExt;
//! # use tiller_llm::{AssistantMessage, Message, Provider, Request, StopReason, ThinkingLevel};
//! use tiller_llm::scripted::{Script, Scripted, demo_model};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let script = Script::parse(r#"reply = [{ steps = [{ text = "It steers a boat." }] }]"#)?;
//! let request = Request {
//!     model: demo_model(),
//!     // The other fields are as above.
//! #     system: String::new(),
//! #     messages: vec![Arc::new(Message::user("What is a tiller?", 0))],
//! #     thinking_from: 0,
//! #     tools: Vec::new(),
//! #     thinking: ThinkingLevel::Off,
//! #     max_output: None,
//! #     session_id: None,
//! };
//! let mut events = Scripted::new(script).stream(request);
//! let mut answer = AssistantMessage::default();
//! while let Some(event) = events.next().await {
//!     answer.apply(&event);
//! }
//! assert_eq!(answer.stop_reason, StopReason::Stop);
//! assert_eq!(Message::Assistant(answer).text(), "It steers a boat.");
//! # Ok(())
//! # }
//! ```

pub mod message;
pub mod event;
pub mod provider;
pub mod model;
pub mod api;
pub mod window;
pub mod window_check;
pub mod quirks;
pub mod nearest;
pub mod toml_fault;
mod options;
pub mod read_small;
pub mod replace_file;
pub mod catalog;
pub mod local;
pub mod auth;
pub mod client;
pub mod handoff;
mod output_limit;
mod request_size;
mod adapt;
pub mod anthropic;
pub mod openai;
pub mod google;
pub mod decoder;
pub mod exchange;
pub mod error;
pub mod classify;
mod error_patterns;
pub mod address;
pub mod os_error;
pub mod overflow;
pub mod probe;
pub mod http;
pub mod post;
pub mod sse;
pub mod scripted;

pub use api::Api;
pub use auth::{Keys, Secret};
pub use catalog::{BuiltIn, Catalog, CatalogOptions};
pub use client::{Client, PromptCaching};
pub use error::{ErrorClass, LlmError};
pub use event::{BlockKind, StreamEvent};
pub use message::{
    AssistantMessage, Content, Image, Message, StopReason, Text, Thinking, ToolCall,
    ToolResultMessage, Usage, UserMessage,
};
pub use model::{Billing, EditFormat, Model, PriceTier, Prices, ThinkingLevel};
pub use provider::{CustomFormat, Provider, Request, ToolSpec};
pub use quirks::{IdRule, Quirks, ThinkingFormat};
pub use window::WindowSource;
