//! The screen's start options and exit reasons. Plain data; `boot` fills it in.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::mpsc;

use super::app::{Start, Status};
use super::composer::SavedDraft;
use super::terminal::signals::ClientSignals;
use super::terminal::tty::Tty;
use super::theme::ThemeChoice;
use crate::agent::{Event, Snapshot};
use crate::app::config::SettingOverride;
use crate::app::host::Host;
use crate::app::manners::Manners;
use crate::app::notify::Notify;
use crate::app::project::Project;

pub(crate) struct TuiOptions {
    pub host: Host,
    pub events: mpsc::Receiver<Arc<Event>>,
    pub project: Option<Project>,
    pub status: Status,
    pub start: Start,
    pub theme: ThemeChoice,
    pub notify: Notify,
    pub manners: Manners,
    /// Overrides of the user's settings for this run.
    pub overrides: Arc<[SettingOverride]>,
    pub tty: Arc<Tty>,
    /// For a client's terminal.
    pub joining: Option<Joining>,
}

/// What a screen needs that joins a running session.
pub(crate) struct Joining {
    /// The session so far.
    pub snapshot: Arc<Snapshot>,
    /// What happens to the client; it ends when the client is gone.
    pub signals: ClientSignals,
}

/// Why the screen ended. The caller must end the agent (`AgentHandle::shutdown`).
#[derive(Clone, Debug, PartialEq)]
pub enum ExitKind {
    /// The user quit.
    Quit,
    /// The user continues with the session in this file, in its own folder.
    Reopen(PathBuf),
    /// The user joins the session in this file, which another program has open.
    Attach(PathBuf),
    /// The user leaves the demo for their own folder, with this model and unsent text.
    Anew(Option<String>, SavedDraft),
    /// The session that a client had joined is closed.
    SessionEnded,
    /// A signal: its number (exit code 128 + number).
    Signal(i32),
    /// The terminal is gone (exit code 129, as after SIGHUP).
    TerminalGone,
    /// The screen couldn't start, because the terminal can't show it (exit code 2).
    Unusable(String),
}

impl ExitKind {
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Quit
            | Self::SessionEnded
            | Self::Reopen(_)
            | Self::Attach(_)
            | Self::Anew(..) => 0,
            Self::Signal(number) => (128 + number) as u8,
            Self::TerminalGone => 129,
            Self::Unusable(_) => 2,
        }
    }
}
