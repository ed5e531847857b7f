//! Presses every key in docs/src/reference/keys.md in the real program and checks the screen. Each
//! key is sent in every encoding that terminals have for it.

mod encode;
mod rows;

use serde_json::json;
use tiller::app::action::{Action, actions};
use tiller::app::tui::keymap::Keymap;

use self::encode::{Encoding, bytes};
use self::rows::Row;
use crate::support::job;
use crate::support::model_server::{ModelServer, Reply, Wire};
use crate::support::sandbox::Sandbox;
use crate::support::screen::{Launch, Screen, Terminal, View};

const ALL: [(Encoding, Terminal); 3] = [
    (Encoding::Legacy, Terminal::Silent),
    (Encoding::OtherKeys, Terminal::Xterm),
    (Encoding::Kitty, Terminal::Kitty),
];

/// The keys of an action that this terminal can send.
fn presses(action: Action, encoding: Encoding) -> Vec<(String, Vec<u8>)> {
    let keymap = Keymap::default();
    let chords = keymap.keys(action);
    let all = chords.filter_map(|chord| {
        let keys = chord.keys().iter().map(|key| bytes(*key, encoding));
        let bytes: Option<Vec<Vec<u8>>> = keys.collect();
        Some((format!("{chord:?}"), bytes?.concat()))
    });
    all.collect()
}

fn stage(replies: Vec<Reply>) -> (ModelServer, Sandbox) {
    let (server, mut sandbox) = job::stage_with(replies);
    let editor = sandbox.path().join("editor.sh");
    std::fs::write(&editor, "echo 'from the editor' > \"$1\"\n").unwrap();
    sandbox.set("EDITOR", &format!("sh {}", editor.display()));
    let config = "[models]\nlocal = false\nfavorites = [\"anthropic/claude-sonnet-5-5\", \"anthropic/claude-haiku-5-5\"]\n";
    std::fs::write(sandbox.config().join("config.toml"), config).unwrap();
    (server, sandbox)
}

fn open(sandbox: &Sandbox, terminal: Terminal, mode: &str) -> Screen {
    let screen = Launch::new(sandbox)
        .args(&["-m", Wire::Anthropic.model(), "--permission", mode])
        .terminal(terminal)
        .size(100, 30)
        .start();
    screen.wait_for("│ Ask for anything");
    screen
}

/// Types keys and waits for the texts in braces. After Esc it waits until tiller has read it, or
/// the next key would be Alt.
fn keys(screen: &Screen, keys: &str) {
    for piece in keys.split_inclusive(['}', '>']) {
        let (typed, awaited) = piece.split_once('{').unwrap_or((piece, ""));
        let before = screen.text();
        screen.keys(typed);
        if typed.ends_with("<esc>") {
            screen.wait_until("Esc to be read", |view| view.text() != before);
        }
        if let Some(text) = awaited.strip_suffix('}') {
            screen.wait_for(text);
        }
    }
}

/// Presses every key of a row that the terminal can send.
fn press(screen: &Screen, row: &Row, encoding: Encoding, begin: impl Fn(), end: impl Fn()) {
    for (key, bytes) in presses(row.action, encoding) {
        let what = |what: &str| {
            format!(
                "{what} of {} ({key}) in {encoding:?}",
                row.action.spec().name
            )
        };
        begin();
        keys(screen, row.before);
        let is_seen = |view: &View<'_>| {
            view.contains(row.shows) && (row.hides.is_empty() || !view.contains(row.hides))
        };
        // A command still in the editor has not run, even if it contains the expected words.
        let is_typed = |text: &str| {
            let editor = text.lines().rev().take_while(|line| !line.starts_with('╭'));
            editor.last().is_some_and(|line| line.starts_with("│ /"))
        };
        let has_run = |view: &View<'_>| !row.before.contains("<enter>") || !is_typed(&view.text());
        let is_ready =
            |view: &View<'_>| (has_run(view) && view.contains(row.ready)).then(|| is_seen(view));
        let seen = screen.wait_map(&what("the start"), is_ready);
        assert!(!seen, "{}", what("the effect before the key"));
        screen.send(&bytes);
        if !row.then.is_empty() {
            keys(screen, row.then);
        }
        screen.wait_until(&what("the effect"), is_seen);
        keys(screen, row.after);
        end();
    }
}

#[test]
fn every_action_with_a_key_is_tried() {
    let keymap = Keymap::default();
    let rows = [rows::IDLE, rows::RUNNING].concat();
    for spec in actions() {
        let has_key = keymap.keys(spec.action).next().is_some();
        let is_tried = rows.iter().any(|row| row.action == spec.action);
        assert_eq!(has_key, is_tried, "{}", spec.name);
    }
}

#[test]
fn keys_work_while_idle() {
    let lines: Vec<String> = (1..=90).map(|line| format!("line {line}")).collect();
    for (encoding, terminal) in ALL {
        let (_server, sandbox) = stage(vec![
            Reply::text("Said elsewhen."),
            Reply::text("One to remove."),
            Reply::text("Another."),
            Reply::new()
                .think("Thought of it.")
                .and_call("bash", json!({"command": "seq 100 140"})),
            Reply::text("Done with the first."),
            Reply::text(lines.join("\n\n")),
        ]);
        for prompt in ["elsewhen", "one", "another"] {
            let ran = sandbox.run(&["-m", Wire::Anthropic.model(), "-p", prompt]);
            assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        }
        let screen = open(&sandbox, terminal, "full");
        for (prompt, answer) in [("first", "Done with the first."), ("second", "line 90")] {
            screen.keys(&format!("{prompt}<enter>"));
            screen.wait_for(answer);
            screen.wait_gone("Esc stops");
        }
        for row in rows::IDLE {
            let idle = || {
                screen.wait_until("the empty editor", |view| {
                    view.contains("│ Ask for anything") && view.text().matches('╭').count() == 1
                });
            };
            press(&screen, row, encoding, || {}, idle);
        }
        screen.keys("<c-d>");
        assert_eq!(screen.wait_exit().code, 0);
        assert_eq!(screen.leftovers(), Vec::<String>::new());
    }
}

#[test]
fn keys_work_during_a_run() {
    for (encoding, terminal) in ALL {
        let forever = || Reply::text("It goes on").gate("never");
        let (_server, sandbox) = stage((0..40).map(|_| forever()).collect());
        let screen = open(&sandbox, terminal, "full");
        for row in rows::RUNNING {
            let begin = || {
                screen.keys("/new<enter>");
                screen.wait_for("send, or steer a running task");
                screen.keys("go<enter>");
                screen.wait_until("the run", |view| {
                    view.contains("It goes on") && view.contains("Esc stops")
                });
            };
            let end = || {
                if screen.text().contains("Esc stops") {
                    screen.keys("<esc>");
                }
                screen.wait_gone("Esc stops");
                if !screen.text().contains("│ Ask for anything") {
                    screen.keys("<c-c>");
                }
                screen.wait_for("│ Ask for anything");
            };
            press(&screen, row, encoding, begin, end);
        }
    }
}
