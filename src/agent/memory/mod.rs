//! What the model is told besides the conversation.

pub mod prompt;
pub mod session_prompt;

pub use prompt::SystemPrompt;
pub(super) use session_prompt::SessionPrompts;
pub use session_prompt::{NOTE_ORIGIN, SessionPrompt, Today};
