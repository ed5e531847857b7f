//! What happened, with its time. `update` never looks at a clock: time comes in with the message.

use std::path::PathBuf;
use std::sync::Arc;

use ratatui::layout::Size;

use super::composer::SavedDraft;
use super::effect::Direction;
use super::input::{KeyPress, MouseEvent, TerminalReport};
use super::options::ExitKind;
use super::view::ScreenDrawn;
use crate::agent::{Event, Snapshot};
use crate::app::models::{KeyState, ModelList};
use crate::llm::{Model, ThinkingLevel};

/// One thing that happened.
#[derive(Clone, Debug)]
pub struct Msg {
    /// When: Unix time in milliseconds, never running backwards.
    pub at: i64,
    /// What.
    pub kind: MsgKind,
}

/// What happened, by whose business it is.
#[derive(Clone, Debug)]
pub enum MsgKind {
    /// The screen stands; what should happen by itself may begin.
    Started,
    /// A key.
    Key(KeyPress),
    /// A paste, whole.
    Paste(String),
    /// The mouse.
    Mouse(MouseEvent),
    /// What the agent said.
    Agent(Arc<Event>),
    /// Events were missed: where the agent stands now.
    Resubscribed(Arc<Snapshot>),
    /// The agent is gone; nothing comes any more.
    AgentGone,
    /// A frame was drawn: what that found out.
    Drawn(ScreenDrawn),
    /// The terminal, or what an effect found out about it.
    Terminal(TerminalMsg),
    /// Time passed that something waited for.
    Tick,
    /// What an effect came back with.
    Done(EffectResult),
}

/// News of the terminal.
#[derive(Clone, Debug)]
pub enum TerminalMsg {
    /// Another size.
    Resize(Size),
    /// The focus came (true) or went.
    Focus(bool),
    /// An answer to a question.
    Report(TerminalReport),
    /// The program must end: a signal, or the terminal is gone.
    End(ExitKind),
    /// SIGINT from outside: means what Ctrl+C means.
    Interrupt,
    /// SIGTSTP from outside.
    Stop,
    /// No shell is there that could continue us.
    CannotStop,
}

/// A model that was named.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundModel {
    /// The model.
    pub model: Arc<Model>,
    /// The thinking level that was named with it.
    pub thinking: Option<ThinkingLevel>,
    /// Whether its key is there.
    pub key: KeyState,
}

/// What an effect came back with.
#[derive(Clone, Debug)]
pub enum EffectResult {
    /// The text as the external editor left it, or why there is none.
    Edited(Result<String, String>),
    /// The git branch of the folder, if it has one.
    Branch(Option<String>),
    /// What an earlier run could not send.
    Draft(SavedDraft),
    /// Prompts of earlier runs, oldest first.
    History(Vec<String>),
    /// All models; more may follow.
    Models(Arc<ModelList>),
    /// The model that was meant, or why there is none.
    Model(Result<FoundModel, String>),
    /// The favorites, and the way to go through them.
    Favorites(Vec<Arc<Model>>, Direction),
    /// The default was written into this file, or why not.
    Saved(Result<PathBuf, String>),
    /// Something failed that the user should know.
    Failed(String),
}
