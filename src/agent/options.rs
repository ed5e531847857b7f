//! Everything an agent starts with. Contains no default models or prompts; the application chooses them.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use super::budget::Budget;
use super::hooks::Hooks;
use super::mcp::Mcp;
use super::memory::{InstructionSources, Today};
use super::new_id::new_id;
use super::permission::{Policy, Rule};
use super::process::{Orphans, Processes};
use super::rules::LoopRules;
use super::session::{HistoryFacts, Session};
use super::toolbox::Toolbox;
use super::tools::own::OwnTools;
use super::tools::{self, ToolSettings};
use super::undo::Undo;
use super::workspace::Places;
use tiller_llm::auth::Redactor;
use tiller_llm::{Model, Provider, ThinkingLevel};

/// Removes secrets from tool output. Collects the secrets at the first call.
#[derive(Clone)]
pub struct LazyRedactor(Arc<LazyLock<Redactor, Gather>>);

type Gather = Box<dyn FnOnce() -> Redactor + Send>;

impl LazyRedactor {
    /// Creates a redactor for the secrets that `gather` finds.
    pub fn new(gather: impl FnOnce() -> Redactor + Send + 'static) -> Self {
        Self(Arc::new(LazyLock::new(Box::new(gather))))
    }

    /// Returns the redactor.
    pub fn get(&self) -> &Redactor {
        &self.0
    }
}

/// Knows no secrets.
impl Default for LazyRedactor {
    fn default() -> Self {
        Self::new(Redactor::default)
    }
}

/// What `agent::start` takes.
pub struct AgentOptions {
    /// The model provider, which dispatches on each model's API.
    pub provider: Arc<dyn Provider>,
    /// The model of the first call.
    pub model: Model,
    /// The models to fall back to, in order.
    pub fallback: Vec<Model>,
    /// The thinking level of the first call.
    pub thinking: ThinkingLevel,
    /// The agent's working folder.
    pub cwd: PathBuf,
    /// The tools, already filtered by tool set and policy.
    pub toolbox: Toolbox,
    /// The scope of the processes that its runs start.
    pub processes: Processes,
    /// Replaces the built-in system prompt.
    pub system_prompt: Option<String>,
    /// Paragraphs added after the system prompt.
    pub append_system_prompt: Vec<String>,
    /// Where instruction files (AGENTS.md) may come from.
    pub instructions: InstructionSources,
    /// Returns the date. Called when a prompt is built and when the user sends a message.
    pub today: Today,
    /// The session that stores the conversation.
    pub session: Session,
    /// Facts about the conversation at its leaf, from [`Session::facts`].
    pub facts: HistoryFacts,
    /// Folder for outputs that are too long for the model (`CALL.txt`), created when needed.
    pub spill_dir: PathBuf,
    /// Folder for trials, or `None` if the session could be lost and a trial with it.
    pub trials: Option<PathBuf>,
    /// Records file changes for undo, or `None` to record nothing.
    pub undo: Option<Undo>,
    /// The permissions of its calls.
    pub permission: PermissionOptions,
    /// Where stored permission rules come from after the start, or `None` if they don't change.
    pub rule_source: Option<Box<dyn RuleSource>>,
    /// The rules of the loop.
    pub rules: LoopRules,
    /// The budget of each of its sessions, unless the session has its own.
    pub budget: Budget,
    /// Whether a flag set its dollars, and its tokens; a session's own budget doesn't replace these.
    pub budget_flags: [bool; 2],
    /// Removes secrets from tool output.
    pub redactor: LazyRedactor,
    /// The user's hooks.
    pub hooks: Hooks,
    /// The user's tools.
    pub own_tools: OwnTools,
    /// The user's MCP servers.
    pub mcp: Mcp,
}

impl AgentOptions {
    /// Returns options for an agent in `cwd` with the built-in tools. It stores nothing, can't undo,
    /// and refuses calls that need a user's answer. Commands need the program `tiller` in `PATH`,
    /// because it ends their child processes with them.
    pub fn new(provider: Arc<dyn Provider>, model: Model, cwd: impl Into<PathBuf>) -> Self {
        let cwd = cwd.into();
        let session = Session::unstored(&cwd);
        Self {
            provider,
            model,
            fallback: Vec::new(),
            thinking: ThinkingLevel::Off,
            toolbox: Toolbox::new(tools::builtin(&ToolSettings::default())),
            processes: Processes::with_supervisor("tiller", Orphans::Leave),
            system_prompt: None,
            append_system_prompt: Vec::new(),
            instructions: InstructionSources::default(),
            today: Arc::new(|| jiff::Zoned::now().date()),
            facts: session.facts(),
            session,
            spill_dir: std::env::temp_dir().join(format!("tiller-{}", new_id())),
            trials: None,
            undo: None,
            permission: PermissionOptions {
                policy: Policy::default(),
                places: Places {
                    cwd: cwd.clone(),
                    ..Places::default()
                },
                temporary: None,
                has_user: false,
            },
            rule_source: None,
            rules: LoopRules::default(),
            budget: Budget::default(),
            budget_flags: [false; 2],
            redactor: LazyRedactor::default(),
            hooks: Hooks::default(),
            own_tools: OwnTools::default(),
            mcp: Mcp::default(),
            cwd,
        }
    }
}

/// Reads the stored permission rules while an agent runs.
pub trait RuleSource: Send {
    /// Returns the rules if they may have changed since the last call, or why it can't read them.
    fn changed(&mut self) -> Option<Result<Vec<Rule>, String>>;

    /// Returns what the user should know about other settings that have changed since the last call.
    fn other_changes(&mut self) -> Option<String>;
}

/// The initial permissions of an agent's calls.
#[derive(Clone, Debug)]
pub struct PermissionOptions {
    /// The mode and the rules.
    pub policy: Policy,
    /// The folders that define its workspace.
    pub places: Places,
    /// Where the session's private temporary folders are created when needed. The caller removes it
    /// at the end. `None` uses the shared ones.
    pub temporary: Option<PathBuf>,
    /// `true` if a user can answer questions. Otherwise calls that need one are refused.
    pub has_user: bool,
}
