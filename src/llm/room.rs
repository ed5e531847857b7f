//! How many tokens an answer may have, so that prompt and answer fit the window together.
//!
//! An estimate: only the provider knows its tokens. It errs on the side of a shorter answer.

use super::handoff::Step;
use super::message::Content;
use super::provider::Request;

/// What a token has at least, in bytes; text and code mostly have more.
const BYTES_PER_TOKEN: usize = 3;
/// What a picture counts for, in tokens.
const IMAGE_TOKENS: usize = 1600;
/// What stays free for the provider's own words around ours.
const SPARE_TOKENS: u64 = 1024;

/// The output limit for `request`: the wanted one, else the model's, and no more than the window
/// leaves beside `steps`.
pub fn max_output(request: &Request, steps: &[Step]) -> u64 {
    let model = &request.model;
    let wanted = request
        .max_output
        .unwrap_or(model.max_output)
        .min(model.max_output)
        .max(1);
    if model.context_window == 0 {
        return wanted;
    }
    let tools: usize = request
        .tools
        .iter()
        .map(|tool| tool.description.len() + 400)
        .sum();
    let content: usize = steps.iter().map(size).sum();
    let prompt = (request.system.len() + tools + content) / BYTES_PER_TOKEN;
    let left = model
        .context_window
        .saturating_sub(prompt as u64 + SPARE_TOKENS);
    // A prompt that leaves no room is for the provider to refuse: its answer starts a compaction.
    wanted.min(left.max(SPARE_TOKENS))
}

fn size(step: &Step) -> usize {
    let of = |content: &Content| match content {
        Content::Text(text) => text.text.len(),
        Content::Thinking(thinking) => {
            thinking.thinking.len() + thinking.thinking_signature.as_ref().map_or(0, String::len)
        }
        Content::Image(_) => IMAGE_TOKENS * BYTES_PER_TOKEN,
        Content::ToolCall(call) => call.name.len() + call.arguments.to_string().len() + 60,
    };
    match step {
        Step::User(content) | Step::Assistant(content) => {
            content.iter().map(|block| of(block)).sum()
        }
        Step::Results(answers) => answers
            .iter()
            .flat_map(|answer| &answer.content)
            .map(|block| of(block) + 60)
            .sum(),
    }
}
