//! What the screen is started with and how it ends. Plain data: the assembling is `boot`'s.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::mpsc;

use crate::agent::{AgentHandle, Event};
use crate::app::models::Models;
use crate::llm::{Content, Model, ThinkingLevel};

/// Everything the screen needs to know.
pub struct TuiOptions {
    /// The way to the agent.
    pub handle: AgentHandle,
    /// What the agent says.
    pub events: mpsc::Receiver<Arc<Event>>,
    /// The model of the first call, for the status line.
    pub model: Arc<Model>,
    /// The thinking level of the first call.
    pub thinking: ThinkingLevel,
    /// Everything that can be chosen.
    pub models: Arc<Models>,
    /// The folder the agent works in.
    pub cwd: PathBuf,
    /// The session that is written, if one is.
    pub session: Option<SessionInfo>,
    /// The permission mode as the editor's border names it (`full`).
    pub permission: String,
    /// The theme's name; none lets the terminal's background decide.
    pub theme: Option<String>,
    /// What is kept for later runs; none keeps nothing.
    pub storage: Option<StoredFiles>,
    /// The user's key bindings, when the file exists.
    pub keymap_file: Option<PathBuf>,
    /// A prompt that is sent as soon as the screen stands; empty when there is none.
    pub initial_prompt: Vec<Content>,
    /// A demonstration that starts by itself unless the user types first.
    pub demo: Option<DemoStart>,
    /// What the user should read at the start.
    pub notices: Vec<String>,
}

/// Where the screen keeps what was typed.
#[derive(Clone, Debug)]
pub struct StoredFiles {
    /// The prompt history.
    pub history: PathBuf,
    /// The folder of unsent drafts, one for each working folder.
    pub drafts: PathBuf,
}

/// The session behind the screen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionInfo {
    /// Its name, when it has one.
    pub name: Option<String>,
    /// Its file.
    pub file: PathBuf,
}

/// A demonstration: after a second without a key its prompt is sent.
#[derive(Clone, Debug, PartialEq)]
pub struct DemoStart {
    /// The prompt that starts it.
    pub prompt: String,
}

/// Why the screen ended. The terminal is restored by then; ending the agent
/// (`AgentHandle::shutdown`) is the caller's.
#[derive(Clone, Debug, PartialEq)]
pub enum ExitKind {
    /// The user left.
    Quit,
    /// A signal asked: its number (exit code 128 + number).
    Signal(i32),
    /// The terminal is gone (exit code 129, as after SIGHUP).
    TerminalGone,
    /// It could not start: a key file with errors (exit code 2). The text says where.
    BadKeymap(String),
    /// The terminal could not be set up, or the theme is unknown (exit code 2).
    Unusable(String),
}

impl ExitKind {
    /// The exit code of the program.
    pub fn code(&self) -> u8 {
        match self {
            Self::Quit => 0,
            Self::Signal(number) => (128 + number) as u8,
            Self::TerminalGone => 129,
            Self::BadKeymap(_) | Self::Unusable(_) => 2,
        }
    }
}
