//! The system prompt and what goes into it.
