//! Makes a stored conversation valid for one API and one model. Pure: no IO, and it changes nothing
//! stored.
//!
//! It guarantees that user and assistant turns alternate, and that exactly one result follows every tool
//! call before anything else. It sends nothing unfinished, failed or meant only for the screen.
//!
//! # Append-only
//!
//! The form of a message depends only on the message and on those before it, so each request starts with
//! the previous one. Prompt caches hit, and thinking that is bound to its prefix stays valid.
//!
//! Later messages matter in two cases: the results of a message's calls, and whether the target model
//! answered later in the same turn. Both are stored before the next request. In the second case, another
//! model's thinking goes along as text, see `turns`.

mod call_ids;
mod effort;
mod images;
mod turns;

pub(super) use call_ids::valid_name;
pub(super) use effort::base_effort;
pub use turns::{CONTINUE_PROMPT, ends_with_answer};
pub(super) use turns::{IMAGES_ABOVE, SentBlock, ToolResult, Turn, joined_text, to_turns};
