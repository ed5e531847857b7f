//! Decides what to do after a failed model call: wait and retry, use another model, or give up. It
//! only counts and decides. It doesn't wait, sends no requests and has no clock.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::rules::RetryRules;
use tiller_llm::{ErrorClass, LlmError, Model};

/// Counts the failures of one model call and knows the remaining options.
#[derive(Debug)]
pub(super) struct RetryPolicy {
    rules: RetryRules,
    /// The models that haven't been tried yet.
    fallbacks: VecDeque<Arc<Model>>,
    /// Retries announced since the last change of model.
    retries: u32,
    /// `true` once the model was asked without the earlier thinking.
    thinking_dropped: bool,
}

#[derive(Debug, PartialEq)]
pub(super) enum RetryDecision {
    Retry(Retry),
    DropThinking,
    /// Shorten the conversation, then ask the same model again (F12). The caller decides this.
    Compact,
    Fallback(Arc<Model>),
    GiveUp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Retry {
    /// Number of the retry, 1-based.
    pub number: u32,
    /// The maximum number of retries.
    pub most: u32,
    /// The delay before it, in milliseconds.
    pub delay_ms: u64,
}

impl RetryPolicy {
    /// Starts without failures at `model`. The models after it in `fallback` remain, or all.
    pub fn new(rules: &RetryRules, fallback: &[Arc<Model>], model: &Model) -> Self {
        let is = |id: &str, other: &Arc<Model>| other.full_id() == id;
        // A duplicate name would be tried forever.
        let mut distinct: VecDeque<Arc<Model>> = VecDeque::new();
        for one in fallback {
            if !distinct.iter().any(|other| is(&one.full_id(), other)) {
                distinct.push_back(Arc::clone(one));
            }
        }
        let own = distinct.iter().position(|one| is(&model.full_id(), one));
        distinct.drain(..own.map_or(0, |at| at + 1));
        Self {
            rules: rules.clone(),
            fallbacks: distinct,
            retries: 0,
            thinking_dropped: false,
        }
    }

    /// Returns what to do about `error`. `fraction` (0 to 1) adds jitter, so that clients that
    /// failed together don't retry together.
    pub fn after(&mut self, error: &LlmError, fraction: f64) -> RetryDecision {
        match error.class {
            ErrorClass::Retryable if error.retry_is_futile => self.fallback(),
            ErrorClass::Retryable => match self.retry(error.retry_after_ms, fraction) {
                Some(retry) => {
                    self.retries = retry.number;
                    RetryDecision::Retry(retry)
                }
                None => self.fallback(),
            },
            ErrorClass::Thinking if !self.thinking_dropped => {
                self.thinking_dropped = true;
                RetryDecision::DropThinking
            }
            ErrorClass::Quota
            | ErrorClass::Auth
            | ErrorClass::NoModel
            | ErrorClass::Allowance
            | ErrorClass::Refused => self.fallback(),
            // The conversation was already shortened, or can't be. The same request would overflow again.
            ErrorClass::Overflow => RetryDecision::GiveUp,
            // No model accepts an invalid request.
            ErrorClass::Client | ErrorClass::Thinking => RetryDecision::GiveUp,
        }
    }

    /// Returns the number of the current retry, 0 if there was none.
    pub fn retries(&self) -> u32 {
        self.retries
    }

    fn retry(&self, asked_ms: Option<u64>, fraction: f64) -> Option<Retry> {
        let number = self.retries + 1;
        let most_ms = self.rules.max_wait_s.saturating_mul(1000);
        let asked = asked_ms.filter(|ms| *ms >= self.rules.base_ms);
        if number > self.rules.max || asked.is_some_and(|ms| ms > most_ms) {
            return None;
        }
        let backoff = || {
            let doubled = 1u64.checked_shl(number - 1).unwrap_or(u64::MAX);
            let ms = self.rules.base_ms.saturating_mul(doubled);
            let ms = ms.min(most_ms.max(self.rules.base_ms));
            let spread = if self.rules.jitter {
                0.75 + fraction.clamp(0.0, 1.0) / 2.0
            } else {
                1.0
            };
            (ms as f64 * spread).round() as u64
        };
        Some(Retry {
            number,
            most: self.rules.max,
            // A server's own delay is neither shortened nor jittered.
            delay_ms: asked.unwrap_or_else(backoff),
        })
    }

    fn fallback(&mut self) -> RetryDecision {
        match self.fallbacks.pop_front() {
            Some(model) => {
                self.retries = 0;
                RetryDecision::Fallback(model)
            }
            None => RetryDecision::GiveUp,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiller_llm::Api;

    fn rules() -> RetryRules {
        RetryRules {
            jitter: false,
            ..RetryRules::default()
        }
    }

    fn model(id: &str) -> Arc<Model> {
        Arc::new(Model::new("lab", id, Api::OpenAiChat, ""))
    }

    fn error(class: ErrorClass) -> LlmError {
        LlmError::new(class, "it failed")
    }

    fn busy(asked_ms: Option<u64>) -> LlmError {
        LlmError {
            retry_after_ms: asked_ms,
            ..error(ErrorClass::Retryable)
        }
    }

    fn delays(rules: &RetryRules, fraction: f64) -> Vec<u64> {
        let mut policy = RetryPolicy::new(rules, &[], &model("a"));
        let mut delays = Vec::new();
        while let RetryDecision::Retry(retry) = policy.after(&busy(None), fraction) {
            delays.push(retry.delay_ms);
            assert_eq!(retry.number as usize, delays.len());
            assert_eq!(retry.most, rules.max);
        }
        delays
    }

    #[test]
    fn five_retries_with_growing_delays() {
        assert_eq!(delays(&rules(), 0.9), [1000, 2000, 4000, 8000, 16_000]);
        let spread = RetryRules::default();
        assert_eq!(delays(&spread, 0.0), [750, 1500, 3000, 6000, 12_000]);
        assert_eq!(delays(&spread, 1.0), [1250, 2500, 5000, 10_000, 20_000]);
        let none = RetryRules { max: 0, ..rules() };
        assert_eq!(delays(&none, 0.5), [0; 0]);
        // After any number of retries: at most the longest wait, and no overflow.
        let many = RetryRules {
            max: 100,
            ..rules()
        };
        let delays = delays(&many, 0.5);
        assert_eq!(delays.len(), 100);
        assert_eq!(delays[6..], [60_000; 94]);
    }

    #[test]
    fn a_servers_delay_is_kept_exactly_up_to_a_minute() {
        for (asked, expected) in [
            (Some(3000), Some(3000)),
            (Some(30_000), Some(30_000)),
            (Some(60_000), Some(60_000)),
            (Some(60_001), None),
            (Some(u64::MAX), None),
            // Shorter than the normal wait.
            (Some(0), Some(750)),
            (Some(20), Some(750)),
            (None, Some(750)),
        ] {
            let rules = RetryRules::default();
            let mut policy = RetryPolicy::new(&rules, &[], &model("a"));
            let delay = match policy.after(&busy(asked), 0.0) {
                RetryDecision::Retry(retry) => Some(retry.delay_ms),
                _ => None,
            };
            assert_eq!(delay, expected, "{asked:?}");
        }
    }
}
