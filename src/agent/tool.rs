//! Tools: a schema, a function, and a result in two parts. `content` is for the model and
//! [`Details`] is for users. Neither is ever derived from the other.

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
use super::tools::own::Declares;
use super::workspace::Reach;
use tiller_llm::auth::Redactor;
use tiller_llm::{Content, EditFormat, ToolSpec};

/// How the names of the tools of MCP servers begin.
pub const MCP_PREFIX: &str = "mcp__";

/// An action that the model can request.
pub trait Tool: Send + Sync {
    /// Name, description and argument schema, as the model sees them.
    fn spec(&self) -> &ToolSpec;

    /// The schema that validates arguments; compiled when first needed.
    fn schema(&self) -> Schema {
        Schema::strict(&self.spec().parameters)
    }

    /// The edit format, for a tool that edits files. A model is offered only one of these tools.
    fn edit_format(&self) -> Option<EditFormat> {
        None
    }

    /// Returns what a call with these arguments may do. They may be missing or have the wrong type,
    /// because this is called before validation, like `preview`.
    fn effects(&self, _args: &Value) -> Effects {
        Effects::unknown()
    }

    /// Returns what the screen shows before the tool reports anything.
    fn preview(&self, args: &Value) -> Details;

    /// Determines what a call would change, without changing anything. Returns `None` if that isn't
    /// known in advance. Only called if the user must be asked. `args` are as for `execute`.
    ///
    /// # Errors
    /// Returns the error that `execute` would return.
    fn rehearse(
        &self,
        _args: Value,
        _context: ToolContext,
    ) -> BoxFuture<'_, Result<Option<Rehearsal>, ToolError>> {
        Box::pin(ready(Ok(None)))
    }

    /// Runs the call. `args` are validated against the schema. It must stop soon after
    /// `context.cancel` fires; otherwise its result is dropped and the run continues.
    fn execute(
        &self,
        args: Value,
        context: ToolContext,
    ) -> BoxFuture<'_, Result<ToolOutput, ToolError>>;
}

/// What a call may do, known before it starts. Decides permissions and which calls run in parallel.
/// Paths are as in the arguments; an empty one means the working directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Files and folders it reads.
    pub reads: Vec<String>,
    /// Files it creates, changes or deletes.
    pub writes: Vec<String>,
    /// The command it runs.
    pub command: Option<String>,
    /// The user's program that is the command, if the call is of a tool of the user.
    pub program: Option<OwnProgram>,
    /// The host on the network that it reads from.
    pub host: Option<WebHost>,
    /// `true` if it may do anything, because its tool doesn't declare its effects.
    pub unknown: bool,
    /// `true` if its tool says that it changes nothing, which tiller can't check.
    pub claims_to_read: bool,
    /// `true` if it asks the user something.
    pub asks: bool,
}

/// A host that a call reads from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebHost {
    /// Its name or address.
    pub name: String,
    /// `true` if it is this machine or a private address, by its name.
    pub is_local: bool,
    /// `true` if it may be a private address.
    pub may_be_private: bool,
}

/// A program of the user, as a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnProgram {
    /// What it says that it does.
    pub declares: Declares,
    /// A folder that it must see, though commands don't.
    pub folder: Option<PathBuf>,
    /// The program's first line, if that names what runs it.
    pub interpreter: String,
}

impl Effects {
    /// Returns the effects of reading this path.
    pub fn read(path: String) -> Self {
        Self {
            reads: vec![path],
            ..Self::default()
        }
    }

    /// Returns the effects of writing these paths.
    pub fn write(paths: Vec<String>) -> Self {
        Self {
            writes: paths,
            ..Self::default()
        }
    }

    /// Returns the effects of a call that may do anything.
    pub fn unknown() -> Self {
        Self {
            unknown: true,
            ..Self::default()
        }
    }

    /// Returns `true` if the call changes nothing. Consecutive calls of this kind run in parallel.
    pub fn only_reads(&self) -> bool {
        self.writes.is_empty() && self.command.is_none() && !self.unknown
    }
}

/// What a call knows about its surroundings.
#[derive(Clone, Debug)]
pub struct ToolContext {
    /// Variables that hooks have set for commands.
    pub variables: Vec<(String, String)>,
    /// The call's id.
    pub call_id: String,
    /// The base folder of relative paths.
    pub cwd: PathBuf,
    /// Where to write output that is too long for the model. The folder may not exist yet.
    pub spill_file: PathBuf,
    /// Fires when the user stops the call.
    pub cancel: CancellationToken,
    /// Receives live details.
    pub progress: Progress,
    /// The scope of the processes that the call starts. They end with the run.
    pub processes: Processes,
    /// Asks the user.
    pub asker: Asker,
    /// Removes secrets from what the tool stores on disk. The result is redacted separately.
    pub redactor: Redactor,
    /// The sandbox of its commands, if any.
    pub sandbox: Option<Arc<Sandbox>>,
    /// What the call was allowed to do: the tool's effects with these arguments.
    pub effects: Effects,
    /// The files it may touch.
    pub reach: Reach,
    /// The [`Rehearsal::fingerprint`] of the change that the user allowed: no other may happen.
    pub shown: Option<u64>,
}

/// What a call would do.
#[derive(Clone, Debug, PartialEq)]
pub struct Rehearsal {
    /// The whole change, for users.
    pub details: Details,
    /// Identifies the change, including the resulting content.
    pub fingerprint: u64,
    /// `true` if anything would change.
    pub changes: bool,
}

/// Live details of a running call. Lossy: only the latest is kept.
#[derive(Clone, Debug)]
pub struct Progress(watch::Sender<Arc<Details>>);

impl Progress {
    /// Creates a progress that starts with `details`, and a receiver to watch it.
    pub fn new(details: Arc<Details>) -> (Self, watch::Receiver<Arc<Details>>) {
        let (sender, receiver) = watch::channel(details);
        (Self(sender), receiver)
    }

    /// Replaces what the screen shows for the call.
    pub fn set(&self, details: Details) {
        self.0.send_replace(Arc::new(details));
    }
}

/// The result of a call. A command that exits with 1 is an output with `is_error`, not a [`ToolError`].
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutput {
    /// Content for the model.
    pub content: Vec<Content>,
    /// Details for users: stored with the session, never sent.
    pub details: Details,
    /// `true` if the model gets it as an error result.
    pub is_error: bool,
}

impl ToolOutput {
    /// Creates the output of a successful call.
    pub fn new(text: impl Into<String>, details: Details) -> Self {
        Self {
            content: vec![Content::text(text)],
            details,
            is_error: false,
        }
    }
}

/// A call that failed. The model gets the text unchanged, as an error result.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolError {
    /// For the model, and for users if there are no details.
    pub message: String,
    /// For users, if the preview isn't enough.
    pub details: Option<Details>,
}

impl ToolError {
    /// Creates an error with only a text.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            details: None,
        }
    }
}
