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
    #[error("the session is open for reading only there")]
    ReadOnly,
    /// No run is under way, and none may start.
    #[error("no run is under way, and this program ends with its run")]
    NoRun,
    /// The agent is ending.
    #[error("the session is being closed")]
    Leaving,
    /// The session cannot be written, for this reason.
    #[error("the session cannot be saved there: {0}")]
    Unsaved(String),
}

/// Why another session was not opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenRefused {
    /// A run is under way.
    #[error("Another session can be opened when no run is under way: stop it first.")]
    Busy,
    /// So many entries of the session that is open could not be written, for this reason.
    #[error(
        "{0} entries of this session are only in memory ({1}): free disk space, or save them with \
         /export, before you open another session."
    )]
    Unsaved(usize, String),
    /// The agent is gone.
    #[error("The agent has stopped, so no session can be opened.")]
    Gone,
}
