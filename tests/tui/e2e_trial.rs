//! Trials in the full screen: try, look, keep or discard, also after a kill.

use std::path::PathBuf;

use nix::sys::signal::Signal;
use serde_json::json;

use super::e2e_job::{leave, open};
use crate::support::job::{self, AFTER, BEFORE};
use crate::support::model_server::{ModelServer, Reply, Wire};
use crate::support::sandbox::Sandbox;
use crate::support::screen::{Launch, Screen};

const FILE: &str = "src/math.rs";

fn edit() -> Reply {
    Reply::call(
        "edit",
        json!({"file_path": FILE, "old_text": "a - b", "new_text": "a + b"}),
    )
}

fn stage(replies: Vec<Reply>) -> (ModelServer, Sandbox) {
    let (server, sandbox) = job::stage_with(replies);
    sandbox.git_init();
    (server, sandbox)
}

/// The existing worktrees.
fn trees(sandbox: &Sandbox) -> Vec<PathBuf> {
    let folders = std::fs::read_dir(sandbox.data().join("try"));
    let folders = folders.into_iter().flatten().flatten();
    let paths = folders.map(|folder| folder.path());
    paths.filter(|path| !path.ends_with(".trash")).collect()
}

fn idle(screen: &Screen) {
    // Only the line above the prompt names both; the notice about the trial names one.
    screen.wait_for("/keep · /discard");
}

#[test]
fn a_discarded_trial_leaves_conversation_and_files_as_they_were() {
    let replies = vec![
        Reply::text("One."),
        edit(),
        Reply::text("Tried."),
        Reply::text("Three."),
    ];
    let (server, sandbox) = stage(replies);
    let screen = open(&sandbox, Wire::Anthropic);
    screen.keys("first<enter>");
    screen.wait_for("One.");
    screen.wait_gone("Esc stops");
    screen.keys("/try repair it<enter>");
    screen.wait_for("Tried.");
    idle(&screen);
    screen.wait_for("1 file changed");
    let asked = server.request(1).text();
    assert!(asked.contains("This is a trial"), "{asked}");
    assert_eq!(sandbox.read(FILE), BEFORE);
    screen.keys("/discard<enter>");
    screen.wait_for("Trial discarded");
    screen.wait_gone("Esc stops");
    screen.wait_gone("Tried.");
    assert_eq!(sandbox.read(FILE), BEFORE);
    assert_eq!(trees(&sandbox), Vec::<PathBuf>::new());
    screen.wait_gone("/keep");
    screen.keys("third<enter>");
    screen.wait_for("Three.");
    let text = server.request(3).text();
    assert!(text.contains("One.") && !text.contains("trial"), "{text}");
    leave(&screen);
}

#[test]
fn a_kept_trial_applies_its_changes() {
    let replies = vec![edit(), Reply::text("Tried."), Reply::text("On.")];
    let (server, sandbox) = stage(replies);
    let screen = open(&sandbox, Wire::Anthropic);
    screen.keys("/try repair it<enter>");
    screen.wait_for("Tried.");
    idle(&screen);
    assert_eq!(sandbox.read(FILE), BEFORE);
    sandbox.write("README.md", "# mine\n");
    screen.keys("/keep<enter>");
    screen.wait_for("Trial kept: 1 file changed");
    screen.wait_gone("Esc stops");
    assert_eq!(sandbox.read(FILE), AFTER);
    assert_eq!(sandbox.read("README.md"), "# mine\n");
    assert_eq!(trees(&sandbox), Vec::<PathBuf>::new());
    screen.keys("go on<enter>");
    screen.wait_for("On.");
    let text = server.request(2).text();
    assert!(text.contains("The user kept the trial"), "{text}");
    leave(&screen);
}

#[test]
fn a_trial_is_still_open_after_a_kill() {
    let replies = vec![
        Reply::text("One."),
        edit(),
        Reply::text("Half an answer").stall(),
        Reply::text("Four."),
    ];
    let (server, sandbox) = stage(replies);
    let screen = open(&sandbox, Wire::Anthropic);
    screen.keys("first<enter>");
    screen.wait_for("One.");
    screen.wait_gone("Esc stops");
    screen.keys("/try repair it<enter>");
    screen.wait_for("Half an answer");
    screen.signal(Signal::SIGKILL);
    screen.wait_dead();
    let screen = Launch::new(&sandbox).args(&["-c"]).size(100, 40).start();
    screen.wait_for("Trial open");
    idle(&screen);
    screen.wait_for("1 file changed");
    screen.keys("go on<enter>");
    screen.wait_for("Four.");
    let text = server.request(3).text();
    assert!(text.contains("This is a trial"), "{text}");
    idle(&screen);
    leave(&screen);
    screen.wait_for("trial    still open: resume the session");
    let screen = Launch::new(&sandbox).args(&["-c"]).size(100, 40).start();
    idle(&screen);
    screen.keys("/discard<enter>");
    screen.wait_for("Trial discarded");
    screen.wait_gone("Esc stops");
    screen.wait_gone("Four.");
    screen.wait_for("One.");
    assert_eq!(sandbox.read(FILE), BEFORE);
    assert_eq!(trees(&sandbox), Vec::<PathBuf>::new());
    leave(&screen);
}

#[test]
fn without_git_a_trial_fails_and_returns_the_prompt() {
    let (server, mut sandbox) = stage(Vec::new());
    let empty = sandbox.tmp().display().to_string();
    sandbox.set("PATH", &empty);
    let screen = open(&sandbox, Wire::Anthropic);
    screen.keys("/try repair it<enter>");
    screen.wait_for("a trial needs git");
    screen.wait_for("/try repair it");
    assert!(server.requests().is_empty());
    screen.keys("<c-c>");
    leave(&screen);
}
