//! `--inline` while a shell, an editor, a question, a summary or a signal interrupts. Each line is
//! still printed once and in order.

use nix::sys::signal::Signal;
use serde_json::json;

use super::e2e_inline::{assert_once, open, paragraphs};
use super::e2e_job::leave;
use super::e2e_questions::read_it;
use crate::support::job;
use crate::support::model_server::{Reply, Wire};
use crate::support::screen::Launch;

#[test]
fn a_suspended_run_continues_where_it_was() {
    let (text, marks) = paragraphs("p", 20);
    let (server, sandbox) = job::stage_with(vec![
        Reply::new()
            .say_slowly(text, 60, 0)
            .gate("one")
            .say("End one."),
        Reply::text("Second."),
    ]);
    let shell = Launch::new(&sandbox)
        .args(&["--norc", "--noprofile", "--noediting", "-i"])
        .env("PS1", "shell> ")
        .env("XTERM_VERSION", "XTerm(400)")
        .env("TILLER", env!("CARGO_BIN_EXE_tiller"))
        .start_program("/bin/bash");
    shell.wait_for("shell>");
    let model = Wire::Anthropic.model();
    shell.keys(&format!("\"$TILLER\" --inline -m {model}<enter>"));
    shell.wait_for("─ runs everything");
    shell.keys("go<enter>");
    server.wait_gate("one");
    shell.wait_for("p-19.");
    for _ in 0..2 {
        shell.keys("<c-z>");
        shell.wait_for("Stopped");
        assert_eq!(shell.modes_left(), Vec::<String>::new());
        shell.keys("clear; fg<enter>");
        shell.wait_until("tiller", |view| view.contains("Esc stops"));
    }
    server.release("one");
    shell.wait_for("End one.");
    shell.wait_gone("Esc stops");
    shell.keys("more<enter>");
    shell.wait_for("Second.");
    shell.wait_gone("Esc stops");
    shell.keys("<c-d>");
    shell.wait_for("resume   tiller");
    // `clear` removed the lines on the screen, but nothing is printed again.
    let lines = shell.everything().join("\n");
    for mark in &marks {
        assert!(lines.matches(mark.as_str()).count() <= 1, "{mark}: {lines}");
    }
    assert_once(
        &shell,
        &["End one.", "❯ more", "Second.", "resume   tiller"],
    );
    assert!(!lines.contains('╭'), "{lines}");
}

#[test]
fn questions_summaries_editors_and_long_lines_print_once() {
    let long = format!("long-{}-end", "x".repeat(2_000));
    let touch = json!({"command": "touch made"});
    let (_server, sandbox) = job::stage_with(vec![
        Reply::text("First I ask.").and_call("bash", touch),
        Reply::text(format!("Refused.\n\n```\n{long}\n```\n\nAfter it.")),
        Reply::text("## Task\nSummed up."),
        Reply::text("From the editor."),
    ]);
    let screen = Launch::new(&sandbox)
        .args(&["--inline", "-m", Wire::Anthropic.model()])
        .args(&["--permission", "ask"])
        .env("XTERM_VERSION", "XTerm(400)")
        .env("EDITOR", "printf 'written elsewhere' >")
        .start();
    screen.wait_for("─ ask");
    screen.keys("go<enter>");
    screen.wait_for("Run this command?");
    screen.keys("<pgup>");
    screen.keys("<esc>");
    screen.wait_until("the question", |view| {
        !view.is_alternate() && view.contains("Run this command?")
    });
    read_it(&screen);
    // Long enough that a summary is shorter.
    screen.keys(&format!("no{}<enter>", ", not now".repeat(100)));
    screen.wait_for("After it.");
    screen.wait_gone("Esc stops");
    screen.keys("<c-u>/compact<enter>");
    screen.wait_for("summary");
    screen.wait_gone("Esc stops");
    screen.keys("<c-g>");
    screen.wait_for("│ written elsewhere");
    screen.keys("<enter>");
    screen.wait_for("From the editor.");
    screen.wait_gone("Esc stops");
    leave(&screen);
    let seen = [
        "❯ go",
        "First I ask.",
        "Refused.",
        "long-xxx",
        "x-end",
        "After it.",
        "▸ summary",
        "❯ written elsewhere",
        "From the editor.",
        "resume   tiller",
    ];
    assert_once(&screen, &seen);
    assert!(!screen.everything().join("\n").contains('╭'));
}

/// A signal keeps what was printed so far, even half an answer. No other conversation starts during
/// a run.
#[test]
fn a_signal_during_a_run_keeps_the_printed_lines() {
    let (text, marks) = paragraphs("p", 30);
    let (server, sandbox) = job::stage_with(vec![
        Reply::new()
            .say_slowly(text, 60, 0)
            .say("half an answer")
            .gate("never"),
    ]);
    let screen = open(&sandbox, &[]);
    screen.keys("go<enter>");
    server.wait_gate("never");
    screen.wait_for("half an answer");
    screen.keys("/new<enter>");
    screen.wait_for("The agent is still working");
    screen.signal(Signal::SIGTERM);
    assert_eq!(screen.wait_exit().code, 143);
    assert_eq!(screen.leftovers(), Vec::<String>::new());
    let mut seen = vec!["❯ go"];
    seen.extend(marks.iter().map(String::as_str));
    seen.push("half an answer");
    assert_once(&screen, &seen);
    assert!(!screen.everything().join("\n").contains('╭'));
}

/// At the exit tiller waits for pending output only as long as the terminal accepts some of it. It
/// reports what was lost, and restores the terminal.
#[test]
fn a_terminal_that_accepts_nothing_does_not_block_the_exit() {
    let (text, _) = paragraphs("p", 300);
    let (server, sandbox) = job::stage_with(vec![
        Reply::text("Seen. ").gate("frozen").say(text),
        Reply::text("Unseen.").gate("never"),
    ]);
    let screen = open(&sandbox, &[]);
    screen.keys("go<enter>");
    screen.wait_for("Seen.");
    screen.freeze();
    screen.keys("next<enter>");
    server.release("frozen");
    // The next request proves that the whole answer arrived.
    assert!(server.request(1).last_user().contains("next"));
    screen.signal(Signal::SIGTERM);
    assert_eq!(screen.wait_dead().code, 143);
    screen.thaw();
    screen.wait_exit();
    assert_eq!(screen.leftovers(), Vec::<String>::new());
    assert_once(
        &screen,
        &[
            "part of the conversation above is missing",
            "resume   tiller",
        ],
    );
}
