//! Side effects that `update` asks for, as data. The event loop performs those on the terminal, the
//! `EffectRunner` all others.

use std::path::PathBuf;
use std::sync::Arc;

use super::composer::SavedDraft;
use super::options::ExitKind;
use super::session_effect::SessionEffect;
use super::transcript::{PageRequest, PageSearch};
use crate::agent::permission::{PermissionMode, Rule};
use crate::agent::trial::Trial;
use crate::agent::undo;
use crate::agent::{Answer, Budget, Leaving, QueueKind};
use crate::app::notify::Notify;
use crate::app::rule_store::RuleScope;
use crate::llm::{Content, Model, Secret, ThinkingLevel};

/// A direction through a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Towards its end.
    Forward,
    /// Towards its beginning.
    Back,
}

/// What becomes of what was typed and not sent when another session is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DraftChange {
    /// It goes to the other session.
    ComesAlong,
    /// It stays with the session before; that of the other one comes back.
    Stays(SavedDraft),
}

/// One side effect.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Open a connection for the prompt that is being written.
    Warm,
    /// Send a message: it starts a run, or steers.
    Prompt(Vec<Content>),
    /// Queue a message.
    Queue(QueueKind, Vec<Content>),
    /// Deliver the waiting steering messages now.
    SteerNow,
    /// Take the waiting messages back.
    TakeBack,
    /// Judge calls in this mode from the next one on.
    SetPermission(PermissionMode),
    /// Answer the question with this id.
    Answer(u64, Answer),
    /// Keep these rules for later runs.
    KeepRules(RuleScope, Vec<Rule>),
    /// Stop the run; while processes still die, kill them.
    Abort,
    /// Set what the session may spend.
    SetBudget(Budget),
    /// Allow the session to spend a budget more.
    RaiseBudget,
    /// Go on after a limit.
    GoOn,
    /// Do something about trials.
    Trial(TrialEffect),
    /// Do something about the changes of files.
    Undo(UndoEffect),
    /// Compact the conversation, with this in focus.
    Compact(Option<String>),
    /// Go back to before the last compaction.
    Uncompact,
    /// Ask where the window goes.
    ReadContext,
    /// Run a command of the user, called this.
    RunShell(String, String),
    /// End it.
    StopShell,
    /// Keep the picture in the clipboard as a file.
    PastePicture,
    /// Find files by some of their letters.
    FindFiles(String),
    /// Read what a path that was begun can become.
    ReadFolder(String),
    /// Read which models there are.
    ListModels,
    /// Resolve the name of a model.
    FindModel(String),
    /// Resolve the favorites, to go this way through them.
    FindFavorites(Direction),
    /// Use this model from the next call on.
    SetModel(Arc<Model>),
    /// Use this thinking level from the next call on.
    SetThinking(ThinkingLevel),
    /// Make this model (`provider/id`) the default.
    SaveDefault(String),
    /// Read which providers want a key.
    ListProviders,
    /// Store a key for a provider, and ask whether it takes it.
    StoreKey(String, Secret),
    /// Read the user's themes anew.
    ReadThemes,
    /// Read the settings as the user's file has them.
    ReadSettings,
    /// Take the setting with this dotted key out of the user's file.
    UnsetSetting(String),
    /// Set the setting with this dotted key in the user's file.
    SaveSetting(String, toml::Value),
    /// Read, change or open stored sessions.
    Session(SessionEffect),
    /// Trust the project, or not, from now on.
    Trust(bool),
    /// Write the session in this file into another, as the text behind the command says.
    Export(PathBuf, String),
    /// Name the session.
    NameSession(String),
    /// Read a page of the stored conversation.
    ReadPage(PageRequest),
    /// Read which entries the conversation of this generation is stored in.
    ReadEntries(u32),
    /// About the tree of the session.
    Tree(TreeEffect),
    /// Read the figures of all iterations of the session in this file.
    ReadIterations(PathBuf),
    /// Read one of them, counted from 1.
    ReadIteration(PathBuf, usize),
    /// Search pages of the stored conversation, and give up the search under way; none only gives up.
    SearchPages(Option<Box<PageSearch>>),
    /// Open the file or the address that this word is.
    Open(String),
    /// Copy this text, of which this much is said.
    Copy(Arc<str>, String),
    /// Read the git branch of the folder and how many files are changed.
    ReadGit,
    /// Read the prompts of earlier runs.
    LoadHistory,
    /// Append these prompts to the history of later runs.
    Remember(Vec<String>),
    /// Read the draft that an earlier run could not send.
    LoadDraft(PathBuf),
    /// Store the draft in place of the one stored before.
    SaveDraft(SavedDraft),
    /// The draft is that of the session in this file from now on.
    ChangeDraft(DraftChange, PathBuf),
    /// On the terminal or the program itself.
    Terminal(TerminalEffect),
}

/// A side effect about the tree of the session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TreeEffect {
    /// Read all entries.
    Read,
    /// Go on from the entry with this id; the branch that is left is summarised before, or not.
    GoTo(String, Leaving),
    /// Take the last prompt back into the editor, to go on from where it was sent.
    EditLast,
    /// Compare the two branches that these words name.
    Compare(String),
    /// Label the entry with this id, or the last one of the conversation; no label takes it away.
    Label(Option<String>, Option<String>),
}

/// A side effect on the terminal.
#[derive(Clone, Debug, PartialEq)]
pub enum TerminalEffect {
    /// Stop the program until the shell continues it.
    Suspend,
    /// Edit this text in the external editor.
    Edit(String),
    /// Open this file at this line in the external editor.
    OpenFile(PathBuf, Option<u64>),
    /// The terminal understands the kitty keyboard protocol: switch it on.
    EnableKitty,
    /// The protocol is in force: a lone ESC byte is never the Esc key.
    ConfirmKitty,
    /// Call the user, who looks elsewhere, and say why.
    Notify(Notify, &'static str),
    /// Take the mouse, or leave it to the terminal.
    Mouse(bool),
    /// Query the colors of the terminal.
    QueryColors,
    /// Ask the terminal with these bytes to take a text into its clipboard.
    AskClipboard(Vec<u8>),
    /// All replies of the terminal have come.
    Answered,
    /// Lay everything out anew: the colors or the transcript are others.
    LayOutAnew,
    /// End the program.
    Exit(ExitKind),
}

/// A side effect about the changes of files.
#[derive(Clone, Debug, PartialEq)]
pub enum UndoEffect {
    /// Ask what the next undo or redo would change.
    Preview(undo::Direction),
    /// Undo or redo this turn.
    Go(undo::Direction, String),
    /// Ask for the prompts of the conversation.
    Prompts,
    /// Ask what going back to before this prompt would change in files.
    PreviewRewind(undo::RewindPoint),
    /// Go back to before it.
    Rewind(undo::RewindPoint, undo::Rewind),
}

/// A side effect about trials.
#[derive(Clone, Debug, PartialEq)]
pub enum TrialEffect {
    /// Begin one with this message.
    Begin(Vec<Content>),
    /// Keep the open one.
    Keep,
    /// Discard the open one.
    Discard,
    /// Count the files that it has changed.
    CountChanges(Arc<Trial>),
    /// Look for those whose session is gone.
    FindAbandoned,
}
