//! The full screen while the disk fails. The conversation continues, one notice tells the user, and
//! pending entries are written in order later.

use std::fs;

use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde_json::Value;

use super::e2e_job::{leave, open};
use crate::support::job;
use crate::support::model_server::{Reply, Wire};
use crate::support::sandbox::Sandbox;
use crate::support::screen::Screen;

const FAILED: &str = "Can't save the session to";
const SAVED: &str = "Saving works again";

/// Limits the size of every file of the program, as a full disk would. `None` lifts the limit.
fn limit_files(screen: &Screen, bytes: Option<u64>) {
    let pid = Pid::from_raw(screen.pid());
    let limit = Rlimit {
        current: bytes,
        maximum: None,
    };
    prlimit(pid, Resource::Fsize, limit).unwrap();
}

/// The beginnings of the messages in the session file.
fn said(sandbox: &Sandbox) -> Vec<String> {
    let texts = sandbox.session_messages().into_iter().map(|message| {
        let text = message["content"][0]["text"].as_str().unwrap().to_owned();
        text.chars().take(20).collect()
    });
    texts.collect()
}

/// How often the transcript contains `text`.
fn count(screen: &Screen, text: &str) -> usize {
    // The screen wraps lines, so `text` is only the start of one.
    screen.text().matches(text).count()
}

#[test]
fn a_full_disk_loses_nothing_and_shows_one_notice() {
    let long = format!("A long answer. {}", "word ".repeat(8000));
    let mut replies = vec![Reply::text("One.")];
    replies.extend(["Two.", "Three.", "Four."].map(Reply::text));
    replies.insert(1, Reply::text(&long));
    let (server, sandbox) = job::stage_with(replies);
    let screen = open(&sandbox, Wire::Anthropic);
    screen.keys("first<enter>");
    screen.wait_for("One.");
    screen.wait_gone("Esc stops");
    let size = fs::metadata(&sandbox.session_files()[0]).unwrap().len();
    // The next prompt fits on the disk, but its answer doesn't.
    limit_files(&screen, Some(size + 2000));
    screen.keys("second<enter>");
    screen.wait_for(FAILED);
    screen.wait_gone("Esc stops");
    screen.keys("third<enter>");
    screen.wait_for("Two.");
    screen.wait_gone("Esc stops");
    assert_eq!(count(&screen, FAILED), 1, "{}", screen.text());
    // The file holds whole entries only, and the request has the unwritten ones.
    assert_eq!(said(&sandbox), ["first", "One.", "second"]);
    let text = fs::read(&sandbox.session_files()[0]).unwrap();
    assert_eq!(text.last(), Some(&b'\n'), "a partial line was removed");
    assert!(server.request(2).text().contains("A long answer."));

    limit_files(&screen, None);
    screen.keys("fourth<enter>");
    screen.wait_for("Three.");
    screen.wait_for(SAVED);
    leave(&screen);
    assert_eq!(
        said(&sandbox),
        [
            "first",
            "One.",
            "second",
            &long[..20],
            "third",
            "Two.",
            "fourth",
            "Three."
        ]
    );
    let entries: Vec<Value> = sandbox.session();
    for pair in entries[1..].windows(2) {
        assert_eq!(
            pair[1]["parentId"], pair[0]["id"],
            "the entries form one chain"
        );
    }
}

#[test]
fn a_deleted_sessions_folder_is_created_again() {
    let replies = ["One.", "Two.", "Three."].map(Reply::text).to_vec();
    let (_server, sandbox) = job::stage_with(replies);
    let screen = open(&sandbox, Wire::Chat);
    screen.keys("first<enter>");
    screen.wait_for("One.");
    screen.wait_gone("Esc stops");
    let sessions = sandbox.data().join("sessions");
    fs::remove_dir_all(&sessions).unwrap();
    screen.keys("second<enter>");
    screen.wait_for("Two.");
    screen.wait_gone("Esc stops");
    assert_eq!(
        said(&sandbox),
        ["first", "One.", "second", "Two."],
        "written again"
    );
    // This time a file is in the way.
    fs::remove_dir_all(&sessions).unwrap();
    fs::write(&sessions, "").unwrap();
    screen.keys("third<enter>");
    screen.wait_for("Three.");
    screen.wait_for(FAILED);
    screen.wait_gone("Esc stops");
    fs::remove_file(&sessions).unwrap();
    // Pending entries are written at the exit at the latest.
    leave(&screen);
    assert_eq!(
        said(&sandbox),
        ["first", "One.", "second", "Two.", "third", "Three."]
    );
}
