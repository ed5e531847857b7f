//! Layer 1: speaks to models. Knows wires and messages; runs no tool, reads no project file,
//! draws nothing.

pub mod error;
pub mod event;
pub mod message;
pub mod model;
pub mod provider;

pub use error::{ErrorClass, LlmError};
pub use event::StreamEvent;
pub use message::{
    AssistantMessage, Content, Image, Message, StopReason, Text, Thinking, ToolCall,
    ToolResultMessage, Usage, UserMessage,
};
pub use model::{Api, Model, Prices, ThinkingLevel};
pub use provider::{Provider, Request, ToolSpec};
