//! `/iterations` in the whole program: during a run, after a resume, and with the same figures as
//! `tiller sessions show`.

use serde_json::{Value, json};

use super::e2e_job::{leave, open};
use crate::support::job;
use crate::support::model_server::{Reply, Wire};
use crate::support::screen::Launch;

#[test]
fn iterations_are_listed_while_it_runs_and_after_a_resume() {
    let gate = json!({"command": "until [ -e go ]; do sleep 0.02; done; echo passed the gate"});
    let (_server, sandbox) = job::stage_with(vec![
        Reply::text("I look.").and_call("ls", json!({})),
        Reply::text("I wait.").and_call("bash", gate),
        Reply::text("All done."),
    ]);
    let screen = open(&sandbox, Wire::ALL[0]);
    screen.keys("Look and wait<enter>");
    screen.wait_for("● bash  until [ -e go ]");
    screen.keys("<a-i><left>");
    screen.wait_until("both iterations", |view| {
        let has = |line: &String| line.contains("  ls ") && line.contains("❯ Look and wait");
        view.lines().iter().any(has) && view.contains("bash running")
    });
    screen.keys("<esc>");
    sandbox.write("go", "");
    screen.wait_for("All done.");
    leave(&screen);

    let screen = Launch::new(&sandbox).args(&["-c"]).size(100, 40).start();
    screen.wait_for("All done.");
    screen.keys("/iterations<enter>");
    screen.wait_for("bash ");
    screen.wait_for("answer");
    screen.keys("<esc>");
    leave(&screen);

    let session = sandbox.session();
    let id = session[0]["id"].as_str().unwrap();
    let ran = sandbox.run(&["sessions", "show", id, "--iteration", "2"]);
    let iteration: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(iteration["tool_calls"][0]["name"], "bash");
    let ms = |key: &str| iteration["metadata"][key].as_u64().unwrap();
    assert!(ms("first_token_ms") <= ms("duration_ms"), "{iteration}");
}
