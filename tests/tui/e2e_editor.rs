//! Mentioned files, the user's own commands and vim keys in the real program.

use super::e2e_job::{leave, open};
use crate::support::job;
use crate::support::model_server::{Reply, Wire};

#[test]
fn a_mentioned_file_and_a_commands_output_reach_the_model() {
    let (server, sandbox) = job::stage_with(vec![Reply::text("I see.")]);
    let screen = open(&sandbox, Wire::ALL[0]);
    screen.keys("!echo made by $((40 + 2))<enter>");
    screen.wait_for("made by 42");
    screen.wait_for("The model sees this output with your next message");
    screen.keys("look at @mathrs");
    screen.wait_for("src/math.rs");
    screen.keys("<tab>");
    screen.wait_for("look at @src/math.rs");
    screen.wait_gone("Files");
    screen.keys("now<enter>");
    screen.wait_for("I see.");
    screen.look(|view| {
        assert!(view.contains("look at @src/math.rs now"));
        assert!(
            !view.contains("<file") && !view.contains("<command"),
            "{}",
            view.text()
        );
    });
    let sent = server.request(0).body.to_string();
    for part in [
        "look at @src/math.rs now",
        "a - b",
        "made by 42",
        "echo made by",
    ] {
        assert!(sent.contains(part), "{part} in {sent}");
    }
    leave(&screen);
}

#[test]
fn esc_stops_a_command_and_its_children() {
    let (_server, sandbox) = job::stage_with(Vec::new());
    let screen = open(&sandbox, Wire::ALL[0]);
    screen.keys("!!echo begun; echo $$ > pid; sleep 600<enter>");
    let pid = sandbox.path().join("pid");
    screen.wait_until("it runs", |_| pid.exists());
    // The output shows while the command runs and stays afterwards.
    screen.wait_for("│ begun");
    screen.wait_for("Esc stops");
    screen.keys("<esc>");
    screen.wait_for("stopped");
    screen.look(|view| assert!(view.contains("│ begun"), "{}", view.text()));
    let pid = std::fs::read_to_string(pid).unwrap();
    let process = format!("/proc/{}", pid.trim());
    screen.wait_until("it is dead", |_| !std::path::Path::new(&process).exists());
    leave(&screen);
}

#[test]
fn a_message_after_a_mention_waits_for_its_file() {
    let (server, sandbox) = job::stage_with(vec![Reply::text("I see.").repeat()]);
    let screen = open(&sandbox, Wire::ALL[0]);
    screen.keys("look at @src/math.rs now<enter>and then this<enter>");
    screen.wait_for("I see.");
    // Both go with one request, or the second one with the next.
    let last = || server.requests().last().unwrap().body.to_string();
    screen.wait_until("both are sent", |_| last().contains("and then this"));
    let sent = last();
    let places = ["look at @src/math.rs", "a - b", "and then this"].map(|part| sent.find(part));
    assert!(
        places.is_sorted() && !places.contains(&None),
        "{places:?} in {sent}"
    );
    leave(&screen);
}

#[test]
fn vim_keys_are_a_setting_and_shape_the_cursor() {
    let (server, sandbox) = job::stage_with(vec![Reply::text("I see.")]);
    let file = sandbox.config().join("config.toml");
    let before = std::fs::read_to_string(&file).unwrap_or_default();
    std::fs::write(&file, before + "\n[ui]\nvim = true\n").unwrap();
    let screen = open(&sandbox, Wire::ALL[0]);
    screen.wait_for("· insert");
    screen.keys("one two three<esc>");
    screen.wait_for("· normal");
    screen.keys("0dwA!<enter>");
    screen.wait_for("I see.");
    assert!(
        server
            .request(0)
            .body
            .to_string()
            .contains("\"two three!\"")
    );
    screen.wait_for("· insert");
    let raw = String::from_utf8_lossy(&screen.raw()).into_owned();
    for shape in ["\u{1b}[6 q", "\u{1b}[2 q"] {
        assert!(raw.contains(shape), "{shape:?}");
    }
    leave(&screen);
    let raw = String::from_utf8_lossy(&screen.raw()).into_owned();
    assert!(
        raw.contains("\u{1b}[0 q"),
        "the terminal's own cursor is restored"
    );
}
