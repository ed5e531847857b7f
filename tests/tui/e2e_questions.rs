//! Questions and plans in the real program.

use std::fs;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::json;

use super::e2e_job::leave;
use super::e2e_status::wait_state;
use super::pictures::png;
use crate::support::job;
use crate::support::model_server::{Reply, Wire};
use crate::support::sandbox::Sandbox;
use crate::support::screen::{Launch, Screen};

fn open(sandbox: &Sandbox, mode: &str) -> Screen {
    let screen = Launch::new(sandbox)
        .args(&["-m", Wire::Chat.model(), "--permission", mode])
        .size(100, 40)
        .start();
    let shown = if mode == "full" {
        "runs everything"
    } else {
        mode
    };
    screen.wait_for(&format!("─ {shown}"));
    screen
}

/// Selects an answer of the list and confirms it once the question accepts keys.
pub(super) fn answer(screen: &Screen, number: usize) {
    screen.keys(&"<down>".repeat(number));
    screen.wait_for("Enter confirm");
    screen.keys("<enter>");
}

/// Types and erases until a new question accepts keys.
pub(super) fn read_it(screen: &Screen) {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(600) {
        screen.keys("x");
        screen.wait_for("│ x ");
        screen.keys("<backspace>");
        screen.wait_gone("│ x ");
    }
}

/// No first character of a reason answers the question. The call doesn't run, and the model gets
/// the whole reason. (`@` starts a mention.)
#[test]
fn a_reason_of_any_kind_denies_and_reaches_the_model() {
    let firsts: Vec<char> = ('!'..='~').filter(|c| *c != '@').collect();
    let call = |at| Reply::call("bash", json!({"command": format!("touch ran-{at}-")}));
    let mut replies: Vec<Reply> = (0..firsts.len()).map(call).collect();
    replies.push(Reply::text("All refused."));
    let (server, sandbox) = job::stage_with(replies);
    let screen = open(&sandbox, "ask");
    screen.keys("go<enter>");
    for (at, first) in firsts.iter().enumerate() {
        screen.wait_until("the question", |view| {
            view.contains("Run this command?") && view.contains(&format!("│ touch ran-{at}-"))
        });
        read_it(&screen);
        let reason = format!("{first}ou must not do {at}");
        screen.keys(&format!("{}<enter>", reason.replace('<', "<lt>")));
        let results = server.request(at + 1).results();
        let last = results.last().unwrap();
        assert!(last.contains(&reason), "{reason}: {last}");
    }
    screen.wait_for("All refused.");
    let files = fs::read_dir(sandbox.path()).unwrap().flatten();
    let ran = files.filter(|it| it.file_name().to_string_lossy().starts_with("ran-"));
    assert_eq!(ran.count(), 0);
    leave(&screen);
}

#[test]
fn an_edit_shows_its_diff_waits_and_is_applied_as_shown() {
    let edit = json!({"file_path": "a.txt", "old_text": "two", "new_text": "2"});
    let (server, sandbox) =
        job::stage_with(vec![Reply::call("edit", edit), Reply::text("Edited it.")]);
    fs::write(sandbox.path().join("a.txt"), "one\ntwo\nthree\n").unwrap();
    let screen = open(&sandbox, "ask");
    screen.keys("go<enter>");
    screen.wait_for("? Change a.txt?");
    screen.wait_for("│ 2 − two");
    screen.wait_for("│ 2 + 2");
    wait_state(&sandbox, "awaiting_input");
    // The file changes during the question, so tiller asks again with the new content.
    fs::write(sandbox.path().join("a.txt"), "zero\none\ntwo\nthree\n").unwrap();
    answer(&screen, 1);
    screen.wait_for("│ 3 − two");
    screen.wait_for("the file changed after you allowed it");
    answer(&screen, 1);
    screen.wait_for("Edited it.");
    wait_state(&sandbox, "idle");
    let made = fs::read_to_string(sandbox.path().join("a.txt")).unwrap();
    assert_eq!(made, "zero\none\n2\nthree\n");
    assert_eq!(server.requests().len(), 2);
    leave(&screen);
}

#[test]
fn a_call_awaiting_an_answer_at_a_kill_is_reported_as_not_run() {
    let command = json!({"command": "git push"});
    let (server, sandbox) = job::stage_with(vec![
        Reply::call("bash", command),
        Reply::text("I see."),
        Reply::text("Again."),
    ]);
    let resumed = |sandbox: &Sandbox| Launch::new(sandbox).args(&["-c"]).size(100, 40).start();
    let screen = open(&sandbox, "ask");
    screen.keys("go<enter>");
    screen.wait_for("? Run this command?");
    screen.signal(Signal::SIGKILL);
    screen.wait_dead();
    let waited = "the session ended while this waited for the user's answer";
    let screen = resumed(&sandbox);
    screen.wait_for(waited);
    screen.wait_for("not run");
    screen.keys("on<enter>");
    screen.wait_for("I see.");
    let body = server.requests()[1].body.to_string();
    assert!(body.contains(waited), "{body}");
    leave(&screen);
    // The same after the result is in the session.
    let screen = resumed(&sandbox);
    screen.wait_for("I see.");
    screen.wait_for(waited);
    leave(&screen);
}

#[test]
fn a_plan_changes_nothing_until_enter_runs_it() {
    let write = || Reply::call("write", json!({"file_path": "a.txt", "content": "new\n"}));
    let (server, sandbox) = job::stage_with(vec![
        write(),
        Reply::text("The plan: write a.txt."),
        write(),
        Reply::text("Carried out."),
    ]);
    let screen = open(&sandbox, "plan");
    screen.keys("go<enter>");
    screen.wait_for("The plan: write a.txt.");
    screen.wait_for("Enter run this plan (auto mode)");
    assert!(!sandbox.path().join("a.txt").exists());
    let body = |at: usize| server.requests()[at].body.to_string();
    let refused =
        "Not permitted: Plan mode changes nothing. Look around, then say what you would change";
    assert!(body(1).contains(refused), "{}", body(1));
    read_it(&screen);
    screen.keys("<enter>");
    screen.wait_for("Carried out.");
    screen.wait_for("─ auto");
    assert_eq!(
        fs::read_to_string(sandbox.path().join("a.txt")).unwrap(),
        "new\n"
    );
    assert!(!body(1).contains("[Permission mode: auto."));
    for words in ["[Permission mode: auto.", "Carry out the plan."] {
        assert!(body(2).contains(words), "{words}: {}", body(2));
    }
    leave(&screen);
}

#[test]
fn a_budget_is_set_shown_and_enforced() {
    let (_server, sandbox) = job::stage_with(vec![
        Reply::text("One.").and_call("ls", json!({})),
        Reply::text("Two."),
    ]);
    let screen = open(&sandbox, "full");
    screen.keys("/budget 1 token<enter>");
    screen.wait_for("Budget of this session: 1 tokens. Spent so far: $0.000 and 0 tokens");
    screen.keys("go<enter>");
    screen.wait_for("Budget of 1 tokens reached");
    screen.keys("/budget off<enter>");
    screen.wait_for("Budget off.");
    screen.keys("/budget<enter>");
    screen.wait_for("No budget; spent");
    screen.keys("/budget lots<enter>");
    screen.wait_for("Not a budget: lots. Try /budget $5, /budget 200k tokens");
    screen.keys("/budget $5<enter>");
    screen.wait_for("Budget of this session: $5. Spent so far:");
    read_it(&screen);
    screen.keys("<enter>");
    screen.wait_for("Two.");
    leave(&screen);
}

#[test]
fn a_picture_in_an_answer_goes_to_the_model() {
    let ask = json!({"question": "Which field?", "choices": ["Left", "Right"]});
    let (server, sandbox) =
        job::stage_with(vec![Reply::call("ask_user", ask), Reply::text("I see it.")]);
    fs::write(sandbox.path().join("a field.png"), png(8, 8)).unwrap();
    let screen = open(&sandbox, "full");
    screen.keys("go<enter>");
    screen.wait_for("? The model asks: Which field?");
    read_it(&screen);
    screen.keys("this: @\"a field.png\" <enter>");
    screen.wait_for("I see it.");
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    let body = requests[1].body.to_string();
    assert!(body.contains("The user answered: this:"), "{body}");
    // The model of this test has no vision, so tiller leaves the picture out but would have sent
    // it.
    assert!(body.contains("[image left out"), "{body}");
    leave(&screen);
}
