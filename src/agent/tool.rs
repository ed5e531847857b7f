//! What a tool is: a schema, a function, and a result split in two. `content` is for the model,
//! [`Details`] is for users; neither is ever made from the other.

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::{BoxFuture, ready};
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub use super::details::{
    AttachmentDetails, CommandDetails, Details, DiffDetails, FileChange, FilesDetails,
    MatchesDetails, OtherDetails, TextDetails,
};
use super::process::Processes;
use super::process::sandbox::Sandbox;
use super::question::Asker;
use super::schema::Schema;
use super::workspace::Reach;
use crate::llm::auth::Redactor;
use crate::llm::{Content, EditFormat, ToolSpec};

/// Something the model can have done.
pub trait Tool: Send + Sync {
    /// Name, description and argument schema, as the model sees them.
    fn spec(&self) -> &ToolSpec;

    /// What arguments are validated against; compiled when first needed.
    fn schema(&self) -> Schema {
        Schema::strict(&self.spec().parameters)
    }

    /// The shape of editing this is, for a tool that edits files: a model is offered one of them.
    fn edit_format(&self) -> Option<EditFormat> {
        None
    }

    /// What a call with these arguments may do. They may be missing or of the wrong type: this is
    /// called before validation, as `preview` is.
    fn effects(&self, _args: &Value) -> Effects {
        Effects::unknown()
    }

    /// What the screen shows before the tool has anything to say.
    fn preview(&self, args: &Value) -> Details;

    /// Works out what a call would change, without changing anything. None where that cannot be known
    /// before; done only for calls that the user is asked about. `args` are as for `execute`.
    ///
    /// # Errors
    /// What `execute` would fail with.
    fn rehearse(
        &self,
        _args: Value,
        _context: ToolContext,
    ) -> BoxFuture<'_, Result<Option<Rehearsal>, ToolError>> {
        Box::pin(ready(Ok(None)))
    }

    /// Does the work. `args` were validated against the schema. Must stop soon after
    /// `context.cancel` fires; when it does not, its result is dropped and the run goes on.
    fn execute(
        &self,
        args: Value,
        context: ToolContext,
    ) -> BoxFuture<'_, Result<ToolOutput, ToolError>>;
}

/// What a call may do, known before it starts: what permission is decided by, and which calls run
/// at the same time. Paths are as the arguments name them; an empty one is the working directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Files and folders it reads.
    pub reads: Vec<String>,
    /// Files it creates, changes or deletes.
    pub writes: Vec<String>,
    /// The command it runs.
    pub command: Option<String>,
    /// Whether it may do anything: its tool does not declare what.
    pub unknown: bool,
    /// Whether it asks the user something.
    pub asks: bool,
}

impl Effects {
    /// A call that reads this path.
    pub fn read(path: String) -> Self {
        Self {
            reads: vec![path],
            ..Self::default()
        }
    }

    /// A call that writes these paths.
    pub fn write(paths: Vec<String>) -> Self {
        Self {
            writes: paths,
            ..Self::default()
        }
    }

    /// A call that may do anything.
    pub fn unknown() -> Self {
        Self {
            unknown: true,
            ..Self::default()
        }
    }

    /// Whether nothing changes by it. Consecutive calls of this kind run at the same time.
    pub fn only_reads(&self) -> bool {
        self.writes.is_empty() && self.command.is_none() && !self.unknown
    }
}

/// What a call knows of its surroundings.
#[derive(Clone, Debug)]
pub struct ToolContext {
    /// The call's id.
    pub call_id: String,
    /// The folder that relative paths are relative to.
    pub cwd: PathBuf,
    /// Where output too long for the model may be written whole; the folder may not exist yet.
    pub spill_file: PathBuf,
    /// Fires when the user stops the call.
    pub cancel: CancellationToken,
    /// Where live details go.
    pub progress: Progress,
    /// The scope of the processes that the call starts: they end with the run.
    pub processes: Processes,
    /// Asks the user.
    pub asker: Asker,
    /// Takes secrets out of what is kept on disk; the result is taken care of.
    pub redactor: Redactor,
    /// What its commands are held to; nothing where there is none.
    pub sandbox: Option<Arc<Sandbox>>,
    /// What the call was allowed to do: the tool's effects with these arguments.
    pub effects: Effects,
    /// The files it was allowed to touch.
    pub reach: Reach,
    /// The change that the user was shown and allowed, as [`Rehearsal::fingerprint`] has it: no other
    /// one is made.
    pub shown: Option<u64>,
}

/// What a call would do.
#[derive(Clone, Debug, PartialEq)]
pub struct Rehearsal {
    /// For users: the whole change.
    pub details: Details,
    /// Stands for the change: another one, also to another content, has another fingerprint.
    pub fingerprint: u64,
    /// Whether there would be any.
    pub changes: bool,
}

/// Live details of a running call: lossy, the latest wins.
#[derive(Clone, Debug)]
pub struct Progress(watch::Sender<Arc<Details>>);

impl Progress {
    /// A progress that starts with `details`, and the end to watch it from.
    pub fn new(details: Arc<Details>) -> (Self, watch::Receiver<Arc<Details>>) {
        let (sender, receiver) = watch::channel(details);
        (Self(sender), receiver)
    }

    /// Replaces what the screen shows of the call.
    pub fn set(&self, details: Details) {
        self.0.send_replace(Arc::new(details));
    }
}

/// What a call came to. A command that exits with 1 is an output with `is_error`, not a
/// [`ToolError`].
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutput {
    /// For the model.
    pub content: Vec<Content>,
    /// For users; stored with the session, never sent.
    pub details: Details,
    /// Whether the model gets it as an error result.
    pub is_error: bool,
}

impl ToolOutput {
    /// The output of a call that did what it should.
    pub fn new(text: impl Into<String>, details: Details) -> Self {
        Self {
            content: vec![Content::text(text)],
            details,
            is_error: false,
        }
    }
}

/// A call that could not be done. The text goes to the model as an error result, as it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolError {
    /// For the model, and for users unless there are details.
    pub message: String,
    /// For users, where the preview would say too little.
    pub details: Option<Details>,
}

impl ToolError {
    /// An error with nothing but its text.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            details: None,
        }
    }
}
