//! Layer 1: talks to models. Knows APIs and messages; runs no tool, reads no project file, draws
//! nothing.

pub mod message;
pub mod event;
pub mod provider;
pub mod model;
pub mod api;
pub mod window;
pub mod window_check;
pub mod quirks;
pub mod nearest;
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
pub mod overflow;
pub mod probe;
pub mod http;
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
