//! The file tools through their interface, in real folders.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod edit;
mod patch;
mod patch_conformance;
mod read;
mod replace;
mod search;
mod selection;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;
use tiller::agent::process::Processes;
use tiller::agent::tool::TextDetails;
use tiller::agent::tools::builtin;
use tiller::agent::workspace::Reach;
use tiller::agent::{
    Details, Effects, Progress, Tool, ToolContext, ToolOutput, ToolSettings, Toolbox,
};
use tiller::llm::Content;
use tokio_util::sync::CancellationToken;

/// A folder, and the tools of one agent in it.
pub struct TestTools {
    dir: TempDir,
    cwd: PathBuf,
    toolbox: Toolbox,
    runtime: tokio::runtime::Runtime,
}

impl TestTools {
    pub fn new() -> Self {
        Self::with(&ToolSettings::default())
    }

    pub fn with(settings: &ToolSettings) -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self {
            cwd: dir.path().canonicalize().unwrap(),
            dir,
            toolbox: Toolbox::new(builtin(settings)),
            runtime: tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap(),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.cwd.join(name)
    }

    pub fn put(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub fn tool(&self, name: &str) -> &Arc<dyn Tool> {
        self.toolbox
            .tools()
            .iter()
            .find(|tool| tool.spec().name == name)
            .unwrap()
    }

    pub fn context(&self) -> ToolContext {
        let details = Arc::new(Details::Text(TextDetails::default()));
        ToolContext {
            variables: Vec::new(),
            call_id: String::from("call"),
            asker: tiller::agent::Asker::default(),
            sandbox: None,
            cwd: self.cwd.clone(),
            spill_file: self.dir.path().join("spill.txt"),
            cancel: CancellationToken::new(),
            progress: Progress::new(details).0,
            processes: Processes::new(),
            redactor: tiller::llm::auth::Redactor::default(),
            effects: Effects::default(),
            reach: Reach::everything(),
            shown: None,
        }
    }

    /// The whole result, or the error's text.
    pub fn call(&self, name: &str, args: Value) -> Result<ToolOutput, String> {
        self.call_in(name, args, self.context())
    }

    pub fn call_in(
        &self,
        name: &str,
        args: Value,
        context: ToolContext,
    ) -> Result<ToolOutput, String> {
        let args = self
            .toolbox
            .check(name, args)
            .map_err(|why| format!("error: invalid input: {why}"))?;
        self.runtime
            .block_on(self.tool(name).execute(args, context))
            .map_err(|error| error.message)
    }

    /// The text for the model after a successful call.
    pub fn ok(&self, name: &str, args: Value) -> String {
        match self.call(name, args) {
            Ok(output) => text(&output),
            Err(error) => panic!("{name} failed: {error}"),
        }
    }

    /// The error text of a failed call.
    pub fn err(&self, name: &str, args: Value) -> String {
        match self.call(name, args) {
            Ok(output) => panic!("{name} succeeded: {}", text(&output)),
            Err(error) => error,
        }
    }

    /// Runs several tool calls at the same time.
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }
}

pub fn text(output: &ToolOutput) -> String {
    output
        .content
        .iter()
        .filter_map(|block| match block {
            Content::Text(block) => Some(block.text.as_str()),
            _ => None,
        })
        .collect::<Vec<_>>()
        .join("\n")
}

pub fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

pub fn fifo(path: &Path) {
    nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRWXU).unwrap();
}

// The whole first request, including the prompt, is limited to 10 kB.
#[test]
fn the_specs_are_small_and_strict() {
    let tools = TestTools::new();
    let mut bytes = 0;
    for tool in tools
        .toolbox
        .tools()
        .iter()
        .filter(|tool| tool.spec().name != "bash")
    {
        let spec = tool.spec();
        bytes += spec.name.len() + spec.description.len() + spec.parameters.to_string().len();
        assert_eq!(
            spec.parameters["additionalProperties"], false,
            "{}",
            spec.name
        );
        assert!(spec.parameters.get("anyOf").is_none(), "{}", spec.name);
    }
    assert!(bytes < 5500, "{bytes} bytes");
}

#[test]
fn each_tool_says_what_a_call_does() {
    let tools = TestTools::new();
    let path = |path: &str| vec![path.to_owned()];
    let patch = "*** Begin Patch\n*** Delete File: a\n*** Update File: b\n*** Move to: c\n\
                 @@\n-x\n+y\n*** End Patch";
    let prefixed = "*** Begin Patch\n*** Update File: a/f\n*** Move to: b/g\n*** Add File: a/new\n\
                    *** End Patch";
    let reads = |name: &str| Effects {
        reads: path(name),
        ..Effects::default()
    };
    let writes = |names: &[&str]| Effects {
        writes: names.iter().map(|name| (*name).to_owned()).collect(),
        ..Effects::default()
    };
    for (tool, args, expected) in [
        ("read", json!({"path": "f"}), reads("f")),
        ("grep", json!({"pattern": "x", "path": "d"}), reads("d")),
        ("find", json!({"pattern": "x", "limit": "many"}), reads("")),
        ("ls", json!({}), reads("")),
        ("write", json!({"file_path": "f"}), writes(&["f"])),
        (
            "edit",
            json!({"file_path": "f", "edits": 5}),
            writes(&["f"]),
        ),
        (
            "edit",
            json!({"file_path": "f", "edits": [{"old_text": []}]}),
            writes(&["f"]),
        ),
        ("replace", json!({"path": "f"}), writes(&["f"])),
        (
            "apply_patch",
            json!({"input": patch}),
            writes(&["a", "b", "c"]),
        ),
        // A diff's path prefix is dropped, unless a file has it in its name.
        (
            "apply_patch",
            json!({"input": prefixed}),
            writes(&["a/f", "f", "b/g", "g", "a/new"]),
        ),
    ] {
        let effects = tools.tool(tool).effects(&args);
        assert_eq!(effects, expected, "{tool}");
        assert_eq!(effects.only_reads(), expected.writes.is_empty(), "{tool}");
    }
    let bash = tools.tool("bash").effects(&json!({"command": "ls"}));
    assert_eq!(bash.command.as_deref(), Some("ls"));
    assert!(!bash.only_reads());
    for patch in ["", "*** Begin Patch\n*** Delete File: a"] {
        let effects = tools.tool("apply_patch").effects(&json!({"input": patch}));
        assert_eq!(effects, Effects::unknown(), "{patch}");
    }
}
