//! Copying with the mouse in the real program.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::e2e_job::{leave, open};
use crate::support::job;
use crate::support::model_server::{Reply, Wire};
use crate::support::screen::{Launch, Screen};

/// The column and row of `text` on the screen, both counted from 1.
fn find(screen: &Screen, text: &str) -> (usize, usize) {
    screen.wait_for(text);
    let shown = screen.text();
    let found = shown.lines().enumerate().find_map(|(row, line)| {
        let at = line.find(text)?;
        Some((line[..at].chars().count() + 1, row + 1))
    });
    found.unwrap()
}

/// Sends a mouse event with this button code at a cell.
fn mouse(screen: &Screen, button: u8, (column, row): (usize, usize), up: bool) {
    let end = if up { 'm' } else { 'M' };
    screen.send(format!("\x1b[<{button};{column};{row}{end}").as_bytes());
}

#[test]
fn a_drag_copies_to_the_clipboard() {
    let reply = Reply::text("Look at `note.txt:3`, **there** it is.");
    let (_server, sandbox) = job::stage_with(vec![reply]);
    let wire = Wire::ALL[0];
    let screen = Launch::new(&sandbox)
        .args(&["-m", wire.model()])
        .size(100, 40)
        .start();
    screen.wait_for("claude-sonnet");
    screen.keys("hello");
    screen.wait_for("hello");
    screen.keys("<enter>");
    let from = find(&screen, "there it is");
    let to = (from.0 + "there it".len() - 1, from.1);
    mouse(&screen, 0, from, false);
    mouse(&screen, 32, to, false);
    mouse(&screen, 0, to, true);
    screen.wait_for("Copied 10 characters through the terminal");
    let expected = format!("\x1b]52;c;{}\x1b\\", STANDARD.encode("there** it"));
    let raw = screen.raw();
    let sent = String::from_utf8_lossy(&raw);
    assert!(sent.contains(&expected), "{sent:?}");
    leave(&screen);
}

#[test]
fn a_double_click_copies_the_word_without_its_markup() {
    let marked = "a **bold** and `code` and ~~gone~~ [linked](https://x.y) x\n\n- _italic_ item";
    let table = "| three | four |\n|---|---|\n| five | six |";
    let reply = Reply::text(format!("- one two\n\n{marked}\n\n{table}"));
    let (_server, sandbox) = job::stage_with(vec![reply]);
    let screen = open(&sandbox, Wire::Anthropic);
    screen.keys("hello<enter>");
    // Consecutive words differ in length, so each notice differs from the one before.
    for word in "one bold three gone linked code italic five".split(' ') {
        let at = find(&screen, word);
        for _ in 0..2 {
            mouse(&screen, 0, at, false);
            mouse(&screen, 0, at, true);
        }
        let copied = format!("\x1b]52;c;{}\x1b\\", STANDARD.encode(word));
        screen.wait_for(&format!("Copied {} characters", word.len()));
        assert!(
            String::from_utf8_lossy(&screen.raw()).contains(&copied),
            "{word}"
        );
    }
    leave(&screen);
}

/// With Ctrl or Alt held, a click opens a file at its line in the user's editor. The screen returns
/// afterwards.
#[test]
fn a_click_with_ctrl_or_alt_opens_the_editor_at_the_line() {
    let reply = Reply::text("Look at `src/math.rs:2`, there it is.");
    let (_server, sandbox) = job::stage_with(vec![reply]);
    let opened = sandbox.path().join("opened");
    let editor = format!("printf '%s\\n' >>{}", opened.display());
    let wire = Wire::ALL[0];
    let screen = Launch::new(&sandbox)
        .args(&["-m", wire.model()])
        .env("VISUAL", &editor)
        .size(100, 40)
        .start();
    screen.wait_for("claude-sonnet");
    screen.keys("hello<enter>");
    let at = find(&screen, "math.rs:2");
    for (count, modifier) in [(1, 8), (2, 16)] {
        mouse(&screen, modifier, at, false);
        mouse(&screen, modifier, at, true);
        let read = || std::fs::read_to_string(&opened).unwrap_or_default();
        screen.wait_until("the editor was called", |_| {
            read().lines().count() == 2 * count
        });
        let file = sandbox.path().join("src/math.rs");
        let expected = format!("+2\n{}\n", file.display()).repeat(count);
        assert_eq!(read(), expected);
        screen.wait_for("there it is");
    }
    leave(&screen);
}

/// URLs and file positions are links only in terminals that support them.
#[test]
fn only_terminals_that_support_links_get_them() {
    for (program, has_links) in [("WezTerm", true), ("other", false)] {
        let reply = Reply::text("See `src/math.rs:2` and https://a.example/x, there it is.");
        let (_server, sandbox) = job::stage_with(vec![reply]);
        let wire = Wire::ALL[0];
        let screen = Launch::new(&sandbox)
            .args(&["-m", wire.model()])
            .env("TERM_PROGRAM", program)
            .size(100, 40)
            .start();
        screen.wait_for("claude-sonnet");
        screen.keys("hello<enter>");
        screen.wait_for("there it is");
        let raw = screen.raw();
        let sent = String::from_utf8_lossy(&raw);
        let file = format!(
            ";file://{}#2\x1b\\",
            sandbox.path().join("src/math.rs").display()
        );
        for link in [file.as_str(), ";https://a.example/x\x1b\\"] {
            assert_eq!(sent.contains(link), has_links, "{program}: {link:?}");
        }
        assert_eq!(sent.contains("\x1b]8;;\x1b\\"), has_links);
        leave(&screen);
    }
}
