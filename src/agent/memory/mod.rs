//! What the model is told besides the conversation: prompt, place, and what changes later.

pub mod environment;
pub mod prompt;
pub mod session_prompt;

pub use environment::Environment;
pub use prompt::SystemPrompt;
pub(super) use session_prompt::SessionPrompts;
pub use session_prompt::{NOTE_ORIGIN, SessionPrompt, Today};
