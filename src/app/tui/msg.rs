//! Everything that can change the screen's state.

use std::path::PathBuf;
use std::sync::Arc;

use ratatui::layout::Size;

use super::composer::{History, SavedDraft};
use super::effect::Direction;
use super::input::InputEvent;
use super::open_target::OpenTarget;
use super::options::ExitKind;
use super::session_effect::SessionResult;
use super::start::DraftElsewhere;
use super::theme::Themes;
use super::transcript::{LoadedPage, PagesSearched};
use super::view::ScreenDrawn;
use crate::agent::session::{Iteration, IterationSummary, SessionBranch};
use crate::agent::tool::CommandDetails;
use crate::agent::trial::Trial;
use crate::agent::undo;
use crate::agent::{ContextUsage, Event, Snapshot};
use crate::app::branches::{ComparisonLine, Outline};
use crate::app::clipboard::CopyOutcome;
use crate::app::config::SettingRow;
use crate::app::models::{KeyState, ModelList, ProviderKey};
use crate::llm::{Model, ThinkingLevel};

/// One thing that happened.
#[derive(Clone, Debug)]
pub enum Msg {
    /// The first frame is drawn; what should happen by itself may begin.
    Started,
    /// A key, a paste, the mouse, or something else the terminal sent.
    Input(InputEvent),
    /// The terminal has another size.
    Resize(Size),
    /// A cell has so many pixels: width and height.
    CellSize((u16, u16)),
    /// The program must end: a signal, or the terminal is gone.
    End(ExitKind),
    /// SIGINT from outside: means what Ctrl+C means.
    Interrupt,
    /// The program cannot be suspended: no shell could continue it.
    CannotSuspend,
    /// An event of the agent.
    Agent(Arc<Event>),
    /// Events were missed: the agent's state now.
    Resubscribed(Arc<Snapshot>),
    /// The agent is gone; no event will come any more.
    AgentGone,
    /// A frame was drawn: where its parts are.
    Drawn(Box<ScreenDrawn>),
    /// The time of [`App::next_wake`](super::app::App::next_wake) has come.
    Tick,
    /// The result of an effect.
    Done(EffectResult),
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

/// How a command of the user ended.
#[derive(Clone, Debug, PartialEq)]
pub struct ShellEnd {
    /// Which of them.
    pub id: String,
    /// Its output and its exit.
    pub details: CommandDetails,
    /// What went wrong, if anything did.
    pub failure: Option<String>,
}

/// Files that fit what was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFiles {
    /// What was typed.
    pub typed: String,
    /// Their paths, best first; those of folders end with a slash.
    pub paths: Vec<String>,
    /// Whether folders are still being read.
    pub waits: bool,
}

/// The result of an effect.
#[derive(Clone, Debug)]
pub enum EffectResult {
    /// The text given to the external editor, and the one it left, or why there is none.
    Edited(String, Result<String, String>),
    /// A page of the stored conversation.
    Page(LoadedPage),
    /// The entries that the conversation of this generation is stored in.
    Entries(u32, Arc<SessionBranch>),
    /// The figures of all iterations, or why they cannot be read.
    Iterations(Result<Arc<[IterationSummary]>, String>),
    /// An iteration, counted from 1, or why it cannot be read.
    Iteration(usize, Result<Arc<Iteration>, String>),
    /// The git branch of the folder, if it has one.
    Branch(Option<String>),
    /// How many files of its work tree are changed, where that is known.
    Changes(Option<usize>),
    /// What an earlier run could not send.
    Draft(SavedDraft),
    /// What an earlier run could not send waits in another session.
    DraftElsewhere(DraftElsewhere),
    /// Prompts of earlier runs, oldest first.
    History(History),
    /// Another session was forked before this prompt.
    Forked(String),
    /// Two branches side by side, or why they cannot be compared.
    Compared(Result<Vec<ComparisonLine>, String>),
    /// All entries of the session.
    Tree(Box<Outline>),
    /// Where the window goes; none when the agent is gone.
    Context(Option<ContextUsage>),
    /// The result of an effect on stored sessions.
    Session(SessionResult),
    /// A command of the user, called this, has written so much so far.
    ShellOutput(String, CommandDetails),
    /// A command of the user has ended.
    Shell(ShellEnd),
    /// The picture of the clipboard is in this file, or why there is none.
    Picture(Result<PathBuf, String>),
    /// Files that fit what was typed; more may follow.
    Files(FoundFiles),
    /// The names that a path which was begun can become.
    Folder(String, Vec<String>),
    /// All models; more may follow.
    Models(Arc<ModelList>),
    /// The model that was meant, or why there is none.
    Model(Result<FoundModel, String>),
    /// The favorites, and the way to go through them.
    Favorites(Vec<FoundModel>, Direction),
    /// Matches in pages that are not in memory.
    PagesSearched(PagesSearched),
    /// What a word leads to, or why to nothing.
    Opening(Result<OpenTarget, String>),
    /// The editor left a file, or why it did not open it.
    FileClosed(Result<(), String>),
    /// What became of a text that was to be copied, and how much it was.
    Copied(String, CopyOutcome),
    /// The default was written into this file, or why not.
    Saved(Result<PathBuf, String>),
    /// The providers that want a key.
    Providers(Vec<ProviderKey>),
    /// A key was stored, and where, or why not.
    KeyStored(Result<String, String>),
    /// The user's themes.
    Themes(Arc<Themes>),
    /// The settings as the user's file has them.
    Settings(Result<Vec<SettingRow>, String>),
    /// The setting with this key has this value in this file now, or why not.
    SettingSaved(Result<(String, toml::Value, PathBuf), String>),
    /// Trials whose session is gone.
    AbandonedTrials(Vec<Trial>),
    /// How many files the trial has changed, if that can be told.
    TrialChanges(Arc<Trial>, Option<usize>),
    /// What the next undo or redo would change; none where there is nothing.
    Undo(undo::Direction, Option<undo::Preview>),
    /// The prompts of the conversation.
    RewindPoints(Vec<undo::RewindPoint>),
    /// What going back to this prompt would change in files.
    RewindPreview(String, undo::Preview),
    /// A command cannot be done, and nothing has changed.
    Refused(String),
    /// Something was done that the user should know.
    Said(String),
    /// Something failed that the user should know.
    Failed(String),
}
