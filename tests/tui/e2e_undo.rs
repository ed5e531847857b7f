//! Undo, redo and rewind in the full screen, for changes by tools and commands, also after a kill.

use nix::sys::signal::Signal;
use serde_json::json;

use super::e2e_job::{leave, open};
use crate::support::job::{self, AFTER, BEFORE};
use crate::support::model_server::{ModelServer, Reply, Wire};
use crate::support::sandbox::Sandbox;
use crate::support::screen::Launch;

const FILE: &str = "src/math.rs";

fn edit() -> Reply {
    Reply::call(
        "edit",
        json!({"file_path": FILE, "old_text": "a - b", "new_text": "a + b"}),
    )
}

fn bash(command: &str) -> Reply {
    Reply::call("bash", json!({"command": command}))
}

fn stage(replies: Vec<Reply>) -> (ModelServer, Sandbox) {
    let (server, sandbox) = job::stage_with(replies);
    sandbox.git_init();
    (server, sandbox)
}

#[test]
fn changes_are_undone_and_redone_prompt_by_prompt() {
    let replies = vec![
        edit(),
        Reply::text("One."),
        bash("rm README.md; mkdir new; echo x > new/file"),
        Reply::text("Two."),
        Reply::text("Three."),
    ];
    let (server, sandbox) = stage(replies);
    let screen = open(&sandbox, Wire::Anthropic);
    screen.keys("/undo<enter>");
    screen.wait_for("Nothing to undo");
    screen.keys("repair it<enter>");
    screen.wait_for("One.");
    screen.wait_gone("Esc stops");
    screen.keys("tidy up<enter>");
    screen.wait_for("Two.");
    screen.wait_gone("Esc stops");
    assert!(!sandbox.path().join("README.md").exists());
    screen.keys("/undo<enter>");
    screen.wait_for("Undo these changes?");
    screen.wait_for("README.md");
    screen.wait_for("Enter undo");
    screen.keys("<enter>");
    screen.wait_for("Undone (“tidy up”)");
    assert_eq!(sandbox.read("README.md"), "# math\n");
    assert!(!sandbox.path().join("new").exists());
    screen.keys("/undo<enter>");
    screen.wait_for("Enter undo");
    screen.keys("<enter>");
    screen.wait_for("Undone (“repair it”)");
    assert_eq!(sandbox.read(FILE), BEFORE);
    screen.keys("/redo<enter>");
    screen.wait_for("Redo these changes?");
    screen.wait_for("Enter redo");
    screen.keys("<enter>");
    screen.wait_for("Redone (“repair it”)");
    assert_eq!(sandbox.read(FILE), AFTER);
    screen.keys("go on<enter>");
    screen.wait_for("Three.");
    let text = server.request(4).text();
    assert!(text.contains("undid file changes"), "{text}");
    leave(&screen);
}

#[test]
fn a_rewind_restores_conversation_and_files() {
    let replies = vec![
        Reply::text("Hello."),
        edit(),
        Reply::text("One."),
        bash("echo more >> README.md"),
        Reply::text("Two."),
        Reply::text("Three."),
    ];
    let (server, sandbox) = stage(replies);
    let screen = open(&sandbox, Wire::Anthropic);
    for (prompt, answer) in [
        ("greet", "Hello."),
        ("repair it", "One."),
        ("write more", "Two."),
    ] {
        screen.keys(&format!("{prompt}<enter>"));
        screen.wait_for(answer);
        screen.wait_gone("Esc stops");
    }
    // A change by another program stays.
    sandbox.write("README.md", "# mine\n");
    screen.keys("/rewind<enter>");
    screen.wait_for("Rewind to…");
    // Waits for the rows of the list: a row can't be chosen before it is read.
    screen.wait_for("1 file  repair it");
    screen.keys("repair");
    screen.wait_for("› repair");
    screen.keys("<enter>");
    screen.wait_for("Not restored:");
    // A new question doesn't accept keys right away.
    let delay = std::time::Duration::from_millis(450);
    screen.settle(delay, 4 * delay);
    screen.keys("<enter>");
    screen.wait_for("Left unchanged");
    screen.wait_gone("One.");
    screen.wait_for("Hello.");
    assert_eq!(sandbox.read(FILE), BEFORE);
    assert_eq!(sandbox.read("README.md"), "# mine\n");
    // The editor has the prompt again.
    screen.keys("<enter>");
    screen.wait_for("Three.");
    let text = server.request(5).text();
    assert!(text.contains("Hello.") && !text.contains("One."), "{text}");
    leave(&screen);
}

#[test]
fn ignored_files_that_a_command_deletes_are_named() {
    let (_server, sandbox) = stage(vec![bash("rm -rf data"), Reply::text("Gone.")]);
    sandbox.write(".gitignore", "data\n");
    sandbox.write("data/set.csv", "1,2\n");
    let screen = open(&sandbox, Wire::Anthropic);
    screen.keys("clean up<enter>");
    screen.wait_for("/undo can't restore what git ignores: data");
    screen.wait_for("Gone.");
    assert!(!sandbox.path().join("data").exists());
    screen.wait_gone("Esc stops");
    screen.keys("/undo<enter>");
    screen.wait_for("Not restored:");
    screen.wait_for("git ignores it, so tiller has no copy");
    screen.keys("<esc>");
    leave(&screen);
}

#[test]
fn a_run_that_was_killed_can_be_undone() {
    let replies = vec![
        edit(),
        bash("echo changed > README.md; echo x > new; kill -9 $(cat pid); sleep 600"),
    ];
    let (_server, sandbox) = stage(replies);
    let screen = open(&sandbox, Wire::Anthropic);
    sandbox.write("pid", &screen.pid().to_string());
    screen.keys("repair it<enter>");
    screen.wait_dead();
    assert_eq!(sandbox.read("README.md"), "changed\n");
    let screen = Launch::new(&sandbox).args(&["-c"]).size(100, 40).start();
    screen.wait_for("─ runs everything");
    screen.keys("/undo<enter>");
    screen.wait_for("Enter undo");
    screen.keys("<enter>");
    screen.wait_for("Undone (“repair it”)");
    assert_eq!(sandbox.read(FILE), BEFORE);
    assert_eq!(sandbox.read("README.md"), "# math\n");
    assert!(!sandbox.path().join("new").exists());
    leave(&screen);
}

#[test]
fn nothing_is_undone_while_a_run_is_under_way() {
    let (_server, sandbox) = stage(vec![edit(), Reply::text("Half an answer").stall()]);
    let screen = open(&sandbox, Wire::Anthropic);
    screen.keys("repair it<enter>");
    screen.wait_for("Half an answer");
    for command in ["undo", "redo", "rewind"] {
        screen.keys(&format!("/{command}<enter>"));
        screen.wait_for("The agent is still working");
    }
    assert_eq!(sandbox.read(FILE), AFTER);
    screen.signal(Signal::SIGKILL);
    screen.wait_dead();
}
