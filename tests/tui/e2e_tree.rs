//! The session tree in the whole program: jumps, edited prompts, labels, and resuming at the right
//! place.

use nix::sys::signal::Signal;

use super::e2e_job::{leave, open};
use crate::support::job;
use crate::support::model_server::{ModelServer, Reply, Wire};
use crate::support::sandbox::Sandbox;
use crate::support::screen::{Launch, Screen};

fn stage(replies: &[&str]) -> (ModelServer, Sandbox) {
    job::stage_with(replies.iter().map(|text| Reply::text(*text)).collect())
}

fn ask(screen: &Screen, prompt: &str, answer: &str) {
    screen.keys(prompt);
    screen.keys("<enter>");
    screen.wait_for(answer);
    screen.wait_gone("Esc stops");
}

fn resume(sandbox: &Sandbox) -> Screen {
    let screen = Launch::new(sandbox).args(&["-c"]).size(100, 40).start();
    screen.wait_for("─ runs everything");
    screen
}

#[test]
fn an_earlier_prompt_is_edited_and_sent_again() {
    for wire in Wire::ALL {
        let (server, sandbox) = stage(&["One.", "Two.", "Three."]);
        let screen = open(&sandbox, wire);
        ask(&screen, "first", "One.");
        ask(&screen, "second", "Two.");
        screen.keys("a draft");
        screen.keys("<a-e>");
        screen.wait_gone("Two.");
        screen.wait_for("│ second");
        ask(&screen, " way", "Three.");
        let request = server.request(2);
        assert_eq!(request.last_user(), "second way", "{wire:?}");
        assert!(!request.text().contains("Two."), "{wire:?}");
        // The draft is two entries back, because the edited prompt came after it.
        screen.keys("<up><up>");
        screen.wait_for("│ a draft");
        screen.keys("<c-c>");
        leave(&screen);
    }
}

#[test]
fn esc_twice_shows_the_branches_and_returns_to_the_old_one() {
    let (server, sandbox) = stage(&["One.", "Two.", "Three.", "Four.", "Five."]);
    let screen = open(&sandbox, Wire::Anthropic);
    ask(&screen, "first", "One.");
    ask(&screen, "second", "Two.");
    screen.keys("<esc>");
    screen.keys("<esc>");
    screen.wait_for("─ Tree ─");
    screen.wait_for("● Two.");
    screen.keys("<a-l>good<enter>");
    screen.wait_for("⟦good⟧ Two.");
    screen.keys("<up><enter>");
    screen.wait_gone("─ Tree ─");
    screen.wait_for("│ second");
    ask(&screen, " way", "Three.");
    screen.keys("/tree<enter>");
    for row in ["├─ ❯ second", "⟦good⟧ Two.", "└─ ❯ second way", "Three."] {
        screen.wait_for(row);
    }
    screen.keys("good<enter>");
    screen.wait_gone("─ Tree ─");
    screen.wait_gone("Three.");
    screen.wait_for("Two.");
    ask(&screen, "third", "Four.");
    let text = server.request(3).text();
    assert!(text.contains("Two.") && !text.contains("Three."), "{text}");

    // After a jump the session continues there, even after a kill.
    screen.keys("/tree<enter>");
    screen.wait_for("└─ ❯ second way");
    screen.keys("three<enter>");
    screen.wait_gone("Four.");
    screen.signal(Signal::SIGKILL);
    screen.wait_dead();
    let screen = resume(&sandbox);
    screen.wait_for("Three.");
    ask(&screen, "fourth", "Five.");
    let text = server.request(4).text();
    assert!(
        text.contains("second way") && !text.contains("Four."),
        "{text}"
    );
    leave(&screen);
}

#[test]
fn a_fork_is_a_separate_session() {
    let (server, sandbox) = stage(&["One.", "Two.", "Three."]);
    let screen = open(&sandbox, Wire::Anthropic);
    ask(&screen, "first", "One.");
    ask(&screen, "second", "Two.");
    screen.keys("/fork<enter>");
    screen.wait_for("prompts · 2");
    screen.keys("second<enter>");
    screen.wait_gone("Two.");
    screen.wait_for("│ second");
    screen.wait_for("One.");
    ask(&screen, " way", "Three.");
    assert_eq!(server.request(2).last_user(), "second way");
    assert_eq!(sandbox.session_files().len(), 2);
    leave(&screen);
}

#[test]
fn labels_survive_a_restart() {
    let (_server, sandbox) = stage(&["One."]);
    let screen = open(&sandbox, Wire::Chat);
    ask(&screen, "first", "One.");
    screen.keys("/tree<enter>");
    screen.wait_for("default ·");
    screen.keys("<a-l>here it was fine<enter>");
    screen.wait_for("⟦here it was fine⟧ One.");
    screen.keys("<esc>");
    leave(&screen);
    let screen = resume(&sandbox);
    screen.keys("/tree<enter>");
    screen.wait_for("⟦here it was fine⟧ One.");
    screen.keys("<esc>");
    screen.wait_gone("⟦here");
    leave(&screen);
}
