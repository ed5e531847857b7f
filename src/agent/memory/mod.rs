//! What the model is told besides the conversation.

pub mod prompt;

pub use prompt::SystemPrompt;
