//! Resuming from the command line: the last session, a named one, a copy.

use std::fs;

use crate::support::job;
use crate::support::model_server::{Reply, Wire};

#[test]
fn a_resumed_session_keeps_its_messages_model_and_prefix() {
    for wire in Wire::ALL {
        let replies = ["One.", "Two.", "Three.", "Four."]
            .map(Reply::text)
            .to_vec();
        let (server, sandbox) = job::stage_with(replies);
        let first = ["-p", "-m", wire.model(), "--thinking", "low", "first"];
        assert_eq!(sandbox.run(&first).code, Some(0));
        let before = fs::read(&sandbox.session_files()[0]).unwrap();
        // Names neither the model nor the thinking level again.
        let ran = sandbox.run(&["-p", "-c", "second"]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        let after = fs::read(&sandbox.session_files()[0]).unwrap();
        assert!(
            after.starts_with(&before),
            "{wire:?}: the file must only grow"
        );
        let request = server.request(1);
        for text in ["first", "One.", "second"] {
            assert!(request.text().contains(text), "{wire:?} {text}");
        }
        assert_eq!(request.body["model"], server.request(0).body["model"]);
        let id = sandbox.session()[0]["id"].as_str().unwrap().to_owned();
        let ran = sandbox.run(&["-p", "--session", &id[..20], "third"]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        assert!(server.request(2).text().contains("Two."));
        let lines = sandbox.session();
        let of = |line: &&serde_json::Value| line["message"]["role"] == "assistant";
        let one = lines.iter().find(of).unwrap()["id"]
            .as_str()
            .unwrap()
            .to_owned();
        let ran = sandbox.run(&["-p", "-c", "--at", &one, "another second"]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        let text = server.request(3).text();
        assert!(text.contains("One.") && !text.contains("Two."), "{text}");
    }
}

#[test]
fn the_session_after_the_short_flag_goes_on_and_a_prompt_is_no_session() {
    let replies = ["One.", "Two.", "Three.", "Four."]
        .map(Reply::text)
        .to_vec();
    let (server, sandbox) = job::stage_with(replies);
    let model = Wire::Anthropic.model();
    let first = ["-p", "-m", model, "fix"];
    assert_eq!(sandbox.run(&first).code, Some(0));
    let id = sandbox.session()[0]["id"].as_str().unwrap().to_owned();
    let file = sandbox.session_files()[0].display().to_string();
    for (number, args) in [
        &["-p", "-r", &id[24..], "once more"][..],
        &["-p", &format!("--resume={file}"), "and again"],
        &["-p", "--resume=last", "at last"],
    ]
    .iter()
    .enumerate()
    {
        let ran = sandbox.run(args);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        assert!(server.request(number + 1).text().contains("One."));
    }
    let named = ["-p", "-r", "fi", "the bug"];
    let ran = sandbox.run(&named);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    assert!(ran.stderr.contains("no session has the id or name 'fi'"));
    let ran = sandbox.run(&["-p", "-r", "write", "tests"]);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    assert!(ran.stderr.contains("no session 'write'"), "{ran:#?}");
    // A list to choose from takes no prompt.
    let ran = sandbox.run(&["-r", "-p", "write tests"]);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    assert!(ran.stderr.contains("add the id of the session"), "{ran:#?}");
    assert_eq!(server.requests().len(), 4);
}

#[test]
fn a_fork_leaves_the_original_session_unchanged() {
    let wire = Wire::Anthropic;
    let (server, sandbox) = job::stage_with(vec![Reply::text("One."), Reply::text("Two.")]);
    assert_eq!(
        sandbox.run(&["-p", "-m", wire.model(), "first"]).code,
        Some(0)
    );
    let file = sandbox.session_files()[0].clone();
    let before = fs::read(&file).unwrap();
    let ran = sandbox.run(&["-p", "--fork", file.to_str().unwrap(), "second"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(server.request(1).text().contains("One."));
    assert_eq!(fs::read(&file).unwrap(), before);
    let files = fs::read_dir(file.parent().unwrap()).unwrap().flatten();
    let sessions = files.filter(|file| file.path().extension().is_some_and(|it| it == "jsonl"));
    assert_eq!(sessions.count(), 2);
}

#[test]
fn a_session_that_cannot_be_resumed_says_why_and_what_to_do() {
    let (_server, sandbox) = job::stage_with(Vec::new());
    let model = Wire::Anthropic.model();
    sandbox.write("notes.jsonl", "no session\n");
    sandbox.write("gone.jsonl", "{\"type\":\"session\",\"version\":3,\"id\":\"i\",\"timestamp\":\"T\",\"cwd\":\"/nowhere/at/all\"}\n");
    for (args, code, texts) in [
        (
            &["-c"][..],
            2,
            &["no session to resume in", "tiller sessions --all"][..],
        ),
        (
            &["--session", "nope"],
            2,
            &["no session 'nope'", "tiller sessions --all"],
        ),
        (
            &["--session", "./nope.jsonl"],
            2,
            &["no session file './nope.jsonl'"],
        ),
        (
            &["--session", "notes.jsonl"],
            1,
            &["notes.jsonl", "isn't a session file"],
        ),
        (
            &["--session", "gone.jsonl"],
            2,
            &["/nowhere/at/all", "--fork"],
        ),
        (&["--at", "x"], 2, &["--at needs a session", "--session"]),
        (&["--session", "x", "--no-session"], 2, &["--no-session"]),
    ] {
        let ran = sandbox.run(&[&["-p", "-m", model, "go"][..], args].concat());
        assert_eq!(ran.code, Some(code), "{args:?}: {ran:#?}");
        for text in texts {
            assert!(ran.stderr.contains(text), "{args:?}: {}", ran.stderr);
        }
    }
}

#[test]
fn unreadable_entries_are_reported_at_start() {
    let (_server, sandbox) = job::stage_with(vec![Reply::text("One."), Reply::text("Two.")]);
    let model = Wire::Anthropic.model();
    assert_eq!(sandbox.run(&["-p", "-m", model, "first"]).code, Some(0));
    let file = sandbox.session_files()[0].clone();
    let text = fs::read_to_string(&file).unwrap();
    let last: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    let broken = serde_json::json!({
        "type": "message", "id": "broken01", "parentId": last["id"], "timestamp": "T",
        "message": { "role": "user", "content": 5 },
    });
    fs::write(&file, format!("{text}{broken}\n")).unwrap();
    let ran = sandbox.run(&["-p", "-c", "second"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let told = "1 entry of the conversation can't be read";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
}

// The demo plays when there's no model. It must never write into a session.
#[test]
fn a_session_stays_unchanged_if_no_model_is_available() {
    let sandbox = job::sandbox();
    let header = serde_json::json!({
        "type": "session", "version": 3, "id": "i", "timestamp": "T", "cwd": sandbox.path(),
    });
    let model = serde_json::json!({
        "type": "model_change", "id": "a", "parentId": null, "timestamp": "T",
        "provider": "lab", "modelId": "gone",
    });
    let text = format!("{header}\n{model}\n");
    sandbox.write("it.jsonl", &text);
    for args in [
        &["--session", "it.jsonl"][..],
        &["--session", "it.jsonl", "-p", "go"],
    ] {
        let ran = sandbox.run(args);
        assert_eq!(ran.code, Some(1), "{args:?}: {ran:#?}");
        assert!(ran.stderr.contains("lab/gone"), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("-m"), "{args:?}: {}", ran.stderr);
        assert_eq!(sandbox.read("it.jsonl"), text, "{args:?}");
    }
    let ran = sandbox.run(&["--session", "it.jsonl", "--demo"]);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    assert_eq!(sandbox.read("it.jsonl"), text);
}

#[test]
fn continue_ignores_a_folder_with_a_similar_encoded_name() {
    let (server, sandbox) = job::stage_with(vec![Reply::text("One."), Reply::text("Two.")]);
    let model = Wire::Anthropic.model();
    sandbox.write("a/b/it", "");
    sandbox.write("a-b/it", "");
    let ran = sandbox.run(&["-C", "a/b", "-p", "-m", model, "in the first"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let ran = sandbox.run(&["-C", "a-b", "-p", "-c", "in the other"]);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    assert!(
        ran.stderr.contains("no session to resume in"),
        "{}",
        ran.stderr
    );
    let ran = sandbox.run(&["-C", "a/b", "-p", "-c", "again"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(server.request(1).text().contains("in the first"));
}

#[test]
fn resuming_reports_that_the_sessions_model_is_gone() {
    let (_server, sandbox) = job::stage_with(vec![Reply::text("One."), Reply::text("Two.")]);
    let model = Wire::Anthropic.model();
    let ran = sandbox.run(&["-p", "-m", model, "first"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let file = sandbox.session_files()[0].clone();
    let text = fs::read_to_string(&file).unwrap();
    let last: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    let change = serde_json::json!({
        "type": "model_change", "id": "changed1", "parentId": last["id"], "timestamp": "T",
        "provider": "lab", "modelId": "gone",
    });
    fs::write(&file, format!("{text}{change}\n")).unwrap();
    let default = format!("models.default=\"{model}\"");
    let ran = sandbox.run(&["-p", "-c", "--config", &default, "second"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let told =
        format!("The session's model, lab/gone, is no longer available; continuing with {model}");
    assert!(ran.stderr.contains(&told), "{}", ran.stderr);
}
