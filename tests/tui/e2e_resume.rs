//! Sessions go on in the full screen: by the command that the end names, from the list, and after
//! the program was killed in the middle of an answer.

use nix::sys::signal::Signal;

use super::e2e_job::{leave, open};
use crate::support::job;
use crate::support::model_server::{Reply, Wire};
use crate::support::sandbox::Sandbox;
use crate::support::screen::{Launch, Screen};

fn open_with(sandbox: &Sandbox, args: &[&str]) -> Screen {
    let screen = Launch::new(sandbox).args(args).size(100, 40).start();
    screen.wait_for("─ full");
    screen
}

#[test]
fn the_end_names_the_command_that_goes_on() {
    let (server, sandbox) = job::stage_with(["One.", "Two.", "Three."].map(Reply::text).to_vec());
    let screen = open(&sandbox, Wire::Anthropic);
    screen.keys("first<enter>");
    screen.wait_for("One.");
    leave(&screen);
    let text = screen.text();
    let command = text
        .lines()
        .find_map(|line| line.split_once("resume   tiller "));
    let (_, command) = command.expect("the command");
    let args: Vec<&str> = command.split_whitespace().collect();

    let screen = open_with(&sandbox, &args);
    screen.wait_for("❯ first");
    screen.wait_for("One.");
    screen.keys("second<enter>");
    screen.wait_for("Two.");
    assert!(server.request(1).text().contains("One."));

    // A new one, and back to the one before by the list.
    screen.wait_gone("Esc stops");
    screen.keys("/new<enter>");
    screen.wait_gone("One.");
    screen.keys("third<enter>");
    screen.wait_for("Three.");
    assert!(!server.request(2).text().contains("One."));
    screen.wait_gone("Esc stops");
    screen.keys("/resume<enter>");
    screen.wait_for("first");
    screen.keys("<enter>");
    screen.wait_for("❯ second");
    screen.wait_gone("Three.");
    assert_eq!(sandbox.session_files().len(), 2);
    leave(&screen);
}

// L4, H6
#[test]
fn a_session_killed_in_the_middle_of_an_answer_goes_on() {
    for wire in Wire::ALL {
        let half = Reply::text("Half an answer").stall();
        let (server, sandbox) =
            job::stage_with(vec![Reply::text("One."), half, Reply::text("Two.")]);
        let screen = open(&sandbox, wire);
        screen.keys("first<enter>");
        screen.wait_for("One.");
        screen.wait_gone("Esc stops");
        screen.keys("second<enter>");
        screen.wait_for("Half an answer");
        screen.signal(Signal::SIGKILL);
        screen.wait_dead();
        let screen = open_with(&sandbox, &["-c"]);
        screen.wait_for("❯ second");
        screen.keys("third<enter>");
        screen.wait_for("Two.");
        let text = server.request(2).text();
        for said in ["first", "One.", "second", "third"] {
            assert!(text.contains(said), "{wire:?} {said}: {text}");
        }
        assert!(
            !text.contains("Half an answer"),
            "only what was whole is stored"
        );
        leave(&screen);
    }
}

#[test]
fn looking_at_another_session_leaves_its_file_as_it_is() {
    let (server, sandbox) = job::stage_with(["One.", "Two.", "Three."].map(Reply::text).to_vec());
    let (anthropic, chat) = (Wire::Anthropic.model(), Wire::Chat.model());
    let first = ["-p", "-m", anthropic, "--thinking", "low", "first"];
    assert_eq!(sandbox.run(&first).code, Some(0));
    let file = sandbox.session_files()[0].clone();
    let before = std::fs::read(&file).unwrap();
    let screen = open_with(&sandbox, &["-m", chat, "--thinking", "high"]);
    screen.keys("/resume<enter>");
    screen.wait_for("first");
    screen.keys("<enter>");
    screen.wait_for("One.");
    // Its own model and level, its title, and nothing is written.
    let id = anthropic.rsplit('/').next().unwrap();
    screen.wait_until("the session in the status line", |view| {
        let line = view.lines().pop().unwrap();
        line.contains(id) && line.contains("low") && line.contains("first")
    });
    assert_eq!(std::fs::read(&file).unwrap(), before);
    screen.keys("second<enter>");
    screen.wait_for("Two.");
    assert_eq!(
        server.request(1).body["model"],
        server.request(0).body["model"]
    );
    screen.wait_gone("Esc stops");
    let after = std::fs::read_to_string(&file).unwrap();
    assert_eq!(after.matches("model_change").count(), 1);
    // A new one goes on with that model, and says so.
    screen.keys("/new<enter>");
    screen.wait_gone("Two.");
    screen.keys("third<enter>");
    screen.wait_for("Three.");
    leave(&screen);
    let files = sandbox.session_files();
    let new = files.iter().find(|path| **path != file).unwrap();
    let text = std::fs::read_to_string(new).unwrap();
    assert!(text.contains("\"model_change\"") && text.contains("\"thinkingLevel\":\"low\""));
    // The end names it from the start, and its name is in the status line.
    let screen = open_with(&sandbox, &["--session", new.to_str().unwrap()]);
    screen.wait_until("its title", |view| {
        view.lines().pop().unwrap().contains("third")
    });
    leave(&screen);
}
