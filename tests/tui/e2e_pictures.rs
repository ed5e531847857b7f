//! Pictures on the screen in simple and in more capable terminals.

use std::fs;

use serde_json::json;

use super::e2e_job::leave;
use super::pictures::png;
use crate::support::job;
use crate::support::model_server::{ModelServer, Reply, Wire};
use crate::support::sandbox::Sandbox;
use crate::support::screen::{Launch, Screen, Terminal, View};

/// A model that looks at a picture.
fn stage() -> (ModelServer, Sandbox) {
    let look = Reply::new().and_call("read", json!({"file_path": "fields.png"}));
    let mut replies = vec![look, Reply::text("Four fields.")];
    replies.extend((0..3).map(|_| Reply::text("more of it\n\n".repeat(40))));
    let (server, sandbox) = job::stage_with(replies);
    fs::write(sandbox.path().join("fields.png"), png(40, 40)).unwrap();
    (server, sandbox)
}

fn open(sandbox: &Sandbox, terminal: Terminal, args: &[&str]) -> Screen {
    let model = ["-m", Wire::Anthropic.model()];
    let screen = Launch::new(sandbox)
        .args(&[&model, args].concat())
        .terminal(terminal)
        .size(100, 40)
        .start();
    screen.wait_for("─ runs everything");
    screen
}

/// The number of half blocks on the screen.
fn blocks(view: &View) -> usize {
    view.text().matches('▀').count()
}

fn has(screen: &Screen, bytes: &[u8]) -> bool {
    let raw = screen.raw();
    raw.windows(bytes.len()).any(|window| window == bytes)
}

#[test]
fn a_picture_stays_with_its_call() {
    let (_server, sandbox) = stage();
    let screen = open(&sandbox, Terminal::Xterm, &[]);
    screen.keys("look<enter>");
    screen.wait_for("Four fields.");
    screen.wait_until("the picture", |view| blocks(view) > 200);
    let at = screen.look(|view| view.find("▀")).unwrap();
    let style = screen.look(|view| view.style_at(at.0, at.1)).unwrap();
    assert_eq!(style.fg, vt100::Color::Rgb(200, 0, 0));
    screen.wait_gone("Esc stops");
    // A smaller terminal shows a smaller picture.
    screen.resize(60, 24);
    screen.wait_until("a smaller picture", |view| (1..120).contains(&blocks(view)));
    screen.resize(100, 40);
    screen.wait_until("the picture", |view| blocks(view) > 200);
    // The picture scrolls out with its call and back in.
    screen.keys("go on<enter>");
    screen.wait_until("no picture", |view| {
        view.contains("more") && blocks(view) == 0
    });
    screen.wait_gone("Esc stops");
    screen.keys("<c-home>");
    screen.wait_until("the picture", |view| blocks(view) > 200);
    leave(&screen);
    assert!(
        !has(&screen, b"\x1b_Ga=T"),
        "no kitty picture without kitty support"
    );

    let screen = open(&sandbox, Terminal::Xterm, &["-c"]);
    screen.keys("<c-home>");
    screen.wait_until("the picture", |view| blocks(view) > 200);
    leave(&screen);

    // Without colors only the caption shows.
    let screen = Launch::new(&sandbox)
        .args(&["-m", Wire::Anthropic.model(), "-c"])
        .env("NO_COLOR", "1")
        .size(100, 40)
        .start();
    screen.keys("<c-home>");
    screen.wait_for("fields.png  image/png 40x40");
    assert_eq!(screen.look(blocks), 0);
    leave(&screen);
}

#[test]
fn kitty_gets_a_picture_once() {
    let (_server, sandbox) = stage();
    let screen = open(&sandbox, Terminal::KittyGraphics, &[]);
    screen.keys("look<enter>");
    screen.wait_for("Four fields.");
    screen.wait_until("the picture's cells", |view| {
        view.text().matches('\u{10eeee}').count() == 4 * 2
    });
    assert_eq!(screen.look(blocks), 0);
    screen.wait_gone("Esc stops");
    screen.keys("go on<enter>");
    screen.wait_until("no picture", |view| {
        view.contains("more") && !view.text().contains('\u{10eeee}')
    });
    screen.wait_gone("Esc stops");
    screen.keys("<c-home>");
    screen.wait_for("\u{10eeee}");
    leave(&screen);
    let raw = String::from_utf8_lossy(&screen.raw()).into_owned();
    assert_eq!(raw.matches("\u{1b}_Ga=T,U=1,q=2,f=100,i=").count(), 1);
    // Exiting deletes the picture.
    assert_eq!(raw.matches("\u{1b}_Ga=d,d=I,i=").count(), 1);
    assert_eq!(screen.leftovers(), Vec::<String>::new());
}

/// With `--inline` a picture is printed with the conversation and stays.
#[test]
fn inline_mode_prints_pictures() {
    for terminal in [Terminal::Xterm, Terminal::KittyGraphics] {
        let (_server, sandbox) = stage();
        let screen = open(&sandbox, terminal, &["--inline"]);
        screen.keys("look<enter>");
        screen.wait_for("Four fields.");
        screen.wait_until("the picture", |view| {
            blocks(view) > 200 || view.contains("\u{10eeee}")
        });
        leave(&screen);
        let lines = screen.everything();
        let count = |c: char| {
            lines
                .iter()
                .map(|line| line.matches(c).count())
                .sum::<usize>()
        };
        let is_kitty = terminal == Terminal::KittyGraphics;
        assert_eq!(
            count('\u{10eeee}'),
            if is_kitty { 8 } else { 0 },
            "{lines:#?}"
        );
        assert_eq!(count('▀') > 200, !is_kitty, "{lines:#?}");
        assert!(!has(&screen, b"\x1b_Ga=d"));
    }
}
