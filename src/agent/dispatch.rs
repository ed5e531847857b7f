//! The tool calls of one turn.

use std::sync::Arc;

use super::desk::{Desk, Turn};
use super::kit::Kit;
use super::turn::Reply;
use crate::llm::Message;

/// Runs the calls of `reply`.
pub(super) async fn run_calls(
    _desk: &Desk,
    _kit: &Kit,
    _turn: &Turn,
    _reply: &Reply,
) -> Vec<Arc<Message>> {
    Vec::new()
}
