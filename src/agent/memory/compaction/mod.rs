//! Compaction: measures the window, cuts the conversation, and words the request for a summary. It
//! also preserves facts, and prunes old results from requests. Pure: calls no model and stores
//! nothing.

mod size;
mod shorten;
mod cut;
mod tail;
mod question;
mod carried;
mod prune;
mod usage;
#[cfg(test)]
mod test_messages;

pub(crate) use carried::Carried;
pub(crate) use cut::{Cut, cut, makes_room};
pub(crate) use prune::{Pruned, prune_cold, prune_full};
pub(crate) use question::question;
pub(crate) use size::{Window, overhead, size, tokens};
pub(crate) use tail::tail;
pub use usage::{ContextKind, ContextPart, ContextUsage};

/// The `origin` of messages with a summary of earlier ones.
pub const SUMMARY_ORIGIN: &str = "summary";
