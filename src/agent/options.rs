//! Everything an agent is started with. No defaults for models or prompts: the application
//! decides, the agent obeys.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use super::budget::Budget;
use super::memory::{InstructionSources, Today};
use super::permission::Policy;
use super::process::Processes;
use super::rules::LoopRules;
use super::session::{HistoryFacts, Session};
use super::toolbox::Toolbox;
use super::undo::Undo;
use super::workspace::Places;
use crate::llm::auth::Redactor;
use crate::llm::{Model, Provider, ThinkingLevel};

/// Takes secrets out of what tools answer. They are gathered with the first call.
#[derive(Clone)]
pub struct LazyRedactor(Arc<LazyLock<Redactor, Gather>>);

type Gather = Box<dyn FnOnce() -> Redactor + Send>;

impl LazyRedactor {
    /// One that knows what `gather` finds.
    pub fn new(gather: impl FnOnce() -> Redactor + Send + 'static) -> Self {
        Self(Arc::new(LazyLock::new(Box::new(gather))))
    }

    /// The redactor.
    pub fn get(&self) -> &Redactor {
        &self.0
    }
}

/// Knows no secret.
impl Default for LazyRedactor {
    fn default() -> Self {
        Self::new(Redactor::default)
    }
}

/// What `agent::start` takes.
pub struct AgentOptions {
    /// The way to models; dispatches on the model's api by itself.
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
    /// The scope of the processes that its runs start.
    pub processes: Processes,
    /// Replaces the built-in system prompt.
    pub system_prompt: Option<String>,
    /// Added behind the system prompt, each a paragraph of its own.
    pub append_system_prompt: Vec<String>,
    /// Where instruction files (AGENTS.md) may come from.
    pub instructions: InstructionSources,
    /// Tells the date; asked when a prompt is made and when the user speaks.
    pub today: Today,
    /// Where the conversation is stored.
    pub session: Session,
    /// The conversation at its leaf, as [`Session::facts`] gives it.
    pub facts: HistoryFacts,
    /// Folder for outputs too long for the model (`CALL.txt`); made when needed.
    pub spill_dir: PathBuf,
    /// Where trials are kept; none where the session could be lost, and a trial with it.
    pub trials: Option<PathBuf>,
    /// Keeps what its calls change; none where nothing is to be kept.
    pub undo: Option<Undo>,
    /// What its calls may do.
    pub permission: PermissionOptions,
    /// The rules of the loop.
    pub rules: LoopRules,
    /// What each of its sessions may spend.
    pub budget: Budget,
    /// Takes secrets out of what tools answer.
    pub redactor: LazyRedactor,
}

/// What the calls of an agent may do, to begin with.
#[derive(Clone, Debug)]
pub struct PermissionOptions {
    /// The mode and the rules.
    pub policy: Policy,
    /// What its workspace is made of.
    pub places: Places,
    /// Where the session's own temporary folders are made when they are needed; whoever starts the
    /// agent removes it at the end. None: the session has those of all programs.
    pub temporary: Option<PathBuf>,
    /// Whether somebody can answer questions; else each is refused.
    pub has_user: bool,
}
