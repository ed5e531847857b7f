//! How a model of Google is asked to think: by a level or by a budget of tokens.

use serde::Serialize;

use crate::llm::model::{Model, ThinkingLevel};
use crate::llm::quirks::{BudgetRange, ThinkingFormat};

/// How to think.
#[derive(Debug, Default, PartialEq, Serialize)]
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
    let wanted = level != ThinkingLevel::Off;
    let level = model.clamp_thinking(level);
    let word = model.thinking_word(level);
    if let Some(budget) = word.and_then(|word| word.parse().ok()) {
        return Some(ThinkingConfig {
            include_thoughts: wanted,
            thinking_budget: Some(budget),
            thinking_level: None,
        });
    }
    if model.quirks.thinking == ThinkingFormat::Budget && model.thinking_levels.is_empty() {
        let budget = budget(model.quirks.thinking_budget, level, limit);
        return Some(ThinkingConfig {
            include_thoughts: wanted,
            thinking_budget: Some(budget),
            thinking_level: None,
        });
    }
    let word = match level {
        // Its levels are unknown: none of these models can be turned off, and all know this level.
        ThinkingLevel::Off | ThinkingLevel::Minimal if model.thinking_levels.is_empty() => {
            Some("low")
        }
        _ => word,
    };
    Some(ThinkingConfig {
        include_thoughts: wanted,
        thinking_budget: None,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::api::Api;
    use crate::llm::catalog::Catalog;

    fn model(id: &str, levels: &[(ThinkingLevel, &str)]) -> Model {
        let mut model = Model::new("google", id, Api::GoogleGenerateContent, "");
        model.reasoning = true;
        model.thinking_levels = levels
            .iter()
            .map(|(level, word)| (*level, (*word).to_owned()))
            .collect();
        Catalog::default().current().with_quirks(model)
    }

    // R 37
    #[test]
    fn thinking_is_asked_for_by_generation() {
        use ThinkingLevel::{High, Low, Max, Medium, Minimal, Off};
        let three = &[(Low, "low"), (Medium, "medium"), (High, "high")][..];
        let gemma = &[(Minimal, "MINIMAL"), (High, "HIGH")][..];
        let cases = [
            (
                "gemini-2.5-pro",
                &[][..],
                Off,
                65_536,
                (false, Some(128), None),
            ),
            (
                "gemini-2.5-pro",
                &[],
                High,
                65_536,
                (true, Some(32_768), None),
            ),
            (
                "gemini-2.5-pro",
                &[],
                Max,
                65_536,
                (true, Some(32_768), None),
            ),
            (
                "gemini-2.5-pro",
                &[],
                High,
                20_000,
                (true, Some(10_000), None),
            ),
            ("gemini-2.5-pro", &[], High, 100, (true, Some(128), None)),
            ("gemini-2.5-flash", &[], Off, 65_536, (false, Some(0), None)),
            (
                "gemini-2.5-flash",
                &[],
                Minimal,
                65_536,
                (true, Some(128), None),
            ),
            (
                "gemini-2.5-flash",
                &[],
                Medium,
                65_536,
                (true, Some(8192), None),
            ),
            (
                "gemini-2.5-flash-lite",
                &[],
                Minimal,
                65_536,
                (true, Some(512), None),
            ),
            (
                "gemini-2.5-flash-lite",
                &[],
                High,
                65_536,
                (true, Some(24_576), None),
            ),
            ("gemini-2.5-other", &[], Low, 65_536, (true, Some(-1), None)),
            ("gemini-2.5-other", &[], Off, 65_536, (false, Some(0), None)),
            (
                "gemini-2.5-pro",
                &[(Low, "300")],
                High,
                65_536,
                (true, Some(300), None),
            ),
            (
                "gemini-3.8-flash",
                three,
                Off,
                65_536,
                (false, None, Some("LOW")),
            ),
            (
                "gemini-3.8-flash",
                three,
                Medium,
                65_536,
                (true, None, Some("MEDIUM")),
            ),
            (
                "gemini-3.8-flash",
                three,
                Max,
                65_536,
                (true, None, Some("HIGH")),
            ),
            (
                "gemini-3.8-flash",
                &[(Off, ""), (High, "high")],
                Off,
                9,
                (false, None, None),
            ),
            (
                "gemini-9-unknown",
                &[],
                Off,
                65_536,
                (false, None, Some("LOW")),
            ),
            (
                "gemini-9-unknown",
                &[],
                High,
                65_536,
                (true, None, Some("HIGH")),
            ),
            (
                "gemma-4-31b-it",
                gemma,
                Low,
                65_536,
                (true, None, Some("HIGH")),
            ),
            (
                "gemma-4-31b-it",
                gemma,
                Off,
                65_536,
                (false, None, Some("MINIMAL")),
            ),
        ];
        for (id, levels, level, limit, (include_thoughts, thinking_budget, word)) in cases {
            let expected = ThinkingConfig {
                include_thoughts,
                thinking_budget,
                thinking_level: word.map(str::to_owned),
            };
            let asked = config(&model(id, levels), level, limit);
            assert_eq!(asked, Some(expected), "{id} {level}");
        }
        let mut plain = model("gemini-2.0-flash", &[]);
        plain.reasoning = false;
        assert_eq!(config(&plain, High, 65_536), None);
    }
}
