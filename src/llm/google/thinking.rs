//! The thinking parameter of Google's models: a level or a budget of tokens.

use serde::Serialize;

use crate::model::{Model, ThinkingLevel};
use crate::quirks::{BudgetRange, ThinkingFormat};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ThinkingConfig {
    /// Whether to include summaries of the thoughts.
    include_thoughts: bool,
    /// In tokens; 0 is none, -1 lets the model decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_budget: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_level: Option<String>,
}

/// The parameter for `model` at `level`, if prompt and answer leave room for `limit` tokens.
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
        // These models can't stop thinking, and all of them know this level.
        ThinkingLevel::Off | ThinkingLevel::Minimal if levels_unknown => Some("low"),
        _ => word,
    };
    Some(ThinkingConfig {
        include_thoughts,
        thinking_budget,
        thinking_level: word.map(str::to_ascii_uppercase),
    })
}

/// The budget of a model that has one. It must leave room in the output limit for the answer.
fn budget(range: Option<BudgetRange>, level: ThinkingLevel, limit: u64) -> i64 {
    let off = level == ThinkingLevel::Off;
    let Some(BudgetRange {
        off: none,
        min,
        max,
    }) = range
    else {
        // Lets the model decide.
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
