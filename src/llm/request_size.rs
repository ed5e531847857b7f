//! The size of a request: an output limit that leaves room in the window, and the buffer for its JSON.
//!
//! These are estimates, as only the provider knows its tokens. The limit errs on the side of a shorter
//! answer.

use serde::Serialize;

use serde_json::Value;

use super::handoff::Turn;
use super::message::{Content, Image};
use super::output_limit;
use super::provider::Request;
use super::window::WindowSource;

/// The fewest bytes per token. Text and code mostly have more.
const BYTES_PER_TOKEN: usize = 3;
/// Tokens per picture.
const IMAGE_TOKENS: usize = 1600;
/// Most bytes around the texts of a turn.
const AROUND_TURN: usize = 200;
/// Tokens to leave free for the provider's own text around ours.
const SPARE_TOKENS: u64 = 1024;

/// The output limit for `request`: the wanted one, but no more than `turns` leave in the window.
pub fn max_output(request: &Request, turns: &[Turn]) -> u64 {
    let model = &request.model;
    let wanted = output_limit::wanted(request);
    // Don't cut an answer short because of an estimate.
    if model.known_window() == 0 || model.window_source == WindowSource::Default {
        return wanted;
    }
    let image = |_: &Image| IMAGE_TOKENS * BYTES_PER_TOKEN;
    let prompt = size(request, turns, image) / BYTES_PER_TOKEN;
    let left = model
        .context_window
        .saturating_sub(prompt as u64 + SPARE_TOKENS);
    // If the prompt leaves no room, let the provider refuse it: the refusal starts a compaction.
    wanted.min(left.max(SPARE_TOKENS))
}

/// Writes the JSON of `request` into one allocation. A buffer that doubles as it fills would fragment
/// the heap with each request of a long conversation.
pub fn to_json(body: &impl Serialize, request: &Request, turns: &[Turn]) -> Vec<u8> {
    let size = size(request, turns, |image| image.data.len());
    // Room for escapes, keys and brackets. Untouched memory costs nothing.
    let around = size / 4 + turns.len() * AROUND_TURN + 4 * 1024;
    let mut out = Vec::with_capacity(size + around);
    // Serializing plain data can't fail.
    let _ = serde_json::to_writer(&mut out, body);
    out
}

/// Bytes of the texts in `request`, and of the JSON around each.
fn size(request: &Request, turns: &[Turn], image: impl Fn(&Image) -> usize + Copy) -> usize {
    let tools = request
        .tools
        .iter()
        .map(|tool| tool.description.len() + 400);
    let content = turns.iter().map(|turn| turn_size(turn, image));
    request.system.len() + tools.sum::<usize>() + content.sum::<usize>()
}

/// About the bytes of `value` as JSON.
fn json_size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 5,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => 2 + items.iter().map(|item| json_size(item) + 1).sum::<usize>(),
        Value::Object(map) => {
            let entries = map
                .iter()
                .map(|(key, value)| key.len() + json_size(value) + 4);
            2 + entries.sum::<usize>()
        }
    }
}

fn turn_size(turn: &Turn, image: impl Fn(&Image) -> usize) -> usize {
    let of = |content: &Content| match content {
        Content::Text(text) => text.text.len(),
        Content::Thinking(thinking) => {
            thinking.thinking.len() + thinking.thinking_signature.as_ref().map_or(0, String::len)
        }
        Content::Image(picture) => image(picture),
        Content::ToolCall(call) => call.name.len() + json_size(&call.arguments) + 60,
    };
    match turn {
        Turn::User(content) | Turn::Assistant(content) => {
            content.iter().map(|block| of(block.as_ref())).sum()
        }
        Turn::Effort(_) => 0,
        Turn::Results(results) => results
            .iter()
            .flat_map(|result| &result.content)
            .map(|block| of(block.as_ref()) + 60)
            .sum(),
    }
}
