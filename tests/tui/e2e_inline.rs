//! `--inline`: the conversation goes into the terminal's own scrollback. Each line is printed once
//! and in order, and no row of the prompt area is left behind.

use std::fmt::Write as _;

use nix::sys::signal::Signal;
use serde_json::json;

use super::e2e_job::leave;
use crate::support::job;
use crate::support::model_server::{Failure, Reply, Wire};
use crate::support::sandbox::Sandbox;
use crate::support::screen::{Launch, Screen};
use crate::support::tmux::Tmux;

pub(super) fn open(sandbox: &Sandbox, more: &[&str]) -> Screen {
    let screen = Launch::new(sandbox)
        .args(&[&["--inline", "-m", Wire::Anthropic.model()], more].concat())
        // It truncates rows when it gets narrower, as the emulator does.
        .env("XTERM_VERSION", "XTerm(400)")
        .start();
    screen.wait_for("─ runs everything");
    screen
}

/// Each of `wanted` is in exactly one of all printed lines, in this order.
#[track_caller]
pub(super) fn assert_once(screen: &Screen, wanted: &[&str]) {
    assert_once_in(&screen.everything(), wanted);
}

#[track_caller]
fn assert_once_in(lines: &[String], wanted: &[&str]) {
    let mut from = 0;
    for text in wanted {
        let found: Vec<usize> = (0..lines.len())
            .filter(|at| lines[*at].contains(text))
            .collect();
        assert_eq!(found.len(), 1, "{text:?} in:\n{}", lines.join("\n"));
        assert!(
            found[0] >= from,
            "{text:?} too early:\n{}",
            lines.join("\n")
        );
        from = found[0];
    }
}

/// Numbered paragraphs.
pub(super) fn paragraphs(name: &str, count: usize) -> (String, Vec<String>) {
    let marks: Vec<String> = (0..count).map(|at| format!("{name}-{at}.")).collect();
    let mut text = String::new();
    for mark in &marks {
        let _ = write!(text, "{mark} {}\n\n", "word ".repeat(24));
    }
    (text, marks)
}

#[test]
fn a_job_is_printed_once_and_in_order() {
    let (_server, sandbox) = job::stage();
    let screen = open(&sandbox, &[]);
    screen.keys(job::PROMPT);
    screen.keys("<enter>");
    screen.wait_for("Repaired: it adds now.");
    screen.wait_gone("Esc stops");
    assert!(!screen.is_alternate());
    let modes = screen.modes_left().join("\n");
    assert!(!modes.contains("1002") && modes.contains("2004"), "{modes}");
    let seen = [
        "❯ Repair the addition",
        "I look around first",
        "✓ explored",
        "Now the edit.",
        "✓ edit",
        "a + b",
        "echo tested",
        "Repaired: it adds now.",
        "5 calls",
    ];
    assert_once(&screen, &seen);
    leave(&screen);
    assert_once(&screen, &seen);
    let lines = screen.everything();
    assert!(!lines.join("\n").contains('╭'), "{}", lines.join("\n"));
    assert_once(&screen, &["5 calls", "resume   tiller --session"]);
}

#[test]
fn long_answers_survive_steering_resizes_and_lists() {
    let (one, first) = paragraphs("one", 30);
    let (two, second) = paragraphs("two", 30);
    let (server, sandbox) = job::stage_with(vec![
        Reply::new()
            .say_slowly(one, 40, 0)
            .gate("one")
            .say("End one."),
        Reply::new()
            .say_slowly(two, 40, 0)
            .gate("two")
            .say("End two."),
    ]);
    let screen = open(&sandbox, &[]);
    screen.keys("go<enter>");
    server.wait_gate("one");
    screen.keys("turn left<enter>");
    screen.wait_for("↳ steer");
    for rows in [12, 30, 9, 24] {
        screen.resize(80, rows);
        screen.wait_for("↳ steer");
    }
    server.release("one");
    server.wait_gate("two");
    for columns in [70, 90, 80] {
        screen.resize(columns, 24);
        screen.wait_for("Esc stops");
    }
    screen.keys("<f1>");
    screen.wait_for("─ Help");
    assert!(screen.is_alternate());
    server.release("two");
    screen.wait_gone("Esc stops");
    screen.keys("<esc>");
    screen.wait_until("the normal screen", |view| {
        !view.is_alternate() && view.contains("End two.") && !view.contains("Esc stops")
    });
    let mut seen = vec!["❯ go"];
    seen.extend(first.iter().map(String::as_str));
    seen.extend(["End one.", "❯ turn left"]);
    seen.extend(second.iter().map(String::as_str));
    seen.push("End two.");
    assert_once(&screen, &seen);
    leave(&screen);
    assert_once(&screen, &seen);
}

#[test]
fn a_stopped_answer_and_a_retried_one_are_printed_once() {
    let (server, sandbox) = job::stage_with(vec![
        Reply::text("Half of the").stall(),
        Reply::error(Failure::RateLimit),
        Reply::text("At last."),
    ]);
    let screen = open(&sandbox, &["--config", "retry.base_ms=1"]);
    screen.keys("one<enter>");
    screen.wait_for("Half of the");
    server.request(0);
    screen.keys("<esc>");
    screen.wait_for("Interrupted");
    screen.wait_gone("Esc stops");
    screen.keys("two<enter>");
    screen.wait_for("At last.");
    screen.wait_gone("Esc stops");
    assert_once(
        &screen,
        &[
            "❯ one",
            "Half of the",
            "Interrupted",
            "❯ two",
            "succeeded",
            "At last.",
        ],
    );
    leave(&screen);
}

/// A pager takes the whole screen for a while, and the printed lines stay as they were.
#[test]
fn reading_older_lines_changes_nothing_printed() {
    let (text, marks) = paragraphs("p", 40);
    let (_server, sandbox) = job::stage_with(vec![Reply::text(text), Reply::text("Second.")]);
    let screen = open(&sandbox, &[]);
    screen.keys("go<enter>");
    screen.wait_for("p-39.");
    screen.wait_gone("Esc stops");
    screen.keys("<pgup>");
    screen.wait_until("the page above", |view| {
        view.is_alternate() && view.contains("p-33.") && !view.contains("p-39.")
    });
    screen.keys("<esc>");
    screen.wait_until("the end", |view| {
        !view.is_alternate() && view.contains("p-39.")
    });
    screen.keys("typed");
    screen.wait_until("the editor", |view| {
        !view.is_alternate() && view.contains("│ typed")
    });
    screen.keys("<c-c>");
    screen.wait_gone("│ typed");
    screen.keys("<pgup>");
    screen.wait_until("the page above", |view| {
        view.is_alternate() && !view.contains("p-39.")
    });
    screen.keys("more<enter>");
    screen.wait_until("the answer", |view| {
        !view.is_alternate() && view.contains("Second.")
    });
    let mut seen = vec!["❯ go"];
    seen.extend(marks.iter().map(String::as_str));
    seen.extend(["❯ more", "Second."]);
    assert_once(&screen, &seen);
    leave(&screen);
}

/// After `kill -9` the lines stay, and `-c` continues at the end of the conversation.
#[test]
fn a_killed_session_continues_below_its_lines() {
    let (_server, sandbox) = job::stage_with(vec![
        Reply::text("Before the end."),
        Reply::text("After it."),
    ]);
    let screen = open(&sandbox, &[]);
    screen.keys("one<enter>");
    screen.wait_for("Before the end.");
    screen.wait_gone("Esc stops");
    screen.signal(Signal::SIGKILL);
    screen.wait_exit();
    assert_once(&screen, &["❯ one", "Before the end."]);
    let screen = open(&sandbox, &["-c"]);
    screen.wait_for("Before the end.");
    screen.keys("two<enter>");
    screen.wait_for("After it.");
    screen.wait_gone("Esc stops");
    assert_once(&screen, &["❯ one", "Before the end.", "❯ two", "After it."]);
    leave(&screen);
}

/// tmux rewraps rows at every size. No row of the prompt area may be left behind or missing.
#[test]
fn tmux_keeps_every_line_once() {
    let (one, first) = paragraphs("one", 12);
    let (two, second) = paragraphs("two", 12);
    let (server, sandbox) = job::stage_with(vec![
        Reply::new()
            .say_slowly(one, 60, 0)
            .gate("one")
            .say("End one."),
        Reply::new()
            .say_slowly(two, 60, 0)
            .gate("two")
            .say("End two."),
        Reply::text("Anew."),
    ]);
    let arguments = ["--inline", "-m", Wire::Anthropic.model()];
    let Some(tmux) = Tmux::start(&sandbox, &arguments, (80, 24)) else {
        return;
    };
    tmux.wait("the prompt", |screen| screen.contains("─ runs everything"));
    tmux.keys(&["go", "Enter"]);
    server.wait_gate("one");
    // Output in transit during a resize is placed by the terminal.
    tmux.wait("all so far", |screen| screen.contains("one-11."));
    for (columns, rows) in [(50, 24), (35, 24), (110, 24), (80, 12), (60, 30), (80, 24)] {
        tmux.resize(columns, rows);
        tmux.wait("a frame at this size", |screen| fits(screen, columns));
    }
    server.release("one");
    tmux.wait("the end", |screen| !screen.contains("Esc stops"));
    tmux.keys(&["more", "Enter"]);
    server.wait_gate("two");
    tmux.wait("all so far", |screen| screen.contains("two-11."));
    tmux.keys(&["F1"]);
    tmux.wait("the keys", |screen| screen.contains("─ Help"));
    tmux.resize(60, 20);
    tmux.wait("the keys at this size", |screen| {
        screen.contains("─ Help") && fits(screen, 60)
    });
    tmux.keys(&["Escape"]);
    tmux.wait("the run", |screen| {
        screen.contains("Esc stops") && !screen.contains("─ Help")
    });
    server.release("two");
    tmux.wait("the end", |screen| !screen.contains("Esc stops"));
    // A list as high as the screen and then another conversation lose nothing of the first one.
    tmux.resize(60, 10);
    tmux.wait("a frame at this size", |screen| fits(screen, 60));
    tmux.keys(&["/new"]);
    tmux.wait("the list", |screen| screen.contains("Commands"));
    tmux.keys(&["Enter"]);
    tmux.wait("the welcome", |screen| {
        screen.contains("or steer a running")
    });
    tmux.keys(&["again", "Enter"]);
    tmux.wait("the answer", |screen| screen.contains("Anew."));
    tmux.wait("the end", |screen| !screen.contains("Esc stops"));
    tmux.keys(&["C-d"]);
    tmux.wait("the end", |screen| screen.contains("resume   tiller"));
    let everything = tmux.everything();
    let lines: Vec<String> = everything.lines().map(str::to_owned).collect();
    let mut seen = vec!["❯ go"];
    seen.extend(first.iter().map(String::as_str));
    seen.extend(["End one.", "❯ more"]);
    seen.extend(second.iter().map(String::as_str));
    seen.extend(["End two.", "❯ again", "Anew.", "resume   tiller"]);
    assert_once_in(&lines, &seen);
    assert!(!everything.contains(['╭', '╰', '│']), "{everything}");
}

/// True if the editor's border is as wide as the terminal.
fn fits(screen: &str, columns: u16) -> bool {
    let is_edge = |line: &str| {
        line.starts_with('╰') && line.ends_with('╯') && line.chars().count() == usize::from(columns)
    };
    screen.lines().any(is_edge)
}

/// While the user reads, more arrives than memory keeps. Then another conversation takes over.
#[test]
fn a_long_run_while_reading_is_printed_once() {
    const TURNS: usize = 36;
    let (first, marks) = paragraphs("p", 12);
    let go = Reply::text(first).gate("go").and_call("ls", json!({}));
    let mut replies = vec![go];
    for turn in 0..TURNS {
        // A page ends after a fixed number of entries.
        let calls = 0..40;
        let said = Reply::new().say(format!("turn-{turn}. goes on"));
        let reply = calls.fold(said, |reply, call| {
            let arguments = json!({"pattern": format!("{turn}-{call}"), "path": "README.md"});
            reply.and_call("grep", arguments)
        });
        replies.push(reply);
    }
    replies.extend([Reply::text("All done."), Reply::text("Anew.")]);
    let (server, sandbox) = job::stage_with(replies);
    let screen = open(&sandbox, &["--config", "agent.max_iterations=1000"]);
    screen.keys("go<enter>");
    server.wait_gate("go");
    screen.keys("<pgup>");
    screen.wait_until("the page above", |view| {
        view.is_alternate() && view.contains("Ctrl+C stops")
    });
    server.release("go");
    screen.wait_gone("Ctrl+C stops");
    screen.keys("/new<enter>");
    screen.wait_for("a new conversation");
    screen.keys("again<enter>");
    screen.wait_for("Anew.");
    screen.wait_gone("Esc stops");
    let turns: Vec<String> = (0..TURNS)
        .map(|turn| format!("turn-{turn}. goes on"))
        .collect();
    let mut seen = vec!["❯ go"];
    seen.extend(marks.iter().chain(&turns).map(String::as_str));
    seen.extend(["All done.", "══ a new conversation", "❯ again", "Anew."]);
    assert_once(&screen, &seen);
    leave(&screen);
}
