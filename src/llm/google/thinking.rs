//! How a model of Google is asked to think: by a level or by a budget of tokens.

use serde::Serialize;

use crate::llm::model::{Model, ThinkingLevel};
use crate::llm::quirks::{BudgetRange, ThinkingFormat};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ThinkingConfig {
    /// Whether summaries of the thoughts are sent along.
    include_thoughts: bool,
    /// Tokens; 0 is none, -1 as many as it likes.
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_budget: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_level: Option<String>,
}

/// What `model` is told for `level`, when prompt and answer leave room for `limit` tokens.
pub fn config(model: &Model, level: ThinkingLevel, limit: u64) -> Option<ThinkingConfig> {
    if !model.reasoning {
        return None;
    }
    let include_thoughts = level != ThinkingLevel::Off;
    let level = model.clamp_thinking(level);
    let word = model.thinking_word(level);
    let levels_unknown = model.thinking_levels.is_empty();
    let mut thinking_budget = word.and_then(|word| word.parse().ok());
    if levels_unknown && model.quirks.thinking == ThinkingFormat::Budget {
        thinking_budget = Some(budget(model.quirks.thinking_budget, level, limit));
    }
    let word = match level {
        _ if thinking_budget.is_some() => None,
        // None of these models can be turned off, and all know this level.
        ThinkingLevel::Off | ThinkingLevel::Minimal if levels_unknown => Some("low"),
        _ => word,
    };
    Some(ThinkingConfig {
        include_thoughts,
        thinking_budget,
        thinking_level: word.map(str::to_ascii_uppercase),
    })
}

/// The budget of a model that has one. It counts towards the output limit; some of it must stay for
/// the answer.
fn budget(range: Option<BudgetRange>, level: ThinkingLevel, limit: u64) -> i64 {
    let off = level == ThinkingLevel::Off;
    let Some(BudgetRange {
        off: none,
        min,
        max,
    }) = range
    else {
        // As many tokens as it likes.
        return if off { 0 } else { -1 };
    };
    let wanted = match level {
        ThinkingLevel::Off => return none,
        ThinkingLevel::Minimal => 128,
        ThinkingLevel::Low => 2048,
        ThinkingLevel::Medium => 8192,
        ThinkingLevel::High | ThinkingLevel::Xhigh | ThinkingLevel::Max => max,
    };
    let room = i64::try_from(limit / 2).unwrap_or(max);
    wanted.min(room).max(min)
}
