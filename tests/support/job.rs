//! A typical job as a script: a prompt, three read-only tools, an edit, a command, an answer. Every
//! front end is tested with this job, over every wire.

use serde_json::json;

use super::model_server::{ModelServer, Reply, Script};
use super::sandbox::Sandbox;

/// The file the job edits, before and after.
pub const BEFORE: &str = "fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n";
pub const AFTER: &str = "fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n";
pub const PROMPT: &str = "Repair the addition";
pub const ANSWER: &str = "Repaired: it **adds** now.";

/// The project the job works in.
pub fn sandbox() -> Sandbox {
    Sandbox::with(&[("src/math.rs", BEFORE), ("README.md", "# math\n")])
}

/// The model's replies in the job.
pub fn replies() -> Vec<Reply> {
    vec![
        Reply::new()
            .think("Where is the addition?")
            .say_slowly("I look around first: größe 日本 🦀.", 3, 0)
            .and_call("grep", json!({"pattern": "fn add"}))
            .and_call("read", json!({"file_path": "src/math.rs"}))
            .and_call("ls", json!({}))
            .in_pieces_of(5),
        Reply::text("Now the edit.").and_call(
            "edit",
            json!({"file_path": "src/math.rs", "old_text": "a - b", "new_text": "a + b"}),
        ),
        Reply::call("bash", json!({"command": "echo tested; exit 0"})),
        Reply::text(ANSWER),
    ]
}

/// A server that plays the job, and the job's project.
pub fn stage() -> (ModelServer, Sandbox) {
    stage_with(replies())
}

/// A server that plays `replies`, and the job's project.
pub fn stage_with(replies: Vec<Reply>) -> (ModelServer, Sandbox) {
    let server = ModelServer::start(Script::of(replies));
    let mut sandbox = sandbox();
    sandbox.use_server(&server);
    (server, sandbox)
}
