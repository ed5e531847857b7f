//! Makes a stored conversation valid for one API and one model: pure, no IO, changes nothing that
//! is stored.
//!
//! What it guarantees: user and assistant turns alternate; every tool call is followed by exactly
//! one result before anything else; nothing half-finished, failed or meant for the screen only is
//! sent.
//!
//! # Append-only
//!
//! What a message becomes depends on the message itself and on what stands before it, so that each
//! request begins with the request before it: prompt caches hit, and thinking that is bound to its
//! prefix stays valid. What follows a message matters in two places, and there it is stored before
//! the next request leaves: the results of its calls, and whether the model that is asked answered
//! later in the same turn (then the thinking of another model goes along as text, see `turns`).

mod call_ids;
mod effort;
mod images;
mod turns;

pub use call_ids::valid_name;
pub use effort::base_effort;
pub use turns::{
    CONTINUE_PROMPT, IMAGES_ABOVE, SentBlock, ToolResult, Turn, ends_with_answer, joined_text,
    to_turns,
};
