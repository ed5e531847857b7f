//! Compaction: how full the window is, where a conversation is cut, what is asked of the model, what
//! is carried over, and which old results are left out of requests instead. Pure: it asks nobody and
//! stores nothing.

mod size;
mod shorten;
mod cut;
mod tail;
mod question;
mod carried;
mod prune;
mod usage;
#[cfg(test)]
mod kit;

pub(in crate::agent) use carried::Carried;
pub(in crate::agent) use cut::{Cut, cut, makes_room};
pub(in crate::agent) use prune::{Pruned, prune_cold, prune_full};
pub(in crate::agent) use question::question;
pub(in crate::agent) use size::{Window, overhead, size, tokens};
pub(in crate::agent) use tail::tail;
pub use usage::{ContextKind, ContextPart, ContextUsage};

/// The `origin` of messages that hold a summary of what was said before.
pub const SUMMARY_ORIGIN: &str = "summary";
