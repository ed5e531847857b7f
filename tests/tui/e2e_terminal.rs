//! Behavior in the terminal: sizes, colors, restoring, hostile text, and failures on the screen.

use std::fmt::Write;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::json;

use super::e2e_job::{leave, open};
use crate::support::job;
use crate::support::model_server::{Failure, Pace, Reply, Step, Wire};
use crate::support::screen::{Launch, Terminal};

#[test]
fn many_resizes_leave_a_correct_screen() {
    let mut text = String::new();
    for line in 0..200 {
        let _ = write!(text, "word {line} größe 日本\n\n");
    }
    let (server, sandbox) = job::stage_with(vec![
        Reply::new()
            .say_slowly(text, 7, 0)
            .gate("storm")
            .say("The end."),
    ]);
    let screen = open(&sandbox, Wire::Anthropic);
    screen.keys("go<enter>");
    server.wait_gate("storm");
    for round in 0..20 {
        for (columns, rows) in [
            (1, 1),
            (200, 60),
            (2, 40),
            (40, 10),
            (80, 1),
            (5, 3),
            (120, 40),
        ] {
            screen.resize(columns + round % 3, rows);
        }
    }
    server.release("storm");
    for (columns, rows) in [(200, 60), (80, 24), (40, 10)] {
        screen.resize(columns, rows);
        screen.wait_until(&format!("the end at {columns}x{rows}"), |view| {
            view.contains("The end.") && view.contains("─ runs everything")
        });
    }
    screen.keys("typed after it");
    screen.wait_for("typed after it");
    screen.keys("<c-c>");
    screen.wait_gone("typed after it");
    leave(&screen);
}

/// A terminal that was resized and is back at the last frame's size has still truncated its rows.
#[test]
fn a_burst_of_resizes_back_to_the_same_size_redraws() {
    let (_server, sandbox) = job::stage_with(vec![Reply::text("All of the answer.")]);
    let screen = open(&sandbox, Wire::Anthropic);
    screen.keys("go<enter>");
    screen.wait_for("All of the answer.");
    screen.wait_gone("Esc stops");
    for _ in 0..10 {
        screen.resize(30, 8);
        screen.resize(100, 40);
        screen.wait_until("everything anew", |view| {
            view.contains("All of the answer.") && view.contains("─ runs everything")
        });
    }
    leave(&screen);
}

/// A terminal of unknown size gets the default one. A terminal that can't move its cursor gets an
/// error with an alternative.
#[test]
fn terminals_without_size_or_cursor_movement_are_handled() {
    let (_server, sandbox) = job::stage();
    let screen = Launch::new(&sandbox)
        .args(&["-m", Wire::Chat.model()])
        .telling(0, 0)
        .start();
    screen.wait_for("─ runs everything");
    leave(&screen);
    let screen = Launch::new(&sandbox)
        .args(&["-m", Wire::Chat.model()])
        .env("TERM", "dumb")
        .start();
    assert_eq!(screen.wait_exit().code, 2);
    let text = screen.text();
    assert!(text.contains("TERM=dumb") && text.contains("-p"), "{text}");
    assert_eq!(screen.leftovers(), Vec::<String>::new());
}

/// Before raw mode the terminal turns Enter into a line feed.
#[test]
fn enter_typed_before_the_first_frame_is_enter() {
    let (server, sandbox) = job::stage_with(vec![Reply::text("It is done.")]);
    let screen = Launch::new(&sandbox)
        .args(&["-m", Wire::Anthropic.model()])
        .start();
    screen.send(b"typed ahead\r");
    screen.wait_for("It is done.");
    assert!(server.request(0).text().contains("typed ahead"));
    leave(&screen);
}

/// At the smallest size the stop hint shows from Enter until the end of the run.
#[test]
fn a_run_works_at_40x10() {
    let (server, sandbox) = job::stage_with(vec![Reply::text("Hi").gate("text").say(" there.")]);
    let screen = Launch::new(&sandbox)
        .args(&["-m", Wire::Chat.model()])
        .size(40, 10)
        .start();
    screen.wait_for("─ runs everything");
    assert!(!screen.text().contains("Esc stops"));
    screen.keys("go<enter>");
    screen.wait_for("Esc stops");
    screen.wait_for("Hi");
    server.release("text");
    screen.wait_for("Hi there.");
    screen.wait_gone("Esc stops");
    leave(&screen);
}

#[test]
fn no_color_means_no_color() {
    for colored in [false, true] {
        let (_server, mut sandbox) = job::stage();
        if !colored {
            sandbox.set("NO_COLOR", "1");
        }
        let screen = open(&sandbox, Wire::Anthropic);
        screen.keys("go<enter>");
        screen.wait_for("Repaired");
        screen.wait_gone("Esc stops");
        assert_eq!(!screen.colours().is_empty(), colored);
        leave(&screen);
    }
}

/// Terminals that reply to nothing or little work too, and their replies aren't typed as text.
#[test]
fn terminals_of_every_kind_work() {
    for terminal in [
        Terminal::Kitty,
        Terminal::Xterm,
        Terminal::Slow,
        Terminal::Silent,
    ] {
        let (_server, sandbox) = job::stage_with(vec![Reply::text("Hello.")]);
        let screen = Launch::new(&sandbox)
            .args(&["-m", Wire::Chat.model()])
            .terminal(terminal)
            .start();
        screen.wait_for("│ Ask for anything");
        screen.wait_answered();
        screen.keys("hi<enter>");
        screen.wait_for("Hello.");
        assert!(
            screen.text().contains("❯ hi"),
            "{terminal:?}: {}",
            screen.text()
        );
        leave(&screen);
    }
}

/// A terminal may report any size. tiller draws as far as a screen can go, and recovers at the next
/// real size.
#[test]
fn a_wrong_terminal_size_does_no_harm() {
    for arguments in [&[][..], &["--inline"]] {
        let (_server, sandbox) = job::stage_with(vec![Reply::text("Hello.")]);
        let screen = Launch::new(&sandbox)
            .args(&["-m", Wire::Chat.model()])
            .args(arguments)
            .telling(u16::MAX, u16::MAX)
            .start();
        screen.wait_answered();
        for (columns, rows) in [
            (0, 0),
            (1, 1),
            (u16::MAX, 1),
            (1, u16::MAX),
            (u16::MAX, u16::MAX),
        ] {
            screen.tell(columns, rows);
        }
        screen.keys("hi<enter>");
        screen.resize(80, 24);
        screen.wait_until("the answer", |view| {
            view.contains("Hello.") && !view.contains("Esc stops")
        });
        let status = std::fs::read_to_string(format!("/proc/{}/status", screen.pid()));
        let peak = status.ok().and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
            line.split_whitespace().nth(1)?.parse::<u64>().ok()
        });
        assert!(peak.is_none_or(|kilobytes| kilobytes < 400_000), "{peak:?}");
        leave(&screen);
    }
}

/// Text from models, files and commands never reaches the terminal as an escape sequence.
#[test]
fn hostile_text_is_made_harmless() {
    let evil = "\u{1b}]0;owned\u{7}\u{1b}[31mred\u{1b}[2J \u{9b}31m \u{202e}";
    let (_server, sandbox) = job::stage_with(vec![
        Reply::new()
            .think(evil)
            .say(format!("Text: {evil}"))
            .and_call("read", json!({"file_path": "evil.txt"}))
            .and_call(
                "bash",
                json!({"command": "cat evil.txt; echo done", "description": evil}),
            )
            .and_call("read", json!({"file_path": format!("{evil}.txt")})),
        Reply::text("All survived."),
    ]);
    sandbox.write("evil.txt", evil);
    let screen = open(&sandbox, Wire::Anthropic);
    screen.keys("go<enter>");
    screen.wait_for("All survived.");
    let raw = screen.raw();
    let has = |bytes: &[u8]| raw.windows(bytes.len()).any(|window| window == bytes);
    assert!(!has(b"\x1b]0;owned"), "a title was set");
    assert!(!has(b"\x1b[31mred"), "a color came through");
    assert!(!has("\u{9b}".as_bytes()), "a C1 control came through");
    assert!(
        !has("\u{202e}".as_bytes()),
        "a direction override came through"
    );
    leave(&screen);
}

/// A failed run shows what to do next, and the next prompt works.
#[test]
fn failures_are_shown_and_survived() {
    let html = "<html><body>Wi-Fi</body></html>";
    for wire in Wire::ALL {
        for (reply, words) in [
            (
                Reply::error(Failure::Auth),
                &["refused the key", "API_KEY"][..],
            ),
            (Reply::http(200, "text/html", html), &["event stream"]),
            (
                Reply::text("half a").fail(Failure::Invalid),
                &["half a", "Enter retry"],
            ),
        ] {
            let (_server, sandbox) = job::stage_with(vec![reply, Reply::text("Better now.")]);
            let screen = open(&sandbox, wire);
            screen.keys("go<enter>");
            screen.wait_until(&format!("{words:?}"), |view| {
                words.iter().all(|word| view.contains(word))
            });
            screen.wait_gone("Esc stops");
            screen.keys("again<enter>");
            screen.wait_for("Better now.");
            leave(&screen);
        }
    }
}

/// Errors in the user's files are shown with their lines, and the rest of the file applies.
#[test]
fn errors_in_key_and_theme_files_affect_only_their_lines() {
    let (_server, sandbox) = job::stage();
    let config = sandbox.config();
    std::fs::write(
        config.join("keymap.toml"),
        "odd-act = \"x\"\nhelp = \"alt+h\"\n",
    )
    .unwrap();
    std::fs::create_dir(config.join("themes")).unwrap();
    std::fs::write(config.join("themes/mine.toml"), "[ui]\ntexxt = \"red\"\n").unwrap();
    let screen = Launch::new(&sandbox)
        .args(&["-m", Wire::Chat.model(), "--theme", "mine"])
        .start();
    screen.wait_for("unknown action `odd-act`");
    screen.wait_for("you mean 'text'");
    screen.keys("<a-h>");
    screen.wait_for("─ Help");
    screen.keys("<esc>");
    screen.wait_gone("─ Help");
    leave(&screen);
}

/// A theme and a setting chosen on the screen are saved in the file.
#[test]
fn choices_on_the_screen_are_saved() {
    let (_server, sandbox) = job::stage();
    let file = sandbox.config().join("config.toml");
    let before = std::fs::read_to_string(&file).unwrap_or_default() + "# mine\n";
    std::fs::write(&file, &before).unwrap();
    let screen = open(&sandbox, Wire::Chat);
    screen.keys("/theme nord<enter>");
    screen.wait_for("Saved: ui.theme");
    // After many quick changes the last one wins.
    let burst = ["light", "dark", "ansi", "nord"].map(|theme| format!("/theme {theme}<enter>"));
    screen.keys(&burst.concat().repeat(5));
    screen.keys("/settings<enter>");
    screen.wait_for("Theme for dark terminals");
    screen.keys("ui.motion<enter>");
    screen.wait_for("Saved: ui.motion (restart tiller to use it)");
    screen.keys("<esc>");
    screen.wait_gone("Settings");
    let text = std::fs::read_to_string(&file).unwrap();
    let set = "[ui]\ntheme = \"nord\"\nmotion = \"reduced\"\n";
    assert!(text.contains(set), "{text}");
    assert!(before.lines().all(|line| text.contains(line)), "{text}");
    let raw = String::from_utf8_lossy(&screen.raw()).into_owned();
    assert!(raw.contains("\u{1b}]2;tiller · "), "the window has a title");
    leave(&screen);
    let raw = String::from_utf8_lossy(&screen.raw()).into_owned();
    assert!(
        raw.contains("\u{1b}[23;0t"),
        "the previous title is restored"
    );
}

/// A terminal that reads nothing blocks neither signals nor the agent. Once it reads again, it
/// shows what happened.
#[test]
fn a_frozen_terminal_blocks_nothing() {
    for (signal, code) in [(Signal::SIGTERM, 143), (Signal::SIGHUP, 129)] {
        let (server, sandbox) = job::stage_with(vec![
            Reply::text("before ").gate("frozen").say("after."),
            Reply::text("unseen").gate("never"),
        ]);
        let screen = open(&sandbox, Wire::Anthropic);
        screen.keys("go<enter>");
        screen.wait_for("before");
        screen.freeze();
        screen.keys("next<enter>");
        server.release("frozen");
        // The next request proves that the loop and the agent continued.
        assert!(server.request(1).last_user().contains("next"));
        screen.thaw();
        screen.wait_for("unseen");
        screen.freeze();
        screen.keys("not to be seen");
        let sent = Instant::now();
        screen.signal(signal);
        assert_eq!(screen.wait_dead().code, code);
        // On a quiet machine this takes 200 ms.
        assert!(sent.elapsed() < Duration::from_secs(2), "{sent:?}");
        screen.thaw();
        screen.wait_exit();
        assert_eq!(screen.leftovers(), Vec::<String>::new());
        assert!(!screen.is_alternate());
    }
}

/// Some servers give every call the same id. Each call still has its own cell and gets its own
/// result.
#[test]
fn calls_with_the_same_id_have_their_own_cells() {
    let echo = |id: &str, word: &str| Step::Call {
        name: "bash".to_owned(),
        id: Some(id.to_owned()),
        arguments: json!({"command": format!("printf %s-%s {word} out")}).to_string(),
        pace: Pace::default(),
    };
    for wire in Wire::ALL {
        let (server, sandbox) = job::stage_with(vec![
            Reply::new()
                .step(echo("call_0", "first"))
                .step(echo("call_0", "second")),
            Reply::new().step(echo("call_0", "third")),
            Reply::text("All three."),
        ]);
        let screen = open(&sandbox, wire);
        screen.keys("go<enter>");
        screen.wait_for("All three.");
        for word in ["first-out", "second-out", "third-out"] {
            assert!(screen.text().contains(word), "{word}: {}", screen.text());
        }
        let results = server.request(2).results();
        assert_eq!(results, ["first-out", "second-out", "third-out"]);
        leave(&screen);
    }
}

/// Typing is responsive while text streams, and Ctrl+C twice exits.
#[test]
fn typing_works_while_text_streams_and_ctrl_c_twice_exits() {
    let (server, sandbox) = job::stage_with(vec![
        Reply::new()
            .say_slowly("streaming ".repeat(500), 10, 2)
            .gate("on"),
    ]);
    let screen = open(&sandbox, Wire::Chat);
    screen.keys("go<enter>");
    screen.wait_for("streaming");
    screen.keys("typed meanwhile");
    screen.wait_for("typed meanwhile");
    server.wait_gate("on");
    screen.keys("<esc>");
    screen.wait_gone("Esc stops");
    screen.keys("<c-c>");
    screen.wait_gone("typed meanwhile");
    screen.keys("<c-c>");
    screen.wait_for("again to exit");
    screen.keys("<c-c>");
    assert_eq!(screen.wait_exit().code, 0);
    assert_eq!(screen.leftovers(), Vec::<String>::new());
}
