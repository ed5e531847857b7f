//! Everything that can change the screen's state.

use std::path::PathBuf;
use std::sync::Arc;

use ratatui_core::layout::Size;

use super::composer::{History, SavedDraft};
use super::effects::effect::{Direction, Lookup};
use super::effects::open_target::OpenTarget;
use super::effects::session_effect::SessionResult;
use super::options::ExitKind;
use super::start::DraftElsewhere;
use super::terminal::input::InputEvent;
use super::theme::Themes;
use super::transcript::{LoadedPage, PagesSearched};
use super::view::ScreenDrawn;
use crate::agent::session::{IterationSummary, SessionBranch};
use crate::agent::tool::CommandDetails;
use crate::agent::trial::Trial;
use crate::agent::undo;
use crate::agent::{ContextUsage, Event, Snapshot};
use crate::app::branches::Outline;
use crate::app::clipboard::CopyOutcome;
use crate::app::commands::CustomCommand;
use crate::app::config::SettingRow;
use crate::app::host::CommandEnd;
use crate::app::models::{KeyState, ModelList, ProviderKey};
use crate::llm::{Model, ThinkingLevel};

/// One thing that happened.
#[derive(Clone, Debug)]
pub enum Msg {
    /// The first frame is drawn; start-up actions may begin.
    Started,
    /// A key, a paste, the mouse, or something else the terminal sent.
    Input(InputEvent),
    /// The terminal was resized.
    Resize(Size),
    /// A cell's size in pixels: width and height.
    CellSize((u16, u16)),
    /// The program must end: a signal, or the terminal is gone.
    End(ExitKind),
    /// SIGINT from outside: the same as Ctrl+C.
    Interrupt,
    /// The program can't be suspended, because no shell could continue it.
    CannotSuspend,
    /// An event of the agent.
    Agent(Arc<Event>),
    /// The screen joined a running session: the agent's state now.
    Joined(Arc<Snapshot>),
    /// Events were missed: the agent's state now.
    Resubscribed(Arc<Snapshot>),
    /// The agent is gone; no more events will come.
    AgentGone,
    /// A frame was drawn: where its parts are.
    Drawn(Box<ScreenDrawn>),
    /// [`App::next_wake`](super::app::App::next_wake) has come.
    Tick,
    /// The result of an effect.
    Done(EffectResult),
}

/// A model found by name.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundModel {
    /// The model.
    pub model: Arc<Model>,
    /// The thinking level given with it.
    pub thinking: Option<ThinkingLevel>,
    /// Whether there is a key for it.
    pub key: KeyState,
}

/// Files that match the typed text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFiles {
    /// The typed text.
    pub typed: String,
    /// Their paths, best first; those of folders end with a slash.
    pub paths: Vec<String>,
    /// Whether folders are still being read.
    pub waits: bool,
}

/// The result of an effect.
#[derive(Clone, Debug)]
pub enum EffectResult {
    /// The text given to the external editor, and the edited text or an error.
    Edited(String, Result<String, String>),
    /// A page of the stored conversation.
    Page(LoadedPage),
    /// The entries that store this generation of the conversation.
    Entries(u32, Arc<SessionBranch>),
    /// The summaries of all iterations, or an error.
    Iterations(Result<Arc<[IterationSummary]>, String>),
    /// The git branch of the folder, if it has one.
    Branch(Option<String>),
    /// The number of changed files in its working tree, if known.
    Changes(Option<usize>),
    /// The draft left by an earlier run.
    Draft(SavedDraft),
    /// Another session has a draft left by an earlier run.
    DraftElsewhere(DraftElsewhere),
    /// Prompts of earlier runs, oldest first.
    History(History),
    /// Another session was forked before this prompt.
    Forked(String),
    /// All entries of the session.
    Tree(Box<Outline>),
    /// What fills the context window; `None` if the agent is gone.
    Context(Option<ContextUsage>),
    /// The result of an effect on stored sessions.
    Session(SessionResult),
    /// The output so far of the user's command with this id.
    ShellOutput(String, CommandDetails),
    /// A user's command has ended.
    Shell(String, CommandEnd),
    /// The file with the clipboard's picture, or an error.
    Picture(Result<PathBuf, String>),
    /// Files that match the typed text; more may follow.
    Files(FoundFiles),
    /// The names that complete a path.
    Folder(String, Vec<String>),
    /// The checked text, and an error about a missing file that it mentions.
    Mentions(String, Option<String>),
    /// The prompt behind a typed command, if the user has a file for it.
    CustomCommand(Lookup, Result<Option<String>, String>),
    /// The user's own commands.
    CustomCommands(Vec<CustomCommand>),
    /// All models; more may follow.
    Models(Arc<ModelList>),
    /// The model found by name, or an error.
    Model(String, Result<FoundModel, String>),
    /// The favorites, and the direction to cycle.
    Favorites(Vec<FoundModel>, Direction),
    /// Matches in pages that aren't loaded.
    PagesSearched(PagesSearched),
    /// The target that a word opens, or an error.
    Opening(Result<OpenTarget, String>),
    /// The editor closed a file, or couldn't open it.
    FileClosed(Result<(), String>),
    /// The outcome of copying a text, and its description.
    Copied(String, CopyOutcome),
    /// The file with the new default, or an error.
    Saved(Result<PathBuf, String>),
    /// The providers that need a key.
    Providers(Vec<ProviderKey>),
    /// Where a key was stored, or an error.
    KeyStored(Result<String, String>),
    /// The user's themes.
    Themes(Arc<Themes>),
    /// The settings from the user's file.
    Settings(Result<Vec<SettingRow>, String>),
    /// The setting's key, its new value and the file, or an error.
    SettingSaved(Result<(String, toml::Value, PathBuf), String>),
    /// Trials of deleted sessions.
    AbandonedTrials(Vec<Trial>),
    /// The user has decided about the project's trust, on this screen or another.
    TrustDecided,
    /// The number of files the trial has changed, if known.
    TrialChanges(Arc<Trial>, Option<usize>),
    /// The effect of the next undo or redo; `None` if there is none.
    Undo(undo::Direction, Option<undo::Preview>),
    /// The prompts of the conversation.
    RewindPoints(Vec<undo::RewindPoint>),
    /// The file changes of rewinding to this prompt.
    RewindPreview(String, undo::Preview),
    /// A command was refused; nothing has changed.
    Refused(String),
    /// A command was refused because of its argument; nothing has changed.
    CommandRefused {
        /// The command as the user typed it.
        typed: String,
        /// What's wrong.
        why: String,
    },
    /// Information for the user.
    Said(String),
    /// An error for the user.
    Failed(String),
}
