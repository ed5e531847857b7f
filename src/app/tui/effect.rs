//! What `update` wants done, as data. What concerns the terminal is done by the event loop,
//! everything else by the `EffectRunner`.

use std::sync::Arc;

use super::composer::SavedDraft;
use super::options::ExitKind;
use crate::agent::QueueKind;
use crate::llm::{Content, Model, ThinkingLevel};

/// A direction through a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Towards its end.
    Forward,
    /// Towards its beginning.
    Back,
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Get ready for a prompt that is being written.
    Warm,
    /// Send a message: it starts a run, or steers.
    Prompt(Vec<Content>),
    /// Let a message wait in a queue.
    Queue(QueueKind, Vec<Content>),
    /// Deliver what waits now.
    SteerNow,
    /// Ask for the waiting messages back.
    TakeBack,
    /// Stop the run; while processes still die, kill them.
    Abort,
    /// Go on after the iteration limit.
    GoOn,
    /// Read which models there are.
    ListModels,
    /// Find the model that is meant by this.
    FindModel(String),
    /// Find the favorites, to go this way through them.
    FindFavorites(Direction),
    /// Speak to this model from the next call on.
    SetModel(Arc<Model>),
    /// Let it think this hard from the next call on.
    SetThinking(ThinkingLevel),
    /// Make this model (`provider/id`) the default.
    SaveDefault(String),
    /// Read the git branch of the folder.
    ReadBranch,
    /// Read the prompts of earlier runs.
    LoadHistory,
    /// Keep these prompts for later runs.
    Remember(Vec<String>),
    /// Read what an earlier run could not send.
    LoadDraft,
    /// Keep what is not sent yet, in place of what was kept before.
    SaveDraft(SavedDraft),
    /// Something about the terminal or the program itself.
    Terminal(TerminalEffect),
}

/// One thing to do with the terminal.
#[derive(Clone, Debug, PartialEq)]
pub enum TerminalEffect {
    /// Stop the program until the shell continues it.
    Suspend,
    /// Edit this text in the external editor.
    Edit(String),
    /// The terminal understands the kitty keyboard protocol: switch it on.
    EnableKitty,
    /// The protocol is in force: a lone ESC is no key any more.
    ConfirmKitty,
    /// All answers of the terminal are in.
    Answered,
    /// Other colors, or another transcript: nothing that was laid out is right any more.
    LayOutAnew,
    /// End the program.
    Exit(ExitKind),
}
