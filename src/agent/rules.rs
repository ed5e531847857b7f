//! The rules of the loop, as the settings have them. Plain data that decides nothing.

use std::collections::BTreeMap;
use std::str::FromStr;

/// The rules of the loop (`[agent]` in the settings).
#[derive(Clone, Debug, PartialEq)]
pub struct LoopRules {
    /// Model calls since the last message of the user; 0 is no limit.
    pub max_iterations: u32,
    /// Whether steering skips the calls that have not started.
    pub skip_on_steering: bool,
    /// How many waiting steering messages go out together.
    pub steering_mode: QueueMode,
    /// How many waiting follow-ups go out together.
    pub follow_up_mode: QueueMode,
    /// Whether consecutive read-only calls run at the same time.
    pub parallel_tools: bool,
    /// When a failed model call is tried again.
    pub retry: RetryRules,
    /// When the model goes in circles.
    pub loop_guard: LoopGuardRules,
    /// When the conversation is shortened.
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

/// When the conversation is shortened (`[compaction]` in the settings).
#[derive(Clone, Debug, PartialEq)]
pub struct CompactionRules {
    /// Whether it happens by itself.
    pub enabled: bool,
    /// The share of the window that may be used.
    pub threshold: f64,
    /// What counts instead for models of these names (`provider/id`).
    pub thresholds: BTreeMap<String, Threshold>,
    /// Tokens of the window that stay free.
    pub reserve_tokens: u64,
    /// Tokens of the latest messages that stay as they are.
    pub keep_recent_tokens: u64,
    /// Whether old tool results are left out of requests first.
    pub prune: bool,
    /// What the model is asked for; empty for tiller's own words.
    pub prompt: String,
}

/// How much of a window may be used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    /// A share of it.
    Share(f64),
    /// So many tokens.
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

/// When a failed model call is tried again (`[retry]` in the settings).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryRules {
    /// The most retries of one model call; 0 turns retrying off.
    pub max: u32,
    /// Delay before the first retry, in milliseconds; it doubles with each further retry.
    pub base_ms: u64,
    /// The longest delay accepted from a server's `Retry-After`, in seconds.
    pub max_wait_s: u64,
    /// Whether each delay is changed by a random part of up to 25 %, so that many clients do not
    /// retry at the same moment.
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

/// When the model goes in circles (`[agent.loop_guard]` in the settings).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopGuardRules {
    /// Enables the loop guard.
    pub enabled: bool,
    /// Tool calls that are compared.
    pub window: usize,
    /// So many identical calls with identical results in a row trip it; 0 disables that.
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
    /// All, in order.
    All,
    /// The oldest.
    One,
}
