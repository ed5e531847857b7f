//! What a model of Google takes, by its id: generations differ in how they are told to think and in
//! what they want back of their calls.

use serde::Serialize;

use crate::llm::model::{Model, ThinkingLevel};

/// Models that take the same things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Gemini up to 2.5: thinks by a budget of tokens, knows no ids of calls.
    Budget,
    /// Gemini from 3 on: thinks by level, checks the signatures of its calls, takes pictures within
    /// results.
    Level,
    /// Another model behind the same API.
    Other,
}

impl Family {
    /// The family of `model`.
    pub fn of(model: &Model) -> Self {
        let id = model.id.to_ascii_lowercase();
        let Some((_, rest)) = id.split_once("gemini-") else {
            return Self::Other;
        };
        let rest = rest.strip_prefix("live-").unwrap_or(rest);
        let digits = rest.split(|c: char| !c.is_ascii_digit()).next();
        match digits.and_then(|digits| digits.parse::<u32>().ok()) {
            Some(0..=2) => Self::Budget,
            Some(_) => Self::Level,
            // `gemini-flash-latest` is whatever is newest.
            None if rest.contains("latest") || !model.thinking_levels.is_empty() => Self::Level,
            None => Self::Budget,
        }
    }
}

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
pub fn thinking(model: &Model, level: ThinkingLevel, limit: u64) -> Option<ThinkingConfig> {
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
    if Family::of(model) != Family::Level && model.thinking_levels.is_empty() {
        let budget = budget(&model.id, level, limit);
        return Some(ThinkingConfig {
            include_thoughts: wanted,
            thinking_budget: Some(budget),
            thinking_level: None,
        });
    }
    let word = match level {
        // Nobody said what it takes: none of them can be turned off, and all know this level.
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
fn budget(id: &str, level: ThinkingLevel, limit: u64) -> i64 {
    let (least, most) = if id.contains("2.5-pro") {
        (128, 32_768)
    } else if id.contains("2.5-flash-lite") {
        (512, 24_576)
    } else if id.contains("2.5-flash") {
        (1, 24_576)
    } else if level == ThinkingLevel::Off {
        return 0;
    } else {
        return -1;
    };
    let wanted = match level {
        // The large one always thinks.
        ThinkingLevel::Off if id.contains("2.5-pro") => least,
        ThinkingLevel::Off => return 0,
        ThinkingLevel::Minimal => 128,
        ThinkingLevel::Low => 2048,
        ThinkingLevel::Medium => 8192,
        ThinkingLevel::High | ThinkingLevel::Xhigh | ThinkingLevel::Max => most,
    };
    let room = i64::try_from(limit / 2).unwrap_or(most);
    wanted.min(room).max(least)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::model::Api;

    fn model(id: &str, levels: &[(ThinkingLevel, &str)]) -> Model {
        let mut model = Model::new("google", id, Api::GoogleGenerateContent, "");
        model.reasoning = true;
        model.thinking_levels = levels
            .iter()
            .map(|(level, word)| (*level, (*word).to_owned()))
            .collect();
        model
    }

    #[test]
    fn families_are_told_apart_by_id() {
        for (id, family) in [
            ("gemini-1.5-pro", Family::Budget),
            ("gemini-2.0-flash", Family::Budget),
            ("models/gemini-2.5-pro", Family::Budget),
            ("gemini-live-2.5-flash", Family::Budget),
            ("gemini-pro", Family::Budget),
            ("gemini-robotics-er-1.5-preview", Family::Budget),
            ("gemini-3-flash-preview", Family::Level),
            ("Gemini-3.8-Flash", Family::Level),
            ("gemini-4-argon", Family::Level),
            ("gemini-12-x", Family::Level),
            ("gemini-flash-latest", Family::Level),
            ("gemma-4-31b-it", Family::Other),
            ("claude-opus-5", Family::Other),
        ] {
            assert_eq!(Family::of(&model(id, &[])), family, "{id}");
        }
        let known = model(
            "gemini-robotics-er-2-preview",
            &[(ThinkingLevel::Low, "low")],
        );
        assert_eq!(Family::of(&known), Family::Level);
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
            let asked = thinking(&model(id, levels), level, limit);
            assert_eq!(asked, Some(expected), "{id} {level}");
        }
        let mut plain = model("gemini-2.0-flash", &[]);
        plain.reasoning = false;
        assert_eq!(thinking(&plain, High, 65_536), None);
    }
}
