//! Detects a model that goes in circles: the last calls repeat a short pattern, or one call
//! returned the same result again and again. Keeps only hashes, so a call costs the same in a run
//! of any length. It only advises the model and stops nothing.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::rules::LoopGuardRules;
use tiller_llm::{Content, ToolCall};

/// The `origin` of the advice in the conversation.
pub const ORIGIN: &str = "loop_guard";

/// The longest pattern it detects, in calls.
const MAX_PATTERN: usize = 3;

#[derive(Debug, Default)]
pub(super) struct LoopGuard {
    /// The last calls, oldest first. Cleared after each trip, so that the next trip needs new evidence.
    calls: VecDeque<Seen>,
    /// Advice to the model that is now due.
    pub advice: Option<String>,
}

/// A call and its result, as hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    call: u64,
    result: u64,
}

impl LoopGuard {
    /// Records a call that ran, and its result.
    pub fn note(&mut self, rules: &LoopGuardRules, call: &ToolCall, result: &[Content]) {
        if !rules.enabled {
            return;
        }
        self.calls.push_back(Seen {
            call: hash_call(call),
            result: hash_result(result),
        });
        let most = rules.window.max(rules.early_trip);
        while self.calls.len() > most {
            self.calls.pop_front();
        }
        if self.repeats_a_result(rules.early_trip) || self.repeats_a_pattern(rules.window) {
            self.calls.clear();
            self.advice = Some(rules.message.clone());
        }
    }

    /// Returns `true` if the last `enough` calls are the same call with the same result.
    fn repeats_a_result(&self, enough: usize) -> bool {
        let mut last = self.calls.iter().rev().take(enough);
        match last.next() {
            Some(first) if enough > 1 && self.calls.len() >= enough => {
                last.all(|seen| seen == first)
            }
            _ => false,
        }
    }

    /// Returns `true` if the window repeats a pattern of one to three calls. A pattern of n calls
    /// must fill as many whole rounds as the window holds.
    fn repeats_a_pattern(&self, window: usize) -> bool {
        let calls: Vec<u64> = self.calls.iter().map(|seen| seen.call).collect();
        (1..=MAX_PATTERN).any(|length| {
            let rounds = window / length;
            let span = rounds * length;
            // A single round repeats nothing.
            if rounds < 2 || calls.len() < span {
                return false;
            }
            let last = &calls[calls.len() - span..];
            let repeats = |by: usize| last.windows(by + 1).all(|calls| calls[0] == calls[by]);
            // The same call over and over is a pattern of length one and must fill its own window.
            repeats(length) && (length == 1 || !repeats(1))
        })
    }
}

/// A model that goes in circles repeats its own text, so key order doesn't matter.
fn hash_call(call: &ToolCall) -> u64 {
    let mut hasher = DefaultHasher::new();
    // Arguments that aren't valid JSON are compared as text.
    let arguments = call.arguments.to_string();
    (&call.name, arguments, &call.partial_arguments).hash(&mut hasher);
    hasher.finish()
}

fn hash_result(result: &[Content]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for block in result {
        match block {
            Content::Text(text) => ("t", &text.text).hash(&mut hasher),
            Content::Image(image) => ("i", &image.data).hash(&mut hasher),
            Content::Thinking(_) | Content::ToolCall(_) => "other".hash(&mut hasher),
        }
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use serde_json::{Value, json};

    use super::*;

    fn call(name: &str, arguments: Value) -> ToolCall {
        ToolCall {
            id: String::from("c"),
            name: name.into(),
            arguments,
            ..ToolCall::default()
        }
    }

    /// Notes one call per letter. Capital letters always return the same result, small letters a
    /// new one each time. Returns the 1-based positions after which the guard tripped.
    fn trips(rules: &LoopGuardRules, calls: &str) -> Vec<usize> {
        let mut guard = LoopGuard::default();
        let mut trips = Vec::new();
        for (at, letter) in calls.chars().enumerate() {
            let result = if letter.is_uppercase() { 0 } else { at };
            let call = call(
                "bash",
                json!({ "command": letter.to_ascii_lowercase().to_string() }),
            );
            guard.note(rules, &call, &[Content::text(result.to_string())]);
            if guard.advice.take().is_some() {
                trips.push(at + 1);
            }
        }
        trips
    }

    #[test]
    fn trips_on_short_patterns_and_identical_results() {
        for (window, early_trip, calls, expected) in [
            // The same call with a new result each time: ten in a row.
            (10, 3, "aaaaaaaaa", &[][..]),
            (10, 3, "aaaaaaaaaa", &[10]),
            (10, 3, "xaaaaaaaaaa", &[11]),
            // Each trip needs new evidence.
            (10, 3, "aaaaaaaaaaaaaaaaaaa", &[10]),
            (10, 3, "aaaaaaaaaaaaaaaaaaaa", &[10, 20]),
            // Two alternating calls over ten, three over nine.
            (10, 3, "ababababa", &[]),
            (10, 3, "ababababab", &[10]),
            (10, 3, "abcabcab", &[]),
            (10, 3, "abcabcabc", &[9]),
            (10, 3, "xyabcabcabc", &[11]),
            (10, 3, "aabaabaab", &[9]),
            // Patterns of four don't trip the guard, and neither does real work.
            (10, 3, "abcdabcdabcdabcdabcd", &[]),
            (10, 3, "abcabcabdabcabcab", &[]),
            // The same result three times in a row.
            (10, 3, "AA", &[]),
            (10, 3, "AAA", &[3]),
            (10, 3, "AABAAB", &[]),
            (10, 3, "AAaAA", &[]),
            (10, 3, "AAAAAA", &[3, 6]),
            (10, 0, "AAAAAAAAA", &[]),
            (10, 0, "AAAAAAAAAA", &[10]),
            (4, 3, "abab", &[4]),
            (4, 3, "abcabc", &[]),
            (0, 3, "aaaaaaaaaaaaaaaaaaaaaaaa", &[]),
            (0, 3, "AAA", &[3]),
        ] {
            let rules = LoopGuardRules {
                window,
                early_trip,
                ..LoopGuardRules::default()
            };
            assert_eq!(trips(&rules, calls), expected, "{calls}");
        }
    }

    #[test]
    fn calls_are_compared_by_name_and_arguments() {
        let hash = |name: &str, arguments: &str, partial: &str| {
            hash_call(&ToolCall {
                partial_arguments: partial.into(),
                ..call(name, serde_json::from_str(arguments).unwrap())
            })
        };
        let spaced = hash("read", r#"{ "a": [1, 2] }"#, "");
        assert_eq!(spaced, hash("read", r#"{"a":[1,2]}"#, ""));
        let different = HashSet::from([
            spaced,
            hash("grep", r#"{"a":[1,2]}"#, ""),
            hash("read", r#"{"a":[2,1]}"#, ""),
            hash("read", r#"{"a":[1,"2"]}"#, ""),
            hash("read", r#"{"b":[1,2]}"#, ""),
            hash("read", "{}", "{a"),
            hash("read", "{}", "{b"),
        ]);
        assert_eq!(different.len(), 7);
    }
}
