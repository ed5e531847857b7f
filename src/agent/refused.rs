//! Why the agent does not do what it is asked, for whoever asked.

/// Why a message of another program was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It says nothing.
    #[error("the message is empty")]
    Empty,
    /// The program has another session open now.
    #[error("the session {wanted} is no longer open here; {open} is")]
    OtherSession {
        /// The one it was meant for.
        wanted: String,
        /// The one that is open.
        open: String,
    },
    /// The session is only read there.
    #[error("the session is open read-only there")]
    ReadOnly,
    /// No run is under way, and none may start.
    #[error("nothing is running there, and that tiller ends with its run")]
    NoRun,
    /// The agent is ending.
    #[error("the session is closing")]
    Leaving,
    /// The session cannot be written, for this reason.
    #[error("the session can't be saved there: {0}")]
    Unsaved(String),
}

/// Why another session was not opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenRefused {
    /// A run is under way.
    #[error("Stop the run first (Esc), then open another session.")]
    Busy,
    /// So many entries of the session that is open could not be written, for this reason.
    #[error(
        "{0} entries of this session aren't saved ({1}). Free disk space or /export them, then open \
         another session."
    )]
    Unsaved(usize, String),
    /// The agent is gone.
    #[error("The agent has stopped. Start tiller again.")]
    Gone,
}
