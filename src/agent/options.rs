//! Everything an agent is started with. No defaults for models or prompts: the application
//! decides, the agent obeys.

use std::path::PathBuf;
use std::sync::Arc;

use super::process::Processes;
use super::session::SessionLog;
use super::toolbox::Toolbox;
use crate::llm::{Model, Provider, ThinkingLevel};

/// What `agent::start` takes.
pub struct AgentOptions {
    /// The way to models; dispatches on the model's wire by itself.
    pub provider: Arc<dyn Provider>,
    /// The model of the first call.
    pub model: Model,
    /// The models that answer when it cannot, in order.
    pub fallback: Vec<Model>,
    /// The thinking level of the first call.
    pub thinking: ThinkingLevel,
    /// The folder the agent works in.
    pub cwd: PathBuf,
    /// The tools, already filtered by set and policy.
    pub toolbox: Toolbox,
    /// The commands under way; shared with the bash tool.
    pub processes: Processes,
    /// Replaces the built-in system prompt.
    pub system_prompt: Option<String>,
    /// Added behind the system prompt, each a paragraph of its own.
    pub append_system_prompt: Vec<String>,
    /// Where messages are stored; none with `--no-session`.
    pub session: Option<SessionLog>,
    /// Folder for outputs too long for the model (`CALL.txt`); made when needed.
    pub spill_dir: PathBuf,
    /// The rules of the loop.
    pub rules: LoopRules,
}

/// The rules of the loop (`[agent]` in the settings).
#[derive(Clone, Debug, PartialEq)]
pub struct LoopRules {
    /// Model calls since the last message of a person; 0 is no limit.
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
        }
    }
}

/// When a failed model call is tried again (`[retry]` in the settings).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryRules {
    /// Retries of one call at most; 0 is none.
    pub max: u32,
    /// The wait before the first, in milliseconds; each later one is twice as long.
    pub base_ms: u64,
    /// The longest wait a server may ask for, in seconds.
    pub max_wait_s: u64,
    /// Whether waits differ by up to a quarter, so that clients do not come back together.
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
    /// Whether anybody looks.
    pub enabled: bool,
    /// Tool calls looked at.
    pub window: usize,
    /// So many identical calls with identical results are enough; 0 is never.
    pub early_trip: usize,
    /// What the model is told.
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

/// The limits of the built-in tools (`[tools]` in the settings).
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSettings {
    /// Seconds a command may run when the call does not say.
    pub bash_timeout_s: u64,
    /// Most seconds a call may ask for.
    pub bash_max_timeout_s: u64,
    /// Characters of a command's output for the model.
    pub bash_max_output_chars: usize,
    /// Lines of a command's output for the model.
    pub bash_max_output_lines: usize,
    /// Bytes of output kept in a spill file.
    pub bash_max_spill_bytes: u64,
    /// Names of environment variables that commands must not see: globs, any case.
    pub bash_secret_env: Vec<String>,
    /// Lines `read` gives at most.
    pub read_max_lines: usize,
    /// Bytes `read` gives at most.
    pub read_max_bytes: usize,
    /// Bytes `grep`, `find` and `ls` give at most.
    pub search_max_bytes: usize,
    /// Seconds `grep` and `find` may take.
    pub search_timeout_s: u64,
}

impl Default for ToolSettings {
    fn default() -> Self {
        Self {
            bash_timeout_s: 120,
            bash_max_timeout_s: 600,
            bash_max_output_chars: 30_000,
            bash_max_output_lines: 2_000,
            bash_max_spill_bytes: 256 * 1024 * 1024,
            bash_secret_env: [
                "*API_KEY",
                "*TOKEN",
                "*SECRET*",
                "*PASSWORD",
                "*CREDENTIAL*",
                "*_ACCESS_KEY",
                "*_PRIVATE_KEY",
            ]
            .map(String::from)
            .to_vec(),
            read_max_lines: 2_000,
            read_max_bytes: 50 * 1024,
            search_max_bytes: 50 * 1024,
            search_timeout_s: 30,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // A10, A11, I12, J6, J12, K13: the numbers people read in the manual.
    #[test]
    fn defaults_are_as_documented() {
        let rules = LoopRules::default();
        assert_eq!(rules.max_iterations, 100);
        assert!(rules.skip_on_steering && rules.parallel_tools);
        let tools = ToolSettings::default();
        assert_eq!((tools.bash_timeout_s, tools.bash_max_timeout_s), (120, 600));
        assert_eq!(tools.bash_max_output_chars, 30_000);
        assert_eq!(tools.bash_max_output_lines, 2_000);
        assert_eq!(tools.bash_max_spill_bytes, 268_435_456);
        assert_eq!(
            (tools.read_max_lines, tools.read_max_bytes),
            (2_000, 51_200)
        );
        assert_eq!(
            (tools.search_max_bytes, tools.search_timeout_s),
            (51_200, 30)
        );
    }
}
