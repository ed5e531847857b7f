//! The number of changed files beside the branch. It updates at the start, after a call, after a
//! user's command, and after another program's changes.

use serde_json::json;

use super::e2e_job::{leave, open};
use crate::support::job;
use crate::support::model_server::{Reply, Wire};

#[test]
fn changed_files_are_counted_whenever_they_may_change() {
    let write = json!({"file_path": "new.rs", "content": "fn f() {}\n"});
    let (_server, sandbox) = job::stage_with(vec![
        Reply::call("write", write).and_call(
            "bash",
            json!({"command": "until [ -e go ]; do sleep 0.02; done"}),
        ),
        Reply::text("Done."),
    ]);
    sandbox.git_init();
    let screen = open(&sandbox, Wire::Anthropic);
    screen.wait_for(" on main");
    sandbox.write("README.md", "# other\n");
    // The window gets the focus again.
    screen.keys("\x1b[I");
    screen.wait_for(" on main ±1");
    screen.keys("go<enter>");
    screen.wait_for(" on main ±2");
    sandbox.write("go", "");
    screen.wait_for("Done.");
    screen.wait_for(" on main ±3");
    screen.keys("!rm go new.rs<enter>");
    screen.wait_for(" on main ±1");
    sandbox.git(&["checkout", "-q", "README.md"]);
    screen.keys("\x1b[I");
    screen.wait_gone("±");
    leave(&screen);
}
