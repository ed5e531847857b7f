//! The rules of the loop, as configured. Plain data that decides nothing.

use std::collections::BTreeMap;
use std::str::FromStr;

/// The rules of the loop (`[agent]` in the settings).
#[derive(Clone, Debug, PartialEq)]
pub struct LoopRules {
    /// Maximum number of model calls after a user message. 0 means no limit.
    pub max_iterations: u32,
    /// `true` if steering skips calls that haven't started.
    pub skip_on_steering: bool,
    /// How many waiting steering messages are sent together.
    pub steering_mode: QueueMode,
    /// How many waiting follow-ups are sent together.
    pub follow_up_mode: QueueMode,
    /// `true` if consecutive read-only calls run in parallel.
    pub parallel_tools: bool,
    /// When to retry a failed model call.
    pub retry: RetryRules,
    /// How to detect a model that goes in circles.
    pub loop_guard: LoopGuardRules,
    /// When to shorten the conversation.
    pub compaction: CompactionRules,
}

impl Default for LoopRules {
    fn default() -> Self {
        Self {
            max_iterations: 100,
            skip_on_steering: true,
            steering_mode: QueueMode::All,
            follow_up_mode: QueueMode::One,
            parallel_tools: true,
            retry: RetryRules::default(),
            loop_guard: LoopGuardRules::default(),
            compaction: CompactionRules::default(),
        }
    }
}

/// When to shorten the conversation (`[compaction]` in the settings).
#[derive(Clone, Debug, PartialEq)]
pub struct CompactionRules {
    /// `true` if it happens automatically.
    pub enabled: bool,
    /// The share of the window that may be used.
    pub threshold: f64,
    /// Thresholds for single models (`provider/id`).
    pub thresholds: BTreeMap<String, Threshold>,
    /// Tokens of the window to keep free.
    pub reserve_tokens: u64,
    /// Tokens of the latest messages to keep unchanged.
    pub keep_recent_tokens: u64,
    /// `true` if old tool results are left out of requests first.
    pub prune: bool,
    /// The prompt for the summary, or empty for tiller's own.
    pub prompt: String,
}

/// How much of a window may be used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    /// A share of the window.
    Share(f64),
    /// A number of tokens.
    Tokens(u64),
}

impl CompactionRules {}

impl FromStr for Threshold {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fault = || {
            format!(
                "'{text}': expected a share of the window such as 0.6, or tokens such as 150000"
            )
        };
        match text.trim().parse::<f64>().map_err(|_| fault())? {
            share if share > 0.0 && share <= 1.0 => Ok(Self::Share(share)),
            _ => text.trim().parse().map(Self::Tokens).map_err(|_| fault()),
        }
    }
}

impl Default for CompactionRules {
    fn default() -> Self {
        Self {
            enabled: true,
            threshold: 0.8,
            thresholds: BTreeMap::new(),
            reserve_tokens: 16_384,
            keep_recent_tokens: 20_000,
            prune: true,
            prompt: String::new(),
        }
    }
}

/// When to retry a failed model call (`[retry]` in the settings).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryRules {
    /// Maximum number of retries of a model call. 0 disables retries.
    pub max: u32,
    /// Delay before the first retry, in milliseconds. Doubles with each further retry.
    pub base_ms: u64,
    /// Longest accepted delay from a server's `Retry-After`, in seconds.
    pub max_wait_s: u64,
    /// `true` to vary each delay randomly by up to 25 %, so that clients don't retry together.
    pub jitter: bool,
}

impl Default for RetryRules {
    fn default() -> Self {
        Self {
            max: 5,
            base_ms: 1000,
            max_wait_s: 60,
            jitter: true,
        }
    }
}

/// How to detect a model that goes in circles (`[agent.loop_guard]` in the settings).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopGuardRules {
    /// Enables the loop guard.
    pub enabled: bool,
    /// Number of tool calls to compare.
    pub window: usize,
    /// Number of identical calls with identical results in a row that trip it. 0 disables this check.
    pub early_trip: usize,
    /// The message for the model.
    pub message: String,
}

impl Default for LoopGuardRules {
    fn default() -> Self {
        Self {
            enabled: true,
            window: 10,
            early_trip: 3,
            message: String::from(
                "You appear to be repeating the same action. Consider a different approach.",
            ),
        }
    }
}

/// How many waiting messages leave a queue at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueMode {
    /// All of them, in order.
    All,
    /// Only the oldest.
    One,
}
