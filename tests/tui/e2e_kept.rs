//! Typed text survives every way that the program can end.

use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::e2e_job::{leave, open};
use crate::support::job;
use crate::support::model_server::{Reply, Said, Wire};
use crate::support::sandbox::Sandbox;
use crate::support::screen::{Launch, Screen};

/// The drafts on disk as one text.
fn stored(sandbox: &Sandbox) -> String {
    let mut texts = String::new();
    let folders = std::fs::read_dir(sandbox.data().join("drafts"));
    for folder in folders.into_iter().flatten().flatten() {
        let files = std::fs::read_dir(folder.path())
            .expect("a folder")
            .flatten();
        let files = files.filter(|file| Path::new(&file.file_name()).extension().is_some());
        texts.extend(files.flat_map(|file| std::fs::read_to_string(file.path())));
    }
    texts
}

fn wait_stored(sandbox: &Sandbox, ready: impl Fn(&str) -> bool) {
    let begun = Instant::now();
    while !ready(&stored(sandbox)) {
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "{}",
            stored(sandbox)
        );
        std::thread::sleep(Duration::from_millis(5)); // poll
    }
}

#[test]
fn a_draft_survives_any_end() {
    for signal in [Signal::SIGKILL, Signal::SIGTERM, Signal::SIGHUP] {
        let (server, sandbox) = job::stage_with(vec![Reply::text("Got it.")]);
        let screen = open(&sandbox, Wire::Chat);
        screen.keys("a long thought, größe");
        wait_stored(&sandbox, |text| text.contains("a long thought, größe"));
        screen.signal(signal);
        screen.wait_dead();
        let screen = open(&sandbox, Wire::Chat);
        screen.wait_for("a long thought, größe");
        screen.wait_for("Your unsent text from last time is back");
        // Killed again before the user types anything: the draft is still there.
        screen.signal(Signal::SIGKILL);
        screen.wait_dead();
        let screen = open(&sandbox, Wire::Chat);
        screen.wait_for("a long thought, größe");
        screen.keys(" indeed<enter>");
        screen.wait_for("Got it.");
        assert_eq!(
            server.request(0).last_user(),
            "a long thought, größe indeed"
        );
        wait_stored(&sandbox, str::is_empty);
        leave(&screen);
    }
}

// The session stores the messages, the draft file the typed text.
#[test]
fn queued_messages_and_the_draft_are_restored() {
    let (_server, sandbox) = job::stage_with(vec![Reply::text("I write").gate("never")]);
    let screen = open(&sandbox, Wire::Chat);
    screen.keys("go<enter>");
    screen.wait_for("I write");
    screen.keys("steer this<enter>");
    screen.keys("then that<a-enter>");
    screen.wait_for("then that");
    screen.keys("draft");
    wait_stored(&sandbox, |text| text.contains("draft"));
    screen.signal(Signal::SIGKILL);
    screen.wait_dead();
    assert!(!stored(&sandbox).contains("steer this"), "stored twice");
    // The draft belongs to its session; a new session only mentions it.
    let new = open(&sandbox, Wire::Chat);
    new.wait_for("continue with your unsent text");
    assert!(!new.text().contains("steer this"));
    assert!(!new.text().contains("has unsent"), "mentioned twice");
    let in_editor = |screen: &Screen, texts: &[&str]| {
        screen.wait_until("in the editor", |view| {
            (texts.iter()).all(|text| view.line_with(text).is_some_and(|line| line.contains('│')))
        });
    };
    new.keys("<enter>");
    in_editor(&new, &["draft"]);
    new.wait_for("steer this");
    new.wait_for("then that");
    assert!(
        !new.text().contains("has unsent text"),
        "the text is already here"
    );
    // After taking them back, they are part of the draft.
    new.keys("<a-up>");
    let all = ["steer this", "then that", "draft"];
    in_editor(&new, &all);
    leave_with_text(&new);
    let again = Launch::new(&sandbox).args(&["-c"]).size(100, 40).start();
    in_editor(&again, &all);
}

/// A clean exit loses no more than a kill.
#[test]
fn queued_messages_are_restored_after_a_clean_exit() {
    for signal in [Signal::SIGTERM, Signal::SIGHUP] {
        let (_server, sandbox) = job::stage_with(vec![Reply::text("I write").gate("never")]);
        let screen = open(&sandbox, Wire::Chat);
        screen.keys("go<enter>");
        screen.wait_for("I write");
        screen.keys("steer this<enter>");
        screen.keys("then that<a-enter>");
        screen.wait_for("▸ then");
        screen.signal(signal);
        screen.wait_dead();
        let again = Launch::new(&sandbox).args(&["-c"]).size(100, 40).start();
        again.wait_for("steer this");
        again.wait_for("then that");
    }
}

/// If tiller dies at any moment after Esc, each message returns exactly once.
#[test]
fn returned_messages_survive_a_kill_at_any_moment() {
    let moments: [fn(&Screen, &Sandbox); 4] = [
        |_, _| {},
        |screen, _| screen.wait_gone("↳ steer"),
        |screen, _| screen.wait_for("│ steer this"),
        |_, sandbox| wait_stored(sandbox, |text| text.contains("steer this")),
    ];
    for moment in moments {
        let (_server, sandbox) = job::stage_with(vec![Reply::text("I write").gate("never")]);
        let screen = open(&sandbox, Wire::Chat);
        screen.keys("go<enter>");
        screen.wait_for("I write");
        screen.keys("steer this<enter>");
        screen.wait_for("↳ steer");
        screen.keys("<esc>");
        moment(&screen, &sandbox);
        screen.signal(Signal::SIGKILL);
        screen.wait_dead();
        let again = Launch::new(&sandbox).args(&["-c"]).size(100, 40).start();
        again.wait_until("it is there once", |view| {
            view.text().matches("steer this").count() == 1
        });
        again.signal(Signal::SIGKILL);
        again.wait_dead();
    }
}

#[test]
fn command_output_survives_a_kill() {
    let (server, sandbox) = job::stage_with(vec![Reply::text("Got it.")]);
    let screen = open(&sandbox, Wire::Chat);
    screen.keys("!echo six times $((3+4))<enter>");
    screen.wait_for("six times 7");
    wait_stored(&sandbox, |text| text.contains("six times 7"));
    screen.signal(Signal::SIGKILL);
    screen.wait_dead();
    let screen = open(&sandbox, Wire::Chat);
    screen.wait_for("output with your next message");
    screen.keys("why?<enter>");
    screen.wait_for("Got it.");
    assert!(server.request(0).text().contains("six times 7"));
    leave(&screen);
}

/// Text typed after a command that opens another session goes to that session.
#[test]
fn text_typed_ahead_goes_to_the_session_that_opens() {
    for wire in Wire::ALL {
        let replies = ["One.", "Two.", "Three."].map(Reply::text).to_vec();
        let (server, sandbox) = job::stage_with(replies);
        let screen = open(&sandbox, wire);
        screen.keys("first<enter>");
        screen.wait_for("One.");
        screen.wait_gone("Esc stops");
        for (number, prompt, answer) in [(1, "hello", "Two."), (2, "and now", "Three.")] {
            screen.keys(&format!("/new<enter>{prompt}<enter>"));
            screen.wait_for(answer);
            screen.wait_gone("Esc stops");
            let request = server.request(number);
            let users = request.said().into_iter();
            let users = users.filter(|said| matches!(said, Said::User(_)));
            assert_eq!(users.count(), 1, "{prompt} began no session");
            assert_eq!(request.last_user(), prompt);
        }
        assert_eq!(sandbox.session_files().len(), 3);
        leave(&screen);
    }
}

// The draft belongs to its session, and switching sessions loses nothing.
#[test]
fn text_stays_with_its_session_or_moves_to_a_new_one() {
    let (_server, sandbox) = job::stage_with(["One.", "Two."].map(Reply::text).to_vec());
    let keys = "resume = \"alt+r\"\nnew_session = \"alt+n\"\n";
    std::fs::write(sandbox.config().join("keymap.toml"), keys).unwrap();
    let screen = open(&sandbox, Wire::Chat);
    screen.keys("first<enter>");
    screen.wait_for("One.");
    screen.wait_gone("Esc stops");
    // The text moves along to a new session.
    screen.keys("half a thought<a-n>");
    screen.wait_gone("One.");
    screen.wait_for("│ half a thought");
    screen.keys("<c-u>second<enter>");
    screen.wait_for("Two.");
    screen.wait_gone("Esc stops");
    // It stays with the second session when the first is opened. Neither kill -9 nor an earlier
    // prompt shown in its place changes that.
    screen.keys("of the second<up><a-r>");
    screen.wait_for("first");
    screen.keys("<enter>");
    screen.wait_for("One.");
    screen.wait_for("stays with the previous session");
    screen.wait_gone("of the second");
    screen.keys("of the first");
    wait_stored(&sandbox, |text| {
        text.contains("of the second") && text.contains("of the first")
    });
    screen.signal(Signal::SIGKILL);
    screen.wait_dead();
    for (prompt, text) in [("second", "of the second"), ("first", "of the first")] {
        let screen = Launch::new(&sandbox).args(&["-r"]).size(100, 40).start();
        screen.wait_for("─ Sessions ");
        screen.keys(prompt);
        screen.wait_for("1 of 2");
        screen.keys("<enter>");
        screen.wait_for(&format!("│ {text}"));
        leave_with_text(&screen);
    }
    // In a single process each session has its own text too.
    let screen = Launch::new(&sandbox).args(&["-c"]).size(100, 40).start();
    screen.wait_for("of the second");
    screen.keys("<a-r>");
    screen.wait_for("first");
    screen.keys("<enter>");
    screen.wait_for("of the first");
    screen.keys("<a-r>");
    screen.wait_for("❯ second");
    screen.keys("<enter>");
    screen.wait_for("of the second");
}

/// Exits as if the terminal had been closed.
fn leave_with_text(screen: &Screen) {
    screen.signal(Signal::SIGTERM);
    screen.wait_dead();
}

// `auto` and `full` come from the settings only.
#[test]
fn a_stricter_permission_mode_is_restored() {
    let (_server, sandbox) = job::stage_with(vec![Reply::text("Noted.")]);
    let screen = open(&sandbox, Wire::Chat);
    screen.keys("/plan<enter>Go<enter>");
    screen.wait_for("Noted.");
    leave(&screen);
    let again = |flags: &[&str]| {
        let flags = [&["-c"], flags].concat();
        Launch::new(&sandbox).args(&flags).size(100, 40).start()
    };
    let screen = again(&[]);
    screen.wait_for("Continuing in plan mode");
    screen.wait_for("─ plan");
    leave(&screen);
    let screen = again(&["--permission", "ask"]);
    screen.wait_for("─ ask");
    assert!(!screen.text().contains("Continuing in"));
    // No mode of the command line is stored, only what the user chooses in the session.
    screen.keys("/permission auto<enter>");
    screen.wait_for("─ auto");
    leave(&screen);
    let modes = sandbox.session();
    let modes = modes
        .iter()
        .filter(|entry| entry["customType"] == "tiller.permission");
    let modes: Vec<&str> = modes.map(|it| it["data"].as_str().unwrap()).collect();
    assert_eq!(modes, ["plan", "auto"]);
}
