//! Side effects that `update` requests, as data. The event loop runs those on the terminal, the
//! `EffectRunner` all others.

use std::path::PathBuf;
use std::sync::Arc;

use super::session_effect::SessionEffect;
use crate::agent::permission::{PermissionMode, Rule};
use crate::agent::trial::Trial;
use crate::agent::undo;
use crate::agent::{Answer, Leaving, QueueKind};
use crate::app::commands::SlashCommand;
use crate::app::notify::Notify;
use crate::app::rule_store::RuleScope;
use crate::app::tui::composer::SavedDraft;
use crate::app::tui::options::ExitKind;
use crate::app::tui::transcript::{PageRequest, PageSearch};
use crate::llm::{Content, Model, Secret, ThinkingLevel};

/// A direction through a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Towards its end.
    Forward,
    /// Towards its beginning.
    Back,
}

/// What happens to unsent text when another session opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DraftChange {
    /// It moves to the other session.
    ComesAlong,
    /// It stays with the previous session; the other session's draft comes back.
    Stays(SavedDraft),
}

/// A typed command that tiller doesn't have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lookup {
    /// The whole text.
    pub typed: String,
    /// What to say if the user has no file for it.
    pub otherwise: String,
    /// Whether that clears the prompt.
    pub clears: bool,
}

/// One side effect.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Open a connection for the prompt being written.
    Warm,
    /// Send a message: it starts a run or steers the current one.
    Prompt(Vec<Content>),
    /// Queue a message.
    Queue(QueueKind, Vec<Content>),
    /// Deliver queued steering messages now.
    SteerNow,
    /// Take back the queued message with this id, or all.
    TakeBack(Option<u64>),
    /// Use this permission mode from the next call on.
    SetPermission(PermissionMode),
    /// Answer the question with this id.
    Answer(u64, Answer),
    /// Save these rules for later runs.
    KeepRules(RuleScope, Vec<Rule>),
    /// Stop the run; kill processes that are still ending.
    Abort,
    /// Run a command with its argument.
    RunCommand(&'static SlashCommand, String),
    /// Raise the session's budget by one step.
    RaiseBudget,
    /// Resume after a limit.
    GoOn,
    /// An effect on trials.
    Trial(TrialEffect),
    /// An effect on file changes.
    Undo(UndoEffect),
    /// Read what fills the context window.
    ReadContext,
    /// Run a user's command with this id.
    RunShell(String, String),
    /// Stop the user's command.
    StopShell,
    /// Save the clipboard's picture to a file.
    PastePicture,
    /// Find files by fuzzy search.
    FindFiles(String),
    /// Check whether the files exist that this text mentions.
    CheckMentions(String),
    /// Find the user's file for a typed command.
    FindCustomCommand(Lookup),
    /// Read the user's own commands.
    ListCustomCommands,
    /// Read the completions of a path.
    ReadFolder(String),
    /// Read the list of models.
    ListModels,
    /// Resolve the name of a model.
    FindModel(String),
    /// Resolve the favorites, to cycle in this direction.
    FindFavorites(Direction),
    /// Use this model from the next call on.
    SetModel(Arc<Model>),
    /// Use this thinking level from the next call on.
    SetThinking(ThinkingLevel),
    /// Make this model (`provider/id`) the default.
    SaveDefault(String),
    /// Read which providers need a key.
    ListProviders,
    /// Store a provider's key, and check it with the provider.
    StoreKey(String, Secret),
    /// Reload the user's themes.
    ReadThemes,
    /// Read the settings from the user's file.
    ReadSettings,
    /// Remove the setting with this dotted key from the user's file.
    UnsetSetting(String),
    /// Set the setting with this dotted key in the user's file.
    SaveSetting(String, toml::Value),
    /// Read, change or open stored sessions.
    Session(SessionEffect),
    /// Trust the project from now on, or not.
    Trust(bool),
    /// Read a page of the stored conversation.
    ReadPage(PageRequest),
    /// Read which entries this generation of the conversation is stored in.
    ReadEntries(u32),
    /// An effect on the session tree.
    Tree(TreeEffect),
    /// Read the summaries of all iterations of the session in this file.
    ReadIterations(PathBuf),
    /// Search pages of the stored conversation, and cancel the current search; `None` only cancels.
    SearchPages(Option<Box<PageSearch>>),
    /// Open the file or link that this word names.
    Open(String),
    /// Copy this text, described to the user like this.
    Copy(Arc<str>, String),
    /// Read the git branch of the folder and the number of changed files.
    ReadGit,
    /// Read the prompts of earlier runs.
    LoadHistory,
    /// Append these prompts to the history of later runs.
    Remember(Vec<String>),
    /// Read the draft left by an earlier run.
    LoadDraft(PathBuf),
    /// Save the draft in place of the earlier one.
    SaveDraft(SavedDraft),
    /// Use the draft of the session in this file from now on.
    ChangeDraft(DraftChange, PathBuf),
    /// An effect on the terminal or the program itself.
    Terminal(TerminalEffect),
}

/// A side effect on the session tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TreeEffect {
    /// Read all entries.
    Read,
    /// Continue from the entry with this id, with or without a summary of the branch that is left.
    GoTo(String, Leaving),
    /// Take the last prompt back into the editor, and continue from where it was sent.
    EditLast,
    /// Label this entry; without a label, remove it.
    Label(String, Option<String>),
}

/// A side effect on the terminal.
#[derive(Clone, Debug, PartialEq)]
pub enum TerminalEffect {
    /// Suspend the program until the shell continues it.
    Suspend,
    /// Edit this text in the external editor.
    Edit(String),
    /// Open this file at this line in the external editor.
    OpenFile(PathBuf, Option<u64>),
    /// Turn on the kitty keyboard protocol, which the terminal supports.
    EnableKitty,
    /// The protocol is active: a lone ESC byte is never the Esc key.
    ConfirmKitty,
    /// Notify the user, who is away, with this reason.
    Notify(Notify, &'static str),
    /// Turn mouse support on or off.
    Mouse(bool),
    /// Query the colors of the terminal.
    QueryColors,
    /// Ask the terminal with these bytes to put a text into its clipboard.
    AskClipboard(Vec<u8>),
    /// The terminal has sent all its replies.
    Answered,
    /// Lay out everything again, with other colors or another transcript.
    LayOutAnew,
    /// End the program.
    Exit(ExitKind),
}

/// A side effect on file changes.
#[derive(Clone, Debug, PartialEq)]
pub enum UndoEffect {
    /// Preview the next undo or redo.
    Preview(undo::Direction),
    /// Undo or redo this turn.
    Go(undo::Direction, String),
    /// Read the prompts of the conversation.
    Prompts,
    /// Preview the file changes of rewinding to before this prompt.
    PreviewRewind(undo::RewindPoint),
    /// Rewind to before it.
    Rewind(undo::RewindPoint, undo::Rewind),
}

/// A side effect on trials.
#[derive(Clone, Debug, PartialEq)]
pub enum TrialEffect {
    /// Start one with this message.
    Begin(Vec<Content>),
    /// Count the files it has changed.
    CountChanges(Arc<Trial>),
    /// Find trials of deleted sessions.
    FindAbandoned,
}
