//! Runs the bash tool alone, with its own processes and spill folder. A test can watch a call and
//! cancel it.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;
use tiller::agent::process::sandbox::Sandbox;
use tiller::agent::process::{Orphans, Processes};
use tiller::agent::tool::CommandDetails;
use tiller::agent::workspace::Reach;
use tiller::agent::{
    Details, Effects, Progress, Tool, ToolContext, ToolError, ToolOutput, ToolSettings, tools,
};
use tiller::llm::auth::Redactor;
use tiller::llm::message::content_text;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::support::marked::DEADLINE;

pub struct BashTool {
    pub processes: Processes,
    pub folder: TempDir,
    pub redactor: Redactor,
    pub sandbox: Option<Arc<Sandbox>>,
    tool: Arc<dyn Tool>,
}

/// A running call.
pub struct Call {
    pub cancel: CancellationToken,
    pub progress: watch::Receiver<Arc<Details>>,
    task: JoinHandle<Result<ToolOutput, ToolError>>,
}

/// The result of a call.
#[derive(Debug)]
pub struct Outcome {
    pub text: String,
    pub details: CommandDetails,
    pub is_error: bool,
}

/// The binary that acts as the supervisor. Another one can be set, to measure a release build.
pub fn supervisor() -> PathBuf {
    std::env::var_os("TILLER_TEST_SUPERVISOR")
        .map_or_else(|| env!("CARGO_BIN_EXE_tiller").into(), PathBuf::from)
}

impl BashTool {
    pub fn new() -> Self {
        Self::with(ToolSettings::default())
    }

    pub fn with(settings: ToolSettings) -> Self {
        Self::of(settings, Orphans::Leave)
    }

    /// For a process that plays tiller alone. The test program itself must not adopt orphans,
    /// because it also has the children of other tests.
    pub fn adopting() -> Self {
        Self::of(ToolSettings::default(), Orphans::Adopt)
    }

    fn of(settings: ToolSettings, orphans: Orphans) -> Self {
        let processes = Processes::with_supervisor(supervisor(), orphans);
        let tool = tools::builtin(&settings)
            .into_iter()
            .find(|tool| tool.spec().name == "bash")
            .unwrap();
        Self {
            processes,
            folder: tempfile::tempdir().unwrap(),
            tool,
            redactor: Redactor::default(),
            sandbox: None,
        }
    }

    pub fn tool(&self) -> &dyn Tool {
        &*self.tool
    }

    pub fn spill_file(&self) -> PathBuf {
        self.folder.path().join("session/call_1.txt")
    }

    /// Starts `command`.
    pub fn start(&self, command: &str) -> Call {
        self.start_with(json!({ "command": command }))
    }

    pub fn start_with(&self, args: Value) -> Call {
        let cancel = CancellationToken::new();
        let (progress, watcher) = Progress::new(Arc::new(self.tool.preview(&args)));
        let context = ToolContext {
            variables: Vec::new(),
            call_id: String::from("call"),
            asker: tiller::agent::Asker::default(),
            sandbox: self.sandbox.clone(),
            cwd: self.folder.path().to_owned(),
            spill_file: self.spill_file(),
            cancel: cancel.clone(),
            progress,
            processes: self.processes.clone(),
            redactor: self.redactor.clone(),
            effects: Effects::default(),
            reach: Reach::everything(),
            shown: None,
        };
        let tool = Arc::clone(&self.tool);
        Call {
            cancel,
            progress: watcher,
            task: tokio::spawn(async move { tool.execute(args, context).await }),
        }
    }

    /// Runs `command` until it ends.
    pub async fn run(&self, command: &str) -> Outcome {
        self.start(command).end().await
    }

    /// Waits until no process tree is left.
    pub async fn empty(&self) {
        tokio::time::timeout(DEADLINE, self.processes.empty())
            .await
            .expect("process trees should have ended");
        assert_eq!(self.processes.alive(), 0);
    }
}

impl Call {
    /// Drops the call's future, as an agent does that can't wait for it.
    pub fn abort(self) {
        self.task.abort();
    }

    pub async fn end(self) -> Outcome {
        outcome(
            self.raw()
                .await
                .expect("the call should have a result, not an error"),
        )
    }

    pub async fn raw(self) -> Result<ToolOutput, ToolError> {
        tokio::time::timeout(DEADLINE, self.task)
            .await
            .expect("the result should come in time")
            .expect("the tool should not panic")
    }

    /// Waits until the live output contains `text`.
    pub async fn wait_for_output(&mut self, text: &str) -> CommandDetails {
        let wait = self
            .progress
            .wait_for(|details| live(details).output.contains(text));
        let found = tokio::time::timeout(DEADLINE, wait)
            .await
            .expect("the output should come in time")
            .expect("the call should still be running");
        live(&found).clone()
    }
}

pub fn outcome(output: ToolOutput) -> Outcome {
    let Details::Command(details) = output.details else {
        panic!("details of another kind");
    };
    Outcome {
        text: content_text(&output.content),
        details,
        is_error: output.is_error,
    }
}

fn live(details: &Details) -> &CommandDetails {
    match details {
        Details::Command(details) => details,
        _ => panic!("details of another kind"),
    }
}
