//! The main job in the full screen: a prompt, streamed text, three parallel tools, an edit with its
//! diff, a command and an answer. Steering and follow-ups arrive on the way.

use std::fmt::Write;

use serde_json::json;

use crate::support::job;
use crate::support::model_server::{Reply, Wire};
use crate::support::sandbox::Sandbox;
use crate::support::screen::{Launch, Screen};

/// Starts tiller and waits until it takes a prompt.
pub fn open(sandbox: &Sandbox, wire: Wire) -> Screen {
    let screen = Launch::new(sandbox)
        .args(&["-m", wire.model()])
        .size(100, 40)
        .start();
    screen.wait_for("─ runs everything");
    screen
}

/// Exits with the keys and checks that nothing is left.
pub fn leave(screen: &Screen) {
    // During a run Ctrl+D asks first. With vim keys another key stops the run.
    screen.wait_until("the end of the run", |view| {
        !view.contains("Esc stops") && !view.contains("Ctrl+C stops")
    });
    screen.keys("<c-d>");
    assert_eq!(screen.wait_exit().code, 0);
    assert_eq!(screen.leftovers(), Vec::<String>::new());
}

#[test]
fn a_prompt_leads_to_a_finished_edit() {
    for wire in Wire::ALL {
        let (server, sandbox) = job::stage();
        let screen = open(&sandbox, wire);
        screen.keys(job::PROMPT);
        screen.wait_for(job::PROMPT);
        assert!(server.requests().is_empty(), "nothing is sent before Enter");
        screen.keys("<enter>");
        screen.wait_for("I look around first: größe 日本 🦀.");
        // The screen shows the diff with line numbers; the request has the short text.
        screen.wait_until("the diff", |view| {
            let lines = view.lines();
            let has = |sign: &str, text: &str| {
                lines
                    .iter()
                    .any(|line| line.contains(sign) && line.contains(text))
            };
            has("2 −", "a - b") && has("2 +", "a + b")
        });
        screen.wait_for("tested");
        // Markdown is rendered, so the stars are gone.
        screen.wait_for("Repaired: it adds now.");
        screen.wait_gone("Esc stops");
        assert_eq!(sandbox.read("src/math.rs"), job::AFTER);
        let sent = server.request(2);
        assert!(sent.results()[3].starts_with("Successfully edited"));
        assert!(!sent.text().contains("+ 2"), "{}", sent.text());
        let bold = screen.look(|view| view.style_of("adds now")).unwrap();
        assert!(bold.bold, "{bold:?}");
        leave(&screen);
    }
}

/// Steering during the first tool skips the rest; the follow-up waits for the end.
#[test]
fn steering_skips_calls_and_a_follow_up_waits_for_the_end() {
    for wire in Wire::ALL {
        let (server, sandbox) = job::stage_with(vec![
            Reply::text("Three steps.")
                .and_call(
                    "bash",
                    json!({"command": "until [ -e go ]; do sleep 0.02; done; echo one"}),
                )
                .and_call("bash", json!({"command": "touch second"}))
                .and_call("bash", json!({"command": "touch third"})),
            Reply::text("Steered."),
            Reply::text("Followed up."),
        ]);
        let screen = open(&sandbox, wire);
        screen.keys("go<enter>");
        screen.wait_for("● bash  until [ -e go ]");
        screen.keys("use the other way<enter>");
        screen.keys("then the changelog<a-enter>");
        // Both are visible, each with its kind, while they are queued.
        screen.wait_until("both in the queue strip", |view| {
            let line = |text: &str| view.line_with(text).unwrap_or_default();
            line("use the other way").contains("steer")
                && line("then the changelog").contains("then")
        });
        assert_eq!(server.requests().len(), 1);
        sandbox.write("go", "");
        screen.wait_for("Followed up.");
        screen.wait_gone("Esc stops");

        let second = server.request(1);
        let results = second.results();
        assert!(results[0].contains("one"), "{results:?}");
        assert_eq!(results[1..], ["Skipped due to user message."; 2]);
        assert_eq!(second.last_user(), "use the other way");
        let third = server.request(2);
        assert_eq!(third.last_user(), "then the changelog");
        assert!(!sandbox.path().join("second").exists());
        assert!(!sandbox.path().join("third").exists());
        // The title of each skipped call says so.
        screen.wait_until("the skipped calls", |view| {
            let lines = view.lines();
            ["touch second", "touch third"].iter().all(|call| {
                let mut lines = lines.iter();
                lines.any(|line| line.contains(call) && line.contains("skipped"))
            })
        });
        leave(&screen);
    }
}

/// A message typed while text streams is in the very next request.
#[test]
fn steering_while_text_streams_is_in_the_next_request() {
    let (server, sandbox) = job::stage_with(vec![
        Reply::text("I write").gate("text").say(" on."),
        Reply::text("Read it."),
    ]);
    let screen = open(&sandbox, Wire::Anthropic);
    screen.keys("go<enter>");
    screen.wait_for("I write");
    screen.keys("one more thing<enter>");
    screen.wait_for("steer");
    server.release("text");
    screen.wait_for("Read it.");
    assert_eq!(server.request(1).last_user(), "one more thing");
    leave(&screen);
}

/// A long paste is one block in the editor and complete in the request.
#[test]
fn a_long_paste_is_sent_in_full() {
    let (server, sandbox) = job::stage_with(vec![Reply::text("Got it.")]);
    let screen = open(&sandbox, Wire::Chat);
    let mut paste = String::new();
    for line in 0..3_000 {
        let _ = writeln!(paste, "line {line} äöü");
    }
    screen.paste(&paste);
    screen.wait_for("[paste #1");
    screen.keys(" thanks<enter>");
    screen.wait_for("Got it.");
    let user = server.request(0).last_user();
    assert!(user.contains(paste.trim_end()), "{} bytes", user.len());
    assert!(user.ends_with("thanks"));
    leave(&screen);
}

/// 1 MB of Markdown, split at arbitrary bytes, arrives whole, and typing stays responsive.
#[test]
fn a_megabyte_of_markdown_arrives_whole() {
    let mut text = String::new();
    let mut section = 0;
    while text.len() < 1_000_000 {
        section += 1;
        let _ = write!(
            text,
            "## Größe {section}\n\nA paragraph with **bold**, `code` and 日本語 🦀.\n\n\
             - one\n- two\n\n```rust\nfn f{section}() {{ println!(\"ä\"); }}\n```\n\n\
             | a | b |\n| --- | --- |\n| {section} | x |\n\n"
        );
    }
    text.push_str("The very last words.");
    let (server, sandbox) = job::stage_with(vec![
        Reply::new()
            .say_slowly(&text, 997, 0)
            .gate("keys")
            .say(" Indeed.")
            .in_pieces_of(4_099),
    ]);
    let screen = open(&sandbox, Wire::Anthropic);
    screen.keys("go<enter>");
    server.request(0);
    screen.keys("typed meanwhile");
    screen.wait_for("typed meanwhile");
    screen.wait_for("The very last words.");
    server.release("keys");
    screen.wait_for("The very last words. Indeed.");
    screen.wait_gone("Esc stops");
    let stored = sandbox.session_messages();
    assert_eq!(stored[1]["content"][0]["text"], format!("{text} Indeed."));
    screen.keys("<c-c>");
    screen.wait_gone("typed meanwhile");
    leave(&screen);
}

/// A queued message can be taken back and sent in another form.
#[test]
fn queued_messages_can_be_taken_back() {
    let (server, sandbox) = job::stage_with(vec![
        Reply::text("I write").gate("text"),
        Reply::text("Corrected."),
    ]);
    let screen = open(&sandbox, Wire::Chat);
    screen.keys("go<enter>");
    screen.wait_for("I write");
    screen.keys("wrogn<enter>");
    screen.wait_until("it waits", |view| {
        view.line_with("wrogn")
            .is_some_and(|line| line.contains("steer"))
    });
    screen.keys("<a-up>");
    screen.wait_until("it is back in the editor", |view| {
        view.line_with("wrogn")
            .is_some_and(|line| line.contains('│'))
    });
    screen.keys("<backspace><backspace>ng<enter>");
    screen.wait_until("it waits again", |view| {
        view.line_with("wrong")
            .is_some_and(|line| line.contains("steer"))
    });
    server.release("text");
    screen.wait_for("Corrected.");
    assert_eq!(server.request(1).last_user(), "wrong");
    leave(&screen);
}
