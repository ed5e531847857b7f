//! Session files and the records of open sessions, on disk.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;
use std::thread;

use serde_json::Value;
use tiller::agent::session::{
    Body, Header, ModelChange, Presence, PresenceError, PresenceRecord, SaveNotice, Session,
    SessionHead, SessionIndex, SessionState, all_sessions, folder, live_sessions, sessions_in,
};
use tiller::llm::{Message, ThinkingLevel};

#[test]
fn lines_have_the_keys_of_the_format() {
    let message = Message::user("hi", 1_733_234_401_000);
    let line = |body: Body| {
        let root = tempfile::tempdir().unwrap();
        let mut session = Session::create(root.path(), Path::new("/w"));
        session.append(body);
        say(&mut session, "begin");
        let text = fs::read_to_string(session.path().unwrap()).unwrap();
        let mut line: Value = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
        (line["id"], line["timestamp"]) = ("b".into(), "T".into());
        line.to_string()
    };
    assert_eq!(
        line(Body::Message {
            message: Arc::new(message)
        }),
        r#"{"type":"message","id":"b","parentId":null,"timestamp":"T","message":{"role":"user","content":[{"type":"text","text":"hi"}],"timestamp":1733234401000}}"#
    );
    assert_eq!(
        line(Body::ModelChange(ModelChange {
            provider: "openai".into(),
            model_id: "gpt-4o".into()
        })),
        r#"{"type":"model_change","id":"b","parentId":null,"timestamp":"T","provider":"openai","modelId":"gpt-4o"}"#
    );
    assert_eq!(
        line(Body::ThinkingLevelChange {
            thinking_level: ThinkingLevel::High
        }),
        r#"{"type":"thinking_level_change","id":"b","parentId":null,"timestamp":"T","thinkingLevel":"high"}"#
    );
    let header = serde_json::to_string(&Header::new(Path::new("/w"))).unwrap();
    assert!(header.starts_with(r#"{"type":"session","version":3,"id":""#));
    assert!(header.ends_with(r#","cwd":"/w"}"#), "{header}");
}

fn say(log: &mut Session, text: &str) -> SaveNotice {
    log.append(Body::Message {
        message: Arc::new(Message::user(text, 1)),
    })
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.ends_with('\n'));
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn the_file_appears_with_the_first_user_message_and_only_grows() {
    let root = tempfile::tempdir().unwrap();
    let mut log = Session::create(root.path(), Path::new("/home/me/shop"));
    log.append(Body::ModelChange(ModelChange {
        provider: "lab".into(),
        model_id: "m1".into(),
    }));
    let thinking_level = ThinkingLevel::High;
    log.append(Body::ThinkingLevelChange { thinking_level });
    assert!(!log.path().unwrap().exists());
    assert_eq!(say(&mut log, "one"), None);
    let before = fs::read(log.path().unwrap()).unwrap();
    assert_eq!(say(&mut log, "two"), None);
    let after = fs::read(log.path().unwrap()).unwrap();
    assert_eq!(before, after[..before.len()]);

    let lines = lines(log.path().unwrap());
    assert_eq!(lines[0]["type"], "session");
    assert_eq!(lines[0]["id"], log.id());
    assert_eq!(lines[0]["cwd"], "/home/me/shop");
    let types: Vec<_> = lines.iter().map(|line| line["type"].clone()).collect();
    assert_eq!(
        types[1..],
        [
            "model_change",
            "thinking_level_change",
            "message",
            "message"
        ]
    );
    assert_eq!(lines[1]["parentId"], Value::Null);
    for pair in lines[1..].windows(2) {
        assert_eq!(pair[1]["parentId"], pair[0]["id"]);
        assert_ne!(pair[1]["id"], pair[0]["id"]);
    }
    let mode = log.path().unwrap().metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(
        log.path()
            .unwrap()
            .starts_with(root.path().join("--home-me-shop--"))
    );
}

#[test]
fn a_deleted_session_file_is_rewritten_in_full() {
    let root = tempfile::tempdir().unwrap();
    let mut log = Session::create(root.path(), Path::new("/w"));
    assert_eq!(say(&mut log, "one"), None);
    for _ in 0..2 {
        fs::remove_dir_all(log.path().unwrap().parent().unwrap()).unwrap();
        assert_eq!(say(&mut log, "more"), None);
    }
    let lines = lines(log.path().unwrap());
    assert_eq!(lines.len(), 4, "header and three messages");
    assert_eq!(lines[3]["parentId"], lines[2]["id"]);
    let mode = log.path().unwrap().metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn an_entry_too_long_to_read_back_stays_in_memory() {
    let root = tempfile::tempdir().unwrap();
    let mut log = Session::create(root.path(), Path::new("/w"));
    let text = "x".repeat(33 * 1024 * 1024);
    assert_eq!(say(&mut log, &text), None);
    let history = log.history();
    assert_eq!(history.damaged, 0);
    assert_eq!(history.messages[0].text().len(), text.len());
}

fn store(root: &Path, cwd: &str, text: &str) -> String {
    let mut log = Session::create(root, Path::new(cwd));
    assert_eq!(say(&mut log, text), None);
    log.id().to_owned()
}

#[test]
fn sessions_are_listed_per_folder_and_in_total() {
    let root = tempfile::tempdir().unwrap();
    let unreadable = root.path().join("--unreadable--");
    // A link to itself is unreadable even for root.
    symlink(&unreadable, &unreadable).unwrap();
    let shop = store(root.path(), "/home/me/shop", "Fix \"it\"\nnow");
    let other = store(root.path(), "/home/me/other", "x");
    fs::create_dir(root.path().join(".live")).unwrap();
    fs::write(root.path().join(".live/x.json"), "{}").unwrap();

    let folder = folder::folder_for(root.path(), Path::new("/home/me/shop"));
    fs::write(folder.join("notes.jsonl"), "").unwrap();
    let found = sessions_in(&folder).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].id, shop);
    assert!(found[0].changed > 0);
    let expected = SessionHead {
        cwd: "/home/me/shop".into(),
        title: "Fix \"it\"".into(),
        name: None,
    };
    assert_eq!(found[0].head(), expected);

    let mut all: Vec<_> = all_sessions(root.path())
        .unwrap()
        .into_iter()
        .map(|session| session.id)
        .collect();
    all.sort();
    let mut expected = [shop, other];
    expected.sort();
    assert_eq!(all, expected);
    assert_eq!(sessions_in(&root.path().join("none")).unwrap(), []);
}

#[test]
fn the_index_follows_the_files_and_survives_damage() {
    let root = tempfile::tempdir().unwrap();
    store(root.path(), "/w", "first");
    let path = all_sessions(root.path()).unwrap()[0].path.clone();
    let index = root.path().join(".index.json");
    let labels = || {
        let mut index = SessionIndex::load(root.path());
        let stored = all_sessions(root.path()).unwrap();
        let labels = stored.iter().map(|it| index.head(it).label().to_owned());
        let labels: Vec<String> = labels.collect();
        index.save();
        labels
    };
    let append = |text: &str| {
        let mut file = fs::File::options().append(true).open(&path).unwrap();
        std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
    };
    assert_eq!(labels(), ["first"]);
    // The writer writes a name in two parts, and someone lists the sessions in between.
    append(r#"{"type":"session_info","id":"n","parent"#);
    assert_eq!(labels(), ["first"]);
    append("Id\":null,\"timestamp\":\"T\",\"name\":\"The hunt\"}\n");
    assert_eq!(labels(), ["The hunt"]);
    let written = fs::read(&index).unwrap();
    assert_eq!(labels(), ["The hunt"]);
    assert_eq!(fs::read(&index).unwrap(), written);
    for broken in ["", "{", "[]", r#"{"version":9,"rows":{}}"#] {
        fs::write(&index, broken).unwrap();
        assert_eq!(labels(), ["The hunt"], "{broken}");
        assert_eq!(fs::read(&index).unwrap(), written);
    }
    fs::remove_file(&path).unwrap();
    store(root.path(), "/w", "second");
    assert_eq!(labels(), ["second"]);
    let text = fs::read_to_string(&index).unwrap();
    assert!(!text.contains("The hunt"), "{text}");
}

#[test]
fn titles_are_short() {
    let title_of = |text: &str| {
        let root = tempfile::tempdir().unwrap();
        store(root.path(), "/w", text);
        all_sessions(root.path()).unwrap()[0].head().title
    };
    assert_eq!(title_of(" \n ü\\\"🦀\nmore"), "ü\\\"🦀");
    let long = "x".repeat(200_000);
    assert_eq!(title_of(&long), "x".repeat(200));
    let longer = "x".repeat(2_000_000);
    assert_eq!(title_of(&longer), "(long message)");
    let bare = r#"{"type":"message","message":{"role":"user","content":"plain"}}"#;
    let note = bare
        .replace("plain", "told")
        .replace("}}", r#","origin":"note"}}"#);
    for (text, title) in [
        (bare.to_owned(), "plain"),
        (format!("{note}\n{bare}"), "plain"),
        (note, ""),
        ("{}".to_owned(), ""),
    ] {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("t_id.jsonl"), text).unwrap();
        assert_eq!(sessions_in(root.path()).unwrap()[0].head().title, title);
    }
}

fn record(id: &str) -> PresenceRecord {
    PresenceRecord {
        id: id.into(),
        state: SessionState::Idle,
        since: 1,
        pid: 7,
        cwd: "/home/me/shop".into(),
        model: "lab/m1".into(),
        path: "/s/x.jsonl".into(),
        socket: None,
    }
}

#[test]
fn a_record_is_visible_while_its_owner_holds_it() {
    let root = tempfile::tempdir().unwrap();
    assert_eq!(live_sessions(root.path()), []);
    let mut live = Presence::open(root.path(), record("a")).unwrap();
    assert_eq!(live_sessions(root.path()), [record("a")]);

    live.set_state(SessionState::AwaitingInput);
    live.set_state(SessionState::Idle);
    live.set_model("lab/m2".into());
    let seen = live_sessions(root.path());
    assert_eq!(
        (seen[0].state, seen[0].model.as_str()),
        (SessionState::Idle, "lab/m2")
    );

    let newer = PresenceRecord {
        since: i64::MAX,
        ..record("b")
    };
    let _other = Presence::open(root.path(), newer.clone()).unwrap();
    assert_eq!(live_sessions(root.path()), [newer.clone(), seen[0].clone()]);
    drop(live);
    assert_eq!(live_sessions(root.path()), [newer]);
}

#[test]
fn a_record_has_one_owner() {
    let root = tempfile::tempdir().unwrap();
    let first = Presence::open(root.path(), record("a/../b")).unwrap();
    let second = Presence::open(root.path(), record("a/../b"));
    assert!(matches!(second, Err(PresenceError::Taken)));
    drop(first);
    assert!(Presence::open(root.path(), record("a/../b")).is_ok());
}

#[test]
fn a_new_record_is_not_removed() {
    let root = tempfile::tempdir().unwrap();
    let keep = |name: usize| {
        for _ in 0..100 {
            let id = format!("session-{name}");
            let live = Presence::open(root.path(), record(&id)).unwrap();
            let seen = live_sessions(root.path());
            assert!(seen.iter().any(|it| it.id == id), "{id} was removed");
            drop(live);
        }
    };
    thread::scope(|scope| {
        for name in 0..4 {
            scope.spawn(move || keep(name));
        }
    });
}

#[test]
fn a_replaced_record_stays() {
    let root = tempfile::tempdir().unwrap();
    let live = Presence::open(root.path(), record("a")).unwrap();
    let place = root.path().join(".live/a.json");
    fs::remove_file(&place).unwrap();
    fs::write(&place, "another").unwrap();
    drop(live);
    assert!(place.exists());
}

#[test]
fn a_killed_process_leaves_a_record_that_is_hidden_and_removed() {
    let root = tempfile::tempdir().unwrap();
    let left = root.path().join(".live/dead.json");
    fs::create_dir_all(left.parent().unwrap()).unwrap();
    fs::write(&left, serde_json::to_vec(&record("dead")).unwrap()).unwrap();
    assert_eq!(live_sessions(root.path()), []);
    let live = Presence::open(root.path(), record("a")).unwrap();
    assert!(!left.exists());
    drop(live);
    fs::write(&left, "{").unwrap();
    assert!(Presence::open(root.path(), record("dead")).is_ok());
}
