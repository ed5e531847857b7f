//! What `update` wants done, as data. Doing it is `perform`'s.

use super::options::ExitKind;
use std::sync::Arc;

use crate::agent::QueueKind;
use crate::llm::{Content, Model, ThinkingLevel};

/// A direction through a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
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
    /// Find the favourites, to go this way through them.
    FindFavorites(Way),
    /// Speak to this model from the next call on.
    SetModel(Arc<Model>),
    /// Let it think this hard from the next call on.
    SetThinking(ThinkingLevel),
    /// Make this model (`provider/id`) the default.
    SaveDefault(String),
    /// Stop the program until the shell continues it.
    Suspend,
    /// Edit this text in the external editor.
    Edit(String),
    /// Read the git branch of the folder.
    ReadBranch,
    /// Read the prompts of earlier runs.
    LoadHistory,
    /// Keep these prompts for later runs.
    Remember(Vec<String>),
    /// The terminal understands unmistakable keys: switch them on.
    EnableKitty,
    /// It really sends them now: a lone ESC is no key any more.
    ConfirmKitty,
    /// All answers of the terminal are in.
    Answered,
    /// End the program.
    Exit(ExitKind),
}
