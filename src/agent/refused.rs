//! Why the agent refuses a request.

/// Why a message was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It is empty.
    #[error("the message is empty")]
    Empty,
    /// Another session is open.
    #[error("the session {wanted} is no longer open here; {open} is")]
    OtherSession {
        /// The session that the message was for.
        wanted: String,
        /// The open session.
        open: String,
    },
    /// The session is read-only.
    #[error("the session is open read-only there")]
    ReadOnly,
    /// A run is active.
    #[error("a run is active; say whether the message steers it or follows it")]
    Running,
    /// No run is active, and none may start.
    #[error("nothing is running there, and that tiller ends with its run")]
    NoRun,
    /// The agent is shutting down.
    #[error("the session is closing")]
    Leaving,
    /// The session can't be written, for this reason.
    #[error("the session can't be saved there: {0}")]
    Unsaved(String),
}

/// Why another session was not opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenRefused {
    /// A run is active.
    #[error("Stop the run first (Esc), then open another session.")]
    Busy,
    /// This many entries of the open session couldn't be written, for this reason.
    #[error(
        "{0} entries of this session aren't saved ({1}). Free disk space or /export them, then open \
         another session."
    )]
    Unsaved(usize, String),
    /// The agent has ended.
    #[error("The agent has stopped. Start tiller again.")]
    Gone,
}
