//! The output limit of a request, and a smaller one to retry with if the server includes it in a limit.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::Value;

use super::error::{ErrorClass, LlmError};
use super::error_patterns::regex;
use super::model::ThinkingLevel;
use super::provider::Request;

/// The default limit, in tokens. Several hosts charge the limit as if all of it were produced. They
/// would refuse every request with the model's own limit: Moonshot
/// (<https://platform.moonshot.ai/docs/introduction>), Groq, Cerebras, and OpenRouter against the
/// balance.
pub const DEFAULT: u64 = 32_000;
/// The smallest limit worth a retry, in tokens.
const SMALLEST: u64 = 1024;
/// The places for the limit in a request.
const FIELDS: [&str; 4] = [
    "/max_tokens",
    "/max_completion_tokens",
    "/max_output_tokens",
    "/generationConfig/maxOutputTokens",
];

/// The limit `request` wants, in tokens: the one set, or the default (more with long thinking).
pub fn wanted(request: &Request) -> u64 {
    let model = &request.model;
    let by_level = || match model.clamp_thinking(request.thinking) {
        ThinkingLevel::Xhigh | ThinkingLevel::Max => 4 * DEFAULT,
        ThinkingLevel::High => 2 * DEFAULT,
        _ => DEFAULT,
    };
    let usual = || model.quirks.output_limit.unwrap_or_else(by_level);
    let wanted = request.max_output.unwrap_or_else(usual);
    wanted.min(model.max_output).max(1)
}

/// The limit that the request with this JSON asks for.
pub fn asked(body: &[u8]) -> Option<u64> {
    let body: Value = serde_json::from_slice(body).ok()?;
    FIELDS
        .iter()
        .find_map(|field| body.pointer(field)?.as_u64())
}

/// The limit to retry with after `error`, if one below `asked` can help. It is what the server's
/// figures leave, or half of `asked` if the request exceeds a minute's allowance.
pub fn fitted(error: &LlmError, asked: Option<u64>) -> Option<u64> {
    let asked = asked.unwrap_or(DEFAULT);
    let left = FIGURES
        .iter()
        .find_map(|pattern| left(&pattern.captures(&error.message)?, asked));
    let limit = match left {
        Some(left) => left.min(asked * 15 / 16),
        None if error.class == ErrorClass::Allowance => asked / 2,
        None => return None,
    };
    (limit >= SMALLEST).then_some(limit)
}

/// The tokens that an error's figures leave for the answer.
fn left(figures: &Captures, asked: u64) -> Option<u64> {
    let number = |name: &str| {
        let digits = figures.name(name)?.as_str().replace([',', '_'], "");
        digits.parse::<u64>().ok()
    };
    if let Some(most) = number("most") {
        return Some(most);
    }
    let window = number("window")?;
    let prompt = match number("prompt") {
        Some(prompt) => prompt,
        None => number("total")?.saturating_sub(asked),
    };
    // Hosts count the same prompt slightly differently each time.
    Some(window.saturating_sub(prompt + prompt / 512 + 16))
}

/// The figures in servers' errors: the highest limit accepted, or the window (or allowance). The
/// latter comes with the prompt, or with the sum of prompt and limit.
static FIGURES: LazyLock<[Regex; 11]> = LazyLock::new(|| {
    [
        // OpenRouter, with status 402.
        r"(?i)can only afford (?<most>[\d,]+)",
        // OpenAI; Anthropic; DeepSeek.
        r"(?i)supports at most (?<most>[\d,]+) (completion|output) tokens",
        r"(?i)max_tokens: [\d,]+ > (?<most>[\d,]+)",
        r"(?i)range of max_tokens is \[\d+, ?(?<most>\d+)\]",
        // vLLM, old and new, SGLang, and hosts that pass on their errors: OpenRouter, DeepSeek.
        r"(?i)maximum context length (is|of) (?<window>\d+) tokens and your request has (?<prompt>\d+) input",
        r"(?i)maximum context length (is|of) (?<window>\d+).*requested (about |a total of )?(?<total>\d+)",
        // Moonshot; Cerebras.
        r"(?i)model token limit: (?<window>\d+) \(requested: (?<total>\d+)",
        r"(?i)current length is (?<total>\d+) while limit is (?<window>\d+)",
        // Anthropic.
        r"(?i)exceed context limit: (?<prompt>\d+) \+ \d+ > (?<window>\d+)",
        // Together, text-generation-inference.
        r"(?i)must be <= (?<window>\d+)\. given: (?<prompt>\d+)",
        // OpenAI, Groq: the tokens of a minute.
        r"(?i)limit:? (?<window>[\d,]+), requested:? (?<total>[\d,]+)",
    ]
    .map(regex)
});
