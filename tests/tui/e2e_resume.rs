//! Resuming sessions in the full screen: with the command shown at the exit, from the list, and
//! after a kill during an answer.

use nix::sys::signal::Signal;

use super::e2e_job::{leave, open};
use crate::support::job;
use crate::support::model_server::{Reply, Wire};
use crate::support::sandbox::Sandbox;
use crate::support::screen::{Launch, Screen};

fn open_with(sandbox: &Sandbox, args: &[&str]) -> Screen {
    let screen = Launch::new(sandbox).args(args).size(100, 40).start();
    screen.wait_for("─ runs everything");
    screen
}

#[test]
fn the_exit_names_the_command_that_resumes() {
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

    // A new session, and back to the previous one with the list.
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

#[test]
fn a_session_killed_during_an_answer_can_be_resumed() {
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
            "only complete messages are stored"
        );
        leave(&screen);
    }
}

#[test]
fn viewing_another_session_does_not_change_its_file() {
    let (server, sandbox) = job::stage_with(["One.", "Two.", "Three."].map(Reply::text).to_vec());
    let (anthropic, chat) = (Wire::Anthropic.model(), Wire::Chat.model());
    let first = ["-p", "-m", anthropic, "--thinking", "low", "first"];
    assert_eq!(sandbox.run(&first).code, Some(0));
    let file = sandbox.session_files()[0].clone();
    let before = std::fs::read(&file).unwrap();
    let screen = open_with(&sandbox, &["-m", chat, "--thinking", "high"]);
    screen.keys("/resume<enter>");
    screen.wait_for("❯ first");
    screen.keys("<enter>");
    screen.wait_for("One.");
    // The session shows its own model, thinking level and title. Nothing is written.
    let id = anthropic.rsplit('/').next().unwrap();
    screen.wait_until("the session in the status line", |view| {
        let line = view.lines().pop().unwrap();
        line.contains(id) && line.contains("low") && line.contains("\"first\"")
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
    // A new session uses that model too, and says so.
    screen.keys("/new<enter>");
    screen.wait_gone("Two.");
    screen.keys("third<enter>");
    screen.wait_for("Three.");
    leave(&screen);
    let files = sandbox.session_files();
    let new = files.iter().find(|path| **path != file).unwrap();
    let text = std::fs::read_to_string(new).unwrap();
    assert!(text.contains("\"model_change\"") && text.contains("\"thinkingLevel\":\"low\""));
    // From now on the exit names the session, and the status line shows its name.
    let screen = open_with(&sandbox, &["--session", new.to_str().unwrap()]);
    screen.wait_until("its title", |view| {
        view.lines().pop().unwrap().contains("\"third\"")
    });
    leave(&screen);
}

fn said(sandbox: &Sandbox, prompt: &str) -> std::path::PathBuf {
    let before = sandbox.session_files();
    let ran = sandbox.run(&["-p", "-m", Wire::Anthropic.model(), prompt]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let after = sandbox.session_files().into_iter();
    after
        .into_iter()
        .find(|file| !before.contains(file))
        .unwrap()
}

#[test]
fn a_session_open_elsewhere_can_be_read_copied_or_awaited() {
    let replies = ["One.", "Two.", "Three.", "Four."].map(Reply::text);
    let (_server, sandbox) = job::stage_with(replies.to_vec());
    let file = said(&sandbox, "first");
    let first = open_with(&sandbox, &["-c"]);
    first.wait_for("One.");
    // Without a screen the error names the flags.
    let ran = sandbox.run(&["-p", "-c", "second"]);
    assert_eq!(ran.code, Some(1));
    for flag in ["--wait", "--fork", "--read-only"] {
        assert!(ran.stderr.contains(flag), "{}", ran.stderr);
    }
    let before = std::fs::read(&file).unwrap();
    let second = open_with(&sandbox, &["-c", "kept"]);
    second.wait_for("“first”: another tiller has it open (process");
    second.wait_for("Esc cancel");
    second.keys("<down><down>");
    second.wait_for("Enter confirm");
    second.keys("<enter>");
    second.wait_for("❯ first");
    second.wait_for("─ read-only ─");
    // The prompt from the command line waits in the editor.
    second.wait_for("│ kept");
    second.keys("<enter>");
    second.wait_for("Continue in a copy");
    second.wait_for("Esc cancel");
    second.keys("<down>");
    second.wait_for("Enter confirm");
    second.keys("<enter>");
    second.wait_gone("─ read-only ─");
    second.wait_for("│ kept");
    second.keys("<enter>");
    second.wait_for("Two.");
    leave(&second);
    assert_eq!(std::fs::read(&file).unwrap(), before);
    assert_eq!(sandbox.session_files().len(), 2);
    // The user waits for it, then continues it.
    let path = file.to_str().unwrap();
    let third = open_with(&sandbox, &["--session", path]);
    third.wait_for("“first”: another tiller has it open (process");
    third.wait_for("Esc cancel");
    third.keys("<up>");
    third.wait_for("Enter confirm");
    third.keys("<enter>");
    third.wait_for("Waiting for the other tiller");
    leave(&first);
    third.wait_for("❯ first");
    third.keys("third<enter>");
    third.wait_for("Three.");
    leave(&third);
    assert!(std::fs::read_to_string(&file).unwrap().contains("third"));
    let read = Launch::new(&sandbox).args(&["--session", path, "--read-only"]);
    let read = read.start();
    read.wait_for("─ read-only ─");
    leave(&read);
    let ran = sandbox.run(&["-p", "-c", "--wait", "fourth"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
}

#[test]
fn a_session_whose_folder_is_gone_asks_how_to_continue() {
    let (_server, sandbox) = job::stage_with(["One.", "Two."].map(Reply::text).to_vec());
    let folder = sandbox.path().parent().unwrap().join("other");
    std::fs::create_dir(&folder).unwrap();
    let model = Wire::Anthropic.model();
    let there = ["-p", "-m", model, "-C", folder.to_str().unwrap(), "first"];
    assert_eq!(sandbox.run(&there).code, Some(0));
    let file = sandbox.session_files()[0].clone();
    let path = file.to_str().unwrap();
    // While the folder exists, the session continues there, also from the list.
    let screen = open_with(&sandbox, &[]);
    screen.keys("/resume<enter>");
    screen.wait_for("No other sessions in this folder");
    screen.keys("<tab>");
    screen.wait_until("the session with its folder", |view| {
        let line = view.line_with("first");
        line.is_some_and(|line| line.contains("/other"))
    });
    screen.keys("<enter>");
    screen.wait_for("works in");
    screen.wait_for("Esc cancel");
    screen.keys("<down>");
    screen.wait_for("Enter confirm");
    screen.keys("<enter>");
    screen.wait_for("One.");
    screen.wait_until("its folder", |view| {
        view.lines().pop().unwrap().contains("other")
    });
    leave(&screen);
    std::fs::remove_dir(&folder).unwrap();
    let ran = sandbox.run(&["-p", "--session", path, "second"]);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    assert!(
        ran.stderr.contains("gone") && ran.stderr.contains("--fork"),
        "{}",
        ran.stderr
    );
    let screen = open_with(&sandbox, &["--session", path]);
    screen.wait_for("“first”: its folder is gone");
    screen.wait_for("Esc cancel");
    screen.keys("<down>");
    screen.wait_for("Enter confirm");
    screen.keys("<enter>");
    screen.wait_for("One.");
    screen.keys("second<enter>");
    screen.wait_for("Two.");
    leave(&screen);
    assert_eq!(sandbox.session_files().len(), 2);
}

#[test]
fn a_hostile_session_name_is_made_harmless() {
    let (_server, sandbox) = job::stage_with(vec![Reply::text("One."), Reply::text("Two.")]);
    let model = Wire::Anthropic.model();
    for prompt in ["first", "second"] {
        assert_eq!(sandbox.run(&["-p", "-m", model, prompt]).code, Some(0));
    }
    let files = sandbox.session_files();
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        let last: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        let name = serde_json::json!({
            "type": "session_info", "id": "name0001", "parentId": last["id"], "timestamp": "T",
            "name": "named \u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m",
        });
        std::fs::write(file, format!("{text}{name}\n")).unwrap();
    }
    let screen = open_with(&sandbox, &["--session", files[0].to_str().unwrap()]);
    screen.keys("/resume<enter>");
    screen.wait_for("named ␛]0;owned␇");
    screen.keys("<enter>");
    screen.wait_for("❯");
    let raw = screen.raw();
    let owned = b"\x1b]0;owned";
    assert!(!raw.windows(owned.len()).any(|it| it == owned));
}

#[test]
fn a_branch_and_a_file_become_separate_sessions() {
    let replies = ["One.", "Two.", "Three.", "Four."].map(Reply::text);
    let (server, sandbox) = job::stage_with(replies.to_vec());
    let file = said(&sandbox, "first");
    let one = std::fs::read_to_string(&file).unwrap();
    let answer = one.lines().last().unwrap();
    let answer: serde_json::Value = serde_json::from_str(answer).unwrap();
    let ran = sandbox.run(&["-p", "-c", "second"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    // The session's current branch is another one.
    let at = answer["id"].as_str().unwrap();
    let screen = open_with(&sandbox, &["-c", "--at", at]);
    screen.keys("/name Two ways<enter>");
    screen.keys("third<enter>");
    screen.wait_for("Three.");
    screen.wait_gone("Esc stops");
    let before = std::fs::read(&file).unwrap();
    screen.keys("/clone<enter>");
    screen.wait_until("the copy", |_| sandbox.session_files().len() == 2);
    screen.keys("fourth<enter>");
    screen.wait_for("Four.");
    screen.wait_gone("Esc stops");
    let request = server.request(3).text();
    assert!(
        request.contains("Three.") && !request.contains("Two."),
        "{request}"
    );
    assert_eq!(
        std::fs::read(&file).unwrap(),
        before,
        "the original file is unchanged"
    );
    screen.keys("/session<enter>");
    screen.wait_for("name      Two ways");
    screen.wait_for("copy of");
    screen.wait_for("3 prompts · 3 answers");
    screen.keys("<esc>");
    leave(&screen);
    assert_eq!(sandbox.session_files().len(), 2);
}

// Typing stays responsive during a search through 10,000 sessions.
#[test]
fn ten_thousand_sessions_are_listed_and_searched() {
    let (_server, sandbox) = job::stage_with(Vec::new());
    let cwd = sandbox.path().display().to_string();
    let name = format!("--{}--", cwd.trim_start_matches('/').replace('/', "-"));
    let folder = sandbox.data().join("sessions").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    for at in 0..10_000 {
        let header = serde_json::json!({"type": "session", "version": 3, "id": format!("id{at}"), "timestamp": "T", "cwd": cwd});
        let message = serde_json::json!({"role": "user", "content": format!("Task {at}\nwith needle{at}"), "timestamp": 1});
        let entry = serde_json::json!({"type": "message", "id": "a", "parentId": null, "timestamp": "T", "message": message});
        let file = folder.join(format!("2026-01-01T00-00-00-{at:05}Z_id{at}.jsonl"));
        std::fs::write(file, format!("{header}\n{entry}\n")).unwrap();
    }
    let screen = open_with(&sandbox, &["-r", "-m", Wire::Anthropic.model()]);
    screen.wait_for("10000");
    screen.keys("needle4321");
    screen.wait_for("with needle4321");
    screen.keys("<c-u>task 77 7");
    screen.wait_for("523 of 10000");
    screen.keys("<enter>");
    screen.wait_for("❯ Task 9977");
    screen.wait_gone("─ Sessions ");
    leave(&screen);
}

// The first screen offers the last session. Once it is open, the summary of its runs is below them.
#[test]
fn enter_on_the_first_screen_resumes_the_last_session() {
    let (server, sandbox) = job::stage();
    let screen = open(&sandbox, Wire::Anthropic);
    assert!(
        !screen.text().contains("Enter continue"),
        "{}",
        screen.text()
    );
    screen.keys("Repair the addition<enter>");
    screen.wait_for("Repaired");
    screen.wait_for("5 calls · 1 file +1 −1");
    leave(&screen);

    let screen = open(&sandbox, Wire::Anthropic);
    screen.wait_for("ago   \"Repair the addition\"   Enter continue");
    screen.keys("<enter>");
    screen.wait_for("❯ Repair the addition");
    screen.wait_for("5 calls · 1 file +1 −1");
    assert_eq!(server.requests().len(), 4, "opening sends no request");
    leave(&screen);

    // A command keeps the offer and creates no session.
    let screen = open(&sandbox, Wire::Anthropic);
    screen.wait_for("Enter continue");
    screen.keys("/stats<enter>");
    screen.wait_for("model calls");
    screen.keys("<esc>");
    screen.wait_for("Enter continue");
    leave(&screen);
    assert_eq!(sandbox.session_files().len(), 1);
}

/// The notice of the first screen also shows in a resumed session.
#[test]
fn a_session_without_a_key_says_so_before_anything_is_sent() {
    let (_server, sandbox) = job::stage_with(vec![Reply::text("One.")]);
    let screen = open(&sandbox, Wire::Anthropic);
    screen.keys("first<enter>");
    screen.wait_for("One.");
    leave(&screen);
    let screen = Launch::new(&sandbox)
        .args(&["-c"])
        .env("ANTHROPIC_API_KEY", "")
        .start();
    screen.wait_for("No key for anthropic yet");
    screen.wait_for("/login anthropic");
    leave(&screen);
}
