//! Reading session files: the tree, the conversation at its leaf, and files that are damaged, old,
//! foreign or hostile.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;
use tiller::agent::permission::{PermissionMode, Policy};
use tiller::agent::session::{Body, NodeId, OpenError, Session, SessionView};
use tiller::agent::undo::UndoCommand;
use tiller::agent::workspace::Places;
use tiller::agent::{
    AgentEvent, Leaving, OpenRefused, OpenSession, PermissionOptions, RunState, ToolSettings,
    Toolbox, tools,
};
use tiller::llm::{Message, Model, ThinkingLevel};

use super::fixture::{self, Act, Gate, Setup, Step, agent};

/// A sessions folder with one file.
struct Stored {
    root: TempDir,
    path: PathBuf,
}

impl Stored {
    fn of(text: impl AsRef<[u8]>) -> Self {
        // Not in the temporary folder, where a session gets its own folder instead.
        let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let path = root.path().join("t_id.jsonl");
        fs::write(&path, text).unwrap();
        Self { root, path }
    }

    fn lines(entries: &[Value]) -> Self {
        let lines = [header()].into_iter().chain(entries.iter().cloned());
        Self::of(
            lines
                .map(|line| line.to_string() + "\n")
                .collect::<String>(),
        )
    }

    fn open(&self) -> (Session, Vec<String>) {
        Session::open(self.root.path(), &self.path).unwrap()
    }

    fn text(&self) -> Vec<u8> {
        fs::read(&self.path).unwrap()
    }
}

fn header() -> Value {
    json!({"type": "session", "version": 3, "id": "id", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/w"})
}

fn user(id: &str, parent: Option<&str>, text: &str) -> Value {
    let message = json!({"role": "user", "content": text, "timestamp": 1});
    json!({"type": "message", "id": id, "parentId": parent, "timestamp": "T", "message": message})
}

fn said(session: &Session) -> Vec<String> {
    let history = session.history();
    history
        .messages
        .iter()
        .map(|message| message.text())
        .collect()
}

fn say(session: &mut Session, text: &str) -> NodeId {
    let message = Arc::new(Message::user(text, 1));
    assert_eq!(session.append(Body::Message { message }), None);
    session.tree().leaf().unwrap()
}

#[test]
fn a_fork_is_another_leaf_and_both_branches_stay() {
    let root = tempfile::tempdir().unwrap();
    let mut session = Session::create(root.path(), Path::new("/w"));
    say(&mut session, "one");
    let two = say(&mut session, "two");
    let three = say(&mut session, "three");
    let path = session.path().unwrap().to_owned();
    let before = fs::read(&path).unwrap();
    assert_eq!(session.go_to(Some(two)), None);
    say(&mut session, "another three");
    assert_eq!(said(&session), ["one", "two", "another three"]);
    assert!(
        fs::read(&path).unwrap().starts_with(&before),
        "the file was rewritten"
    );
    drop(session);

    let (mut session, problems) = Session::open(root.path(), &path).unwrap();
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(said(&session), ["one", "two", "another three"]);
    session.go_to(Some(three));
    assert_eq!(said(&session), ["one", "two", "three"]);
    drop(session);
    let (session, _) = Session::open(root.path(), &path).unwrap();
    assert_eq!(
        said(&session),
        ["one", "two", "three"],
        "the move was not stored"
    );
}

#[test]
fn each_branch_has_its_model_and_thinking_level() {
    let root = tempfile::tempdir().unwrap();
    let mut session = Session::create(root.path(), Path::new("/w"));
    let model = |id: &str| Model::new("lab", id, tiller::llm::Api::AnthropicMessages, "http://x");
    session.set_model(&model("a"), ThinkingLevel::Low);
    let one = say(&mut session, "one");
    session.set_model(&model("b"), ThinkingLevel::High);
    say(&mut session, "two");
    let path = session.path().unwrap().to_owned();
    drop(session);
    let (mut session, _) = Session::open(root.path(), &path).unwrap();
    assert_eq!(session.model().unwrap().model_id, "b");
    assert_eq!(session.thinking(), Some(ThinkingLevel::High));
    session.go_to(Some(one));
    assert_eq!(session.model().unwrap().model_id, "a");
    assert_eq!(session.thinking(), Some(ThinkingLevel::Low));
}

#[test]
fn a_fork_from_an_entry_copies_its_path_and_labels() {
    let root = tempfile::tempdir().unwrap();
    let mut session = Session::create(root.path(), Path::new("/w"));
    let one = say(&mut session, "one");
    let two = say(&mut session, "two");
    say(&mut session, "three");
    let target_id = session.tree().id(two).to_owned();
    let label = Some(String::from("here"));
    session.append(Body::Label { target_id, label });
    session.go_to(Some(one));
    say(&mut session, "other");
    let path = session.path().unwrap().to_owned();
    let before = fs::read(&path).unwrap();
    let view = SessionView::open(&path).unwrap();
    assert_eq!(
        view.fork_point(two).0,
        Some(one),
        "the fork point must be before the prompt"
    );
    let fork = |leaf| Session::fork_at(root.path(), &view, Path::new("/w"), leaf).unwrap();

    let (copy, problems) = fork(Some(two));
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(said(&copy), ["one", "two"]);
    let node = copy.tree().find(view.tree().id(two)).unwrap();
    assert_eq!(copy.tree().label(node), Some("here"));
    assert_eq!(copy.header().parent_session.as_deref(), path.to_str());
    let text = fs::read(copy.path().unwrap()).unwrap();
    let lines = |text: &[u8]| -> Vec<Vec<u8>> {
        text.split(|byte| *byte == b'\n')
            .map(<[u8]>::to_vec)
            .collect()
    };
    assert_eq!(
        lines(&text)[1..3],
        lines(&before)[1..3],
        "the fork changed a line"
    );
    assert_eq!(
        fs::read(&path).unwrap(),
        before,
        "the original file changed"
    );

    let (empty, _) = fork(None);
    assert_eq!(said(&empty), Vec::<String>::new());
    assert!(!empty.path().unwrap().exists());
}

#[test]
fn a_cut_file_opens_and_loses_only_the_cut_entry() {
    let entries: Vec<Value> = (0..4)
        .map(|n| {
            let parent = (n > 0).then(|| format!("e{}", n - 1));
            user(
                &format!("e{n}"),
                parent.as_deref(),
                &format!("text \"{n}\" ü"),
            )
        })
        .collect();
    let whole = Stored::lines(&entries).text();
    let header = whole.iter().position(|byte| *byte == b'\n').unwrap();
    for cut in header + 1..=whole.len() {
        let stored = Stored::of(&whole[..cut]);
        let (mut session, problems) = stored.open();
        // An entry that lacks only its newline is whole.
        let ends = whole[..cut].split(|byte| *byte == b'\n').count() - 2;
        let whole_last = whole.get(cut) == Some(&b'\n');
        let kept = ends + usize::from(whole_last);
        assert_eq!(said(&session).len(), kept, "cut at {cut}");
        let torn = stored.path.with_extension("jsonl.torn");
        let clean = whole_last || whole[cut - 1] == b'\n';
        assert_eq!(problems.is_empty(), clean, "cut at {cut}: {problems:?}");
        assert_eq!(torn.exists(), !clean, "cut at {cut}");
        say(&mut session, "and on");
        drop(session);
        let (session, problems) = stored.open();
        assert_eq!(problems, Vec::<String>::new(), "cut at {cut}");
        assert_eq!(said(&session).len(), kept + 1, "cut at {cut}");
        for line in String::from_utf8(stored.text()).unwrap().lines() {
            assert!(
                serde_json::from_str::<Value>(line).is_ok(),
                "cut at {cut}: {line}"
            );
        }
    }
}

#[test]
fn unknown_entries_stay_byte_for_byte() {
    let odd: [&[u8]; 7] = [
        b"not json",
        b"\0\0\0\0",
        b"\xff\xfe",
        b"[1, 2]",
        br#"{"type":"message","id":"x1","parentId":"e0","timestamp":"T","message":{"role":"user","content":5}}"#,
        br#"{"type":"from_the_future","id":"x2","parentId":"e0","timestamp":"T","a":{"b":1.50}}"#,
        br#"{"type":7,"id":{}}"#,
    ];
    for line in odd {
        let mut text = Stored::lines(&[user("e0", None, "one")]).text();
        text.extend_from_slice(line);
        text.push(b'\n');
        text.extend_from_slice(user("e1", Some("e0"), "two").to_string().as_bytes());
        text.push(b'\n');
        let stored = Stored::of(&text);
        let (mut session, _) = stored.open();
        assert_eq!(
            said(&session),
            ["one", "two"],
            "{}",
            String::from_utf8_lossy(line)
        );
        say(&mut session, "three");
        assert!(stored.text().starts_with(&text));
    }
}

#[test]
fn invalid_trees_open_as_far_as_possible() {
    let cases: [(&str, Vec<Value>, &[&str]); 5] = [
        (
            "a circle",
            vec![user("a", Some("b"), "one"), user("b", Some("a"), "two")],
            &["one", "two"],
        ),
        (
            "with a missing parent",
            vec![user("a", None, "one"), user("b", Some("zz"), "two")],
            &["two"],
        ),
        (
            "two roots",
            vec![user("a", None, "one"), user("b", None, "two")],
            &["two"],
        ),
        (
            "a parent that comes later",
            vec![
                user("b", Some("a"), "two"),
                user("a", None, "one"),
                user("c", Some("b"), "three"),
            ],
            &["one", "two", "three"],
        ),
        (
            "its own parent",
            vec![user("a", Some("a"), "one")],
            &["one"],
        ),
    ];
    for (name, entries, expected) in cases {
        let (session, _) = Stored::lines(&entries).open();
        assert_eq!(said(&session), expected, "{name}");
    }
    let twice = [
        user("a", None, "one"),
        user("a", None, "again"),
        user("b", Some("a"), "two"),
    ];
    let (session, _) = Stored::lines(&twice).open();
    assert_eq!(session.tree().nodes().len(), 3, "an entry is missing");
}

// Other programs can omit ids. An entry that follows one without an id still names it as its
// parent.
#[test]
fn an_entry_without_an_id_is_found_again() {
    let mut nameless = user("", Some("a"), "two");
    nameless.as_object_mut().unwrap().remove("id");
    let stored = Stored::lines(&[user("a", None, "one"), nameless]);
    let (mut session, _) = stored.open();
    say(&mut session, "three");
    drop(session);
    let (session, problems) = stored.open();
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(said(&session), ["one", "two", "three"]);
    drop(session);

    let view = SessionView::open(&stored.path).unwrap();
    let root = stored.root.path();
    let (copy, _) = Session::fork_at(root, &view, Path::new("/w"), view.tree().leaf()).unwrap();
    assert_eq!(said(&copy), ["one", "two", "three"]);
}

// The user changes the model while a tool runs, so that entry is between a call and its result.
#[test]
fn a_branch_begins_after_the_results_despite_a_model_change() {
    let answer = json!({
        "type": "message", "id": "b", "parentId": "a", "timestamp": "T",
        "message": {
            "role": "assistant", "api": "x", "provider": "lab", "model": "m1", "usage": {},
            "content": [{"type": "toolCall", "id": "c1", "name": "ls", "arguments": {}}],
            "stopReason": "toolUse", "timestamp": 1,
        },
    });
    let change = json!({
        "type": "model_change", "id": "c", "parentId": "b", "timestamp": "T",
        "provider": "lab", "modelId": "m2",
    });
    let result = json!({
        "type": "message", "id": "d", "parentId": "c", "timestamp": "T",
        "message": {
            "role": "toolResult", "toolCallId": "c1", "toolName": "ls", "isError": false,
            "content": [{"type": "text", "text": "a"}], "timestamp": 1,
        },
    });
    let lines = [
        user("a", None, "one"),
        answer,
        change,
        result,
        user("e", Some("d"), "two"),
    ];
    let (session, _) = Stored::lines(&lines).open();
    let tree = session.tree();
    for id in ["b", "c", "d"] {
        let end = tree.behind_results(tree.find(id).unwrap());
        assert_eq!(tree.id(end), "d", "{id}");
    }
}

#[test]
fn a_compacted_session_continues_with_summary_and_kept_messages() {
    let compaction = json!({
        "type": "compaction", "id": "c", "parentId": "e2", "timestamp": "T",
        "summary": "What was done.", "firstKeptEntryId": "e2", "tokensBefore": 9000,
    });
    let entries = [
        user("e0", None, "zero"),
        user("e1", Some("e0"), "one"),
        user("e2", Some("e1"), "two"),
        compaction,
        user("e3", Some("c"), "three"),
    ];
    let (mut session, _) = Stored::lines(&entries).open();
    let texts = said(&session);
    assert!(texts[0].contains("What was done."), "{texts:?}");
    assert_eq!(texts[1..], ["two", "three"]);
    let before = session.tree().find("e2");
    session.go_to(before);
    assert_eq!(
        said(&session),
        ["zero", "one", "two"],
        "before the compaction, the whole conversation is there"
    );
}

#[test]
fn entries_of_pi_are_readable() {
    let entry = |id: &str, parent: &str, rest: Value| {
        let mut entry = json!({"id": id, "parentId": parent, "timestamp": "T"});
        let (entry_map, rest) = (
            entry.as_object_mut().unwrap(),
            rest.as_object().unwrap().clone(),
        );
        entry_map.extend(rest);
        entry
    };
    let message = |message: Value| json!({"type": "message", "message": message});
    let bash = json!({"role": "bashExecution", "command": "ls", "output": "a\nb", "exitCode": 2, "cancelled": false, "truncated": false, "timestamp": 1});
    let hidden = json!({"role": "bashExecution", "command": "secret", "output": "", "exitCode": 0, "cancelled": false, "truncated": false, "excludeFromContext": true, "timestamp": 1});
    let entries = [
        user("a", None, "one"),
        entry("b", "a", message(bash)),
        entry("c", "b", message(hidden)),
        entry(
            "d",
            "c",
            json!({"type": "custom_message", "customType": "x", "content": "injected", "display": true}),
        ),
        entry(
            "e",
            "d",
            json!({"type": "branch_summary", "fromId": "a", "summary": "Tried the other way."}),
        ),
        entry(
            "f",
            "e",
            json!({"type": "label", "targetId": "a", "label": "start"}),
        ),
        entry("g", "f", json!({"type": "session_info", "name": "Auth"})),
        entry(
            "h",
            "g",
            json!({"type": "context_edit", "targetId": "a", "replacement": {"content": "uno"}}),
        ),
        entry(
            "i",
            "h",
            json!({"type": "context_edit", "targetId": "d", "replacement": null}),
        ),
    ];
    let (session, problems) = Stored::lines(&entries).open();
    assert_eq!(problems, Vec::<String>::new());
    let texts = said(&session);
    assert_eq!(texts.len(), 3, "{texts:?}");
    assert_eq!(texts[0], "uno");
    assert!(texts[1].contains("ls") && texts[1].contains("a\nb") && texts[1].contains('2'));
    assert!(texts[2].contains("Tried the other way."));
    assert_eq!(session.tree().name(), Some("Auth"));
    let first = session.tree().find("a").unwrap();
    assert_eq!(session.tree().label(first), Some("start"));
}

#[test]
fn a_second_writer_gets_a_copy() {
    let stored = Stored::lines(&[user("a", None, "one"), user("b", Some("a"), "two")]);
    let (mut session, _) = stored.open();
    let root = stored.root.path();
    let refused = Session::open(root, &stored.path);
    assert!(matches!(refused, Err(OpenError::InUse)));
    fs::create_dir(stored.path.with_extension("")).unwrap();
    fs::write(stored.path.with_extension("").join("c1.txt"), "long").unwrap();

    let (mut copy, _) = Session::fork(root, &stored.path, Path::new("/w")).unwrap();
    assert_ne!(copy.id(), session.id());
    say(&mut copy, "in the copy");
    say(&mut session, "in the first");
    assert_eq!(said(&copy), ["one", "two", "in the copy"]);
    assert_eq!(said(&session), ["one", "two", "in the first"]);
    let path = copy.path().unwrap();
    let first: Value =
        serde_json::from_str(fs::read_to_string(path).unwrap().lines().next().unwrap()).unwrap();
    assert_eq!(first["parentSession"], stored.path.to_str().unwrap());
    let output = path.with_extension("").join("c1.txt");
    assert_eq!(fs::read_to_string(output).unwrap(), "long");

    // Outputs that can't be copied don't prevent a copy of the session.
    fs::create_dir(stored.path.with_extension("").join("folder")).unwrap();
    let (copy, problems) = Session::fork(root, &stored.path, Path::new("/w")).unwrap();
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(said(&copy), ["one", "two", "in the first"]);
}

#[test]
fn other_versions_and_other_files_stay_unchanged() {
    let line = |version: Value| {
        let mut header = header();
        match version {
            Value::Null => drop(header.as_object_mut().unwrap().remove("version")),
            version => header["version"] = version,
        }
        header
    };
    let old =
        json!({"type": "message", "timestamp": "T", "message": {"role": "user", "content": "old"}});
    let text = format!("{}\n{old}\n{old}\n", line(Value::Null));
    let stored = Stored::of(&text);
    let root = stored.root.path();
    assert!(matches!(
        Session::open(root, &stored.path),
        Err(OpenError::Version(1))
    ));
    let (copy, _) = Session::fork(root, &stored.path, Path::new("/w")).unwrap();
    assert_eq!(said(&copy), ["old", "old"]);
    assert_eq!(stored.text(), text.as_bytes());

    // An old version named the first kept entry by its line number.
    let compaction = json!({
        "type": "compaction", "timestamp": "T", "summary": "What was done.",
        "firstKeptEntryIndex": 2, "tokensBefore": 9000,
    });
    let mut kept = old.clone();
    kept["message"]["content"] = json!("kept");
    let compacted = format!("{}\n{old}\n{kept}\n{compaction}\n", line(Value::Null));
    let compacted = Stored::of(&compacted);
    let root = compacted.root.path();
    let (copy, _) = Session::fork(root, &compacted.path, Path::new("/w")).unwrap();
    let texts = said(&copy);
    assert!(texts[0].contains("What was done."), "{texts:?}");
    assert_eq!(texts[1..], ["kept"]);
    // A file whose writing stopped after the header.
    let begun = Stored::of(line(Value::Null).to_string());
    let (copy, _) = Session::fork(begun.root.path(), &begun.path, Path::new("/w")).unwrap();
    assert_eq!(copy.tree().nodes().len(), 0);
    let begun = Stored::of(line(json!(3)).to_string());
    let (copy, _) = Session::fork(begun.root.path(), &begun.path, Path::new("/w")).unwrap();
    assert_eq!(copy.tree().nodes().len(), 0);

    let newer = Stored::of(format!("{}\n", line(json!(4))));
    assert!(matches!(
        Session::open(newer.root.path(), &newer.path),
        Err(OpenError::Version(4))
    ));
    for text in ["", "hello\n", "{}\n", "\0\0\n", "{\"type\":\"message\"}\n"] {
        let stored = Stored::of(text);
        let Err(OpenError::Io(error)) = Session::open(stored.root.path(), &stored.path) else {
            panic!("{text:?} is not a session");
        };
        assert!(
            error.to_string().contains("it isn't a session file"),
            "{error}"
        );
        assert_eq!(stored.text(), text.as_bytes());
    }
}

#[tokio::test]
async fn a_running_agent_can_open_another_session() {
    let mut agent = agent(vec![fixture::say("one"), fixture::say("two")], vec![]);
    agent.prompt("first");
    agent.settled().await;
    let stored = Stored::lines(&[user("a", None, "of old")]);
    let open = || {
        let (session, _) = stored.open();
        OpenSession {
            model: None,
            thinking: None,
            facts: session.facts(),
            spill_dir: stored.path.with_extension(""),
            session,
        }
    };
    agent.handle.open(open()).await.unwrap();
    let opened = |event: &AgentEvent| matches!(event, AgentEvent::SessionOpened { .. });
    agent.until(opened).await;
    agent.prompt("and on");
    agent.settled().await;
    assert_eq!(agent.request(1), ["user: of old", "user: and on"]);
    // The earlier session is closed, so no one else holds it.
    let path = agent.session.clone();
    let root = agent.folder.path().join("sessions");
    let (before, problems) = loop {
        match Session::open(&root, &path) {
            Err(OpenError::InUse) => tokio::task::yield_now().await,
            opened => break opened.unwrap(),
        }
    };
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(said(&before), ["first", "one"]);
}

#[tokio::test]
async fn no_other_session_opens_during_a_run() {
    let gate = Gate::new();
    let mut waiting = vec![fixture::start()];
    waiting.push(Step::Wait(gate.clone()));
    waiting.extend(fixture::say("done").into_iter().skip(1));
    let mut agent = agent(vec![waiting], vec![]);
    agent.prompt("first");
    gate.reached().await;
    let session = Session::unstored(Path::new("/w"));
    let opened = agent.handle.open(OpenSession {
        model: None,
        thinking: None,
        facts: session.facts(),
        spill_dir: "/nonexistent".into(),
        session,
    });
    assert_eq!(opened.await, Err(OpenRefused::Busy));
    gate.open();
    agent.settled().await;
    assert_eq!(agent.stored(), ["user: first", "assistant: done"]);
}

// Opening a session only to look at it must not change its file.
#[tokio::test]
async fn an_opened_session_keeps_its_model_and_is_unchanged_until_a_prompt() {
    let mut agent = agent(vec![fixture::say("one"), fixture::say("two")], vec![]);
    agent.prompt("first");
    agent.settled().await;
    let entry = |id: &str, parent: Option<&str>, fields: Value| {
        let mut entry = json!({"id": id, "parentId": parent, "timestamp": "T"});
        entry
            .as_object_mut()
            .unwrap()
            .extend(fields.as_object().unwrap().clone());
        entry
    };
    let change = json!({"type": "model_change", "provider": "test", "modelId": "test-1"});
    let level = json!({"type": "thinking_level_change", "thinkingLevel": "low"});
    let stored = Stored::lines(&[
        entry("m", None, change),
        entry("t", Some("m"), level),
        user("a", Some("t"), "of old"),
    ]);
    let (session, _) = stored.open();
    assert_eq!(session.thinking(), Some(ThinkingLevel::Low));
    let before = stored.text();
    let opened = agent.handle.open(OpenSession {
        model: None,
        thinking: session.thinking(),
        facts: session.facts(),
        spill_dir: stored.path.with_extension(""),
        session,
    });
    opened.await.unwrap();
    let told = |event: &AgentEvent| {
        matches!(
            event,
            AgentEvent::ModelChanged {
                thinking: ThinkingLevel::Low,
                ..
            }
        )
    };
    agent.until(told).await;
    assert_eq!(stored.text(), before);
    agent.prompt("and on");
    agent.settled().await;
    let text = String::from_utf8(stored.text()).unwrap();
    assert_eq!(text.matches("thinking_level_change").count(), 1, "{text}");
}

#[tokio::test]
async fn a_new_session_says_which_model_it_is_on() {
    let mut agent = agent(vec![fixture::say("one"), fixture::say("two")], vec![]);
    agent.prompt("first");
    agent.settled().await;
    let folder = tempfile::tempdir().unwrap();
    let session = Session::create(folder.path(), Path::new("/w"));
    let path = session.path().unwrap().to_owned();
    let opened = agent.handle.open(OpenSession {
        model: None,
        thinking: None,
        facts: session.facts(),
        spill_dir: path.with_extension(""),
        session,
    });
    opened.await.unwrap();
    let opened = |event: &AgentEvent| matches!(event, AgentEvent::SessionOpened { .. });
    agent.until(opened).await;
    agent.prompt("of the new one");
    agent.settled().await;
    let text = fs::read_to_string(path).unwrap();
    let kinds: Vec<&str> = ["model_change", "thinking_level_change", "of the new one"]
        .into_iter()
        .filter(|kind| text.contains(kind))
        .collect();
    assert_eq!(kinds.len(), 3, "{text}");
    assert!(text.find("model_change") < text.find("\"role\":\"user\""));
}

#[tokio::test]
async fn a_read_only_session_refuses_messages() {
    let mut agent = agent(vec![fixture::say("one")], vec![]);
    agent.prompt("first");
    agent.settled().await;
    let stored = Stored::lines(&[user("a", None, "of old")]);
    let before = stored.text();
    // This holds even while another program writes to it.
    let (_writer, _) = stored.open();
    let (session, _) = Session::look(&stored.path).unwrap();
    assert_eq!(said(&session), ["of old"]);
    let opened = agent.handle.open(OpenSession {
        model: None,
        thinking: None,
        facts: session.facts(),
        spill_dir: stored.path.with_extension(""),
        session,
    });
    opened.await.unwrap();
    let opened = |event: &AgentEvent| {
        matches!(
            event,
            AgentEvent::SessionOpened {
                read_only: true,
                ..
            }
        )
    };
    agent.until(opened).await;
    agent.prompt("and on");
    let back = |event: &AgentEvent| matches!(event, AgentEvent::QueueReturned { messages, .. } if messages.len() == 1);
    agent.until(back).await;
    agent.handle.name("mine".to_owned());
    let told = |event: &AgentEvent| matches!(event, AgentEvent::Notice { text, .. } if text.contains("read-only here"));
    // A front end that expected a run hears that none has begun.
    let idle = |event: &AgentEvent| matches!(event, AgentEvent::State(RunState::Idle));
    agent.until(idle).await;
    agent.until(told).await;
    agent.until(idle).await;
    // A summary would send a request.
    agent.handle.go_to("a".into(), Leaving::WithSummary);
    agent.until(told).await;
    assert_eq!(stored.text(), before);
}

/// Each session's long outputs belong to it, so its model can read them without a question.
#[tokio::test]
async fn the_long_outputs_of_the_open_session_are_read_without_a_question() {
    let stored = Stored::lines(&[user("a", None, "of old")]);
    let outputs = stored.path.with_extension("");
    fs::create_dir(&outputs).unwrap();
    fs::write(outputs.join("c1.txt"), "all of it").unwrap();
    let read = |id: &str, path: &Path| fixture::call(&[(id, "read", json!({"file_path": path}))]);
    let mut agent = Setup {
        answers: vec![
            read("c1", &outputs.join("c1.txt")),
            read("c2", &stored.path),
            fixture::say("ok"),
        ],
        toolbox: Some(Toolbox::new(tools::builtin(&ToolSettings::default()))),
        permission: Some(PermissionOptions {
            policy: Policy::new(PermissionMode::Auto, Vec::new()),
            places: Places {
                own: vec![stored.root.path().to_owned()],
                ..Places::default()
            },
            ..crate::support::everything_allowed()
        }),
        ..Setup::default()
    }
    .start();
    let (session, _) = stored.open();
    let opened = agent.handle.open(OpenSession {
        model: None,
        thinking: None,
        facts: session.facts(),
        spill_dir: outputs,
        session,
    });
    opened.await.unwrap();
    agent.prompt("Go");
    agent.settled().await;
    let last = agent.request(2).join("\n");
    assert!(last.contains(": all of it"), "{last}");
    assert!(last.contains("c2!: Not permitted"), "{last}");
}

#[tokio::test]
async fn an_opened_session_keeps_the_mode_that_is_stricter() {
    for (now, own, expected, keeps_mode) in [
        (PermissionMode::Auto, "plan", PermissionMode::Plan, false),
        (PermissionMode::Auto, "plan", PermissionMode::Auto, true),
        (PermissionMode::Plan, "ask", PermissionMode::Plan, false),
        (PermissionMode::Auto, "full", PermissionMode::Auto, false),
        (PermissionMode::Auto, "other", PermissionMode::Auto, false),
    ] {
        let chosen = json!({"type": "custom", "id": "b", "parentId": "a",
            "customType": "tiller.permission", "data": own});
        let stored = Stored::lines(&[user("a", None, "of old"), chosen]);
        let (session, _) = stored.open();
        let mut policy = Policy::new(now, Vec::new());
        policy.keeps_mode = keeps_mode;
        let mut agent = Setup {
            answers: vec![fixture::say("ok")],
            permission: Some(PermissionOptions {
                policy,
                ..crate::support::everything_allowed()
            }),
            ..Setup::default()
        }
        .start();
        let opened = agent.handle.open(OpenSession {
            model: None,
            thinking: None,
            facts: session.facts(),
            spill_dir: stored.path.with_extension(""),
            session,
        });
        opened.await.unwrap();
        agent.prompt("Go");
        agent.settled().await;
        let last = agent.request(0).join("\n");
        let told = format!("Permission mode: {expected}");
        assert!(last.contains(&told), "{now} {own}: {last}");
    }
}

/// A copy can read earlier sessions' outputs that its results name. Other files that a header names
/// stay protected, because they can belong to someone else.
#[tokio::test]
async fn a_copy_reads_only_the_outputs_that_its_results_name() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let root = folder.path().join("sessions");
    let first = root.join("p/t_id.jsonl");
    fs::create_dir_all(first.with_extension("")).unwrap();
    let output = first.with_extension("").join("c1.txt");
    fs::write(&output, "all of it").unwrap();
    let text = [header(), user("a", None, "one")].map(|line| line.to_string() + "\n");
    fs::write(&first, text.concat()).unwrap();
    let key = folder.path().join(".ssh/id_ed25519");
    fs::create_dir_all(key.parent().unwrap()).unwrap();
    fs::write(&key, "a key").unwrap();
    let cwd = Path::new("/w");
    let (copy, _) = Session::fork(&root, &first, cwd).unwrap();
    let (copy, _) = Session::fork(&root, copy.path().unwrap(), cwd).unwrap();
    let mut foreign = header();
    foreign["parentSession"] = json!(key);
    let path = folder.path().join("foreign.jsonl");
    let text = [foreign, user("a", None, "one")].map(|line| line.to_string() + "\n");
    fs::write(&path, text.concat()).unwrap();
    let (foreign, _) = Session::open(&root, &path).unwrap();
    // A link in the place of its own outputs.
    std::os::unix::fs::symlink(key.parent().unwrap(), path.with_extension("")).unwrap();

    for (session, read, told) in [(copy, &output, ": all of it"), (foreign, &key, "c1!: ")] {
        let mut agent = Setup {
            answers: vec![
                fixture::call(&[("c1", "read", json!({"file_path": read}))]),
                fixture::say("ok"),
            ],
            toolbox: Some(Toolbox::new(tools::builtin(&ToolSettings::default()))),
            permission: Some(PermissionOptions {
                policy: Policy::new(PermissionMode::Auto, Vec::new()),
                places: Places {
                    own: vec![folder.path().to_owned()],
                    ..Places::default()
                },
                ..crate::support::everything_allowed()
            }),
            ..Setup::default()
        }
        .start();
        let opened = agent.handle.open(OpenSession {
            model: None,
            thinking: None,
            facts: session.facts(),
            spill_dir: session.path().unwrap().with_extension(""),
            session,
        });
        opened.await.unwrap();
        agent.prompt("Go");
        agent.settled().await;
        let last = agent.request(1).join("\n");
        assert!(last.contains(told) && !last.contains("a key"), "{last}");
    }
}

/// The list of prompts stores each turn once, however many prompts there are.
#[tokio::test]
async fn prompts_to_return_to_share_their_turns() {
    let gate = Gate::new();
    let mut answers = Vec::new();
    for _ in 0..3 {
        gate.open();
        answers.extend([
            fixture::call(&[("c", "write", json!({}))]),
            fixture::say("ok"),
        ]);
    }
    let mut agent = agent(answers, vec![("write", false, Act::Write(gate))]);
    for _ in 0..3 {
        agent.prompt("Go");
        agent.settled().await;
    }
    let (answer, points) = tokio::sync::oneshot::channel();
    agent.handle.undo(UndoCommand::Prompts(answer));
    let points = fixture::within(points).await.unwrap().unwrap();
    let turns: Vec<_> = points.iter().map(|point| point.turns().to_vec()).collect();
    assert_eq!(turns.len(), 3);
    assert_eq!(turns[0].len(), 3);
    assert_eq!(
        (&turns[1][..], &turns[2][..]),
        (&turns[0][1..], &turns[0][2..])
    );
    for point in &points {
        assert!(Arc::ptr_eq(&point.all_turns, &points[0].all_turns));
    }
}

/// A write doesn't recreate a deleted project.
#[tokio::test]
async fn nothing_is_written_into_a_deleted_folder() {
    let write = json!({"file_path": "src/a.rs", "content": "fn main() {}"});
    let mut agent = Setup {
        answers: vec![fixture::call(&[("c1", "write", write)]), fixture::say("ok")],
        toolbox: Some(Toolbox::new(tools::builtin(&ToolSettings::default()))),
        ..Setup::default()
    }
    .start();
    fs::remove_dir_all(&agent.cwd).unwrap();
    agent.prompt("Go");
    agent.settled().await;
    let told = agent.request(1).join("\n");
    assert!(
        told.contains("no longer exists, so src/a.rs was not written"),
        "{told}"
    );
    assert!(!agent.cwd.exists());
}
