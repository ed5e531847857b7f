//! Session files as crashes, other programs and attackers leave them. They open as far as possible,
//! and no intact entry is lost. tiller names what it can't read and leaves it in the file.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nix::sys::stat::Mode;
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;
use tiller::agent::session::{Body, OpenError, Session, SessionView, sessions_in};
use tiller::llm::Message;

struct Stored {
    root: TempDir,
    path: PathBuf,
}

impl Stored {
    fn of(text: &[u8]) -> Self {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("t_id.jsonl");
        fs::write(&path, text).unwrap();
        Self { root, path }
    }

    fn open(&self) -> Result<(Session, Vec<String>), OpenError> {
        Session::open(self.root.path(), &self.path)
    }

    fn text(&self) -> Vec<u8> {
        fs::read(&self.path).unwrap()
    }
}

fn header() -> String {
    let header = json!({"type": "session", "version": 3, "id": "id", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/w"});
    format!("{header}\n")
}

fn user(id: &str, parent: Option<&str>, text: &str) -> String {
    let message = json!({"role": "user", "content": text, "timestamp": 1});
    let entry = json!({"type": "message", "id": id, "parentId": parent, "timestamp": "T", "message": message});
    format!("{entry}\n")
}

fn said(session: &Session) -> Vec<String> {
    let history = session.history();
    history.messages.iter().map(|it| it.text()).collect()
}

fn say(session: &mut Session, text: &str) {
    let message = Arc::new(Message::user(text, 1));
    assert_eq!(session.append(Body::Message { message }), None);
}

/// A file with a good first entry, `line`, and a good entry whose parent is the first.
fn around(line: &[u8]) -> Vec<u8> {
    let mut text = header().into_bytes();
    text.extend(user("one", None, "one").bytes());
    text.extend(line);
    text.push(b'\n');
    text.extend(user("two", Some("one"), "two").bytes());
    text
}

#[test]
fn a_bad_line_is_named_kept_and_harms_no_other() {
    let nested = |depth: usize| {
        let open = "{\"a\":".repeat(depth);
        let close = "}".repeat(depth);
        format!(
            "{{\"type\":\"message\",\"id\":\"n\",\"parentId\":\"one\",\"timestamp\":\"T\",\"message\":{open}1{close}}}"
        )
    };
    let entry = |change: &dyn Fn(&mut Value)| {
        let mut entry = serde_json::from_str(&user("x", Some("one"), "odd")).unwrap();
        change(&mut entry);
        entry.to_string().into_bytes()
    };
    let unreadable = "tiller can't read 1 line, which the file keeps";
    let cases: [(&str, Vec<u8>, &str); 17] = [
        ("NULs", vec![0; 5000], unreadable),
        ("an empty line", Vec::new(), ""),
        ("spaces", b"  \t ".to_vec(), ""),
        ("no JSON", b"hello".to_vec(), unreadable),
        (
            "half an entry",
            user("x", Some("one"), "odd").into_bytes()[..40].to_vec(),
            unreadable,
        ),
        ("no object", b"[1,2]".to_vec(), unreadable),
        (
            "a number as type",
            entry(&|it| it["type"] = json!(5)),
            unreadable,
        ),
        (
            "a number as id",
            entry(&|it| it["id"] = json!(5)),
            unreadable,
        ),
        (
            "a list as parent",
            entry(&|it| it["parentId"] = json!([])),
            unreadable,
        ),
        (
            "a message that is none",
            entry(&|it| it["message"] = json!("x")),
            unreadable,
        ),
        (
            "a role that is none",
            entry(&|it| it["message"]["role"] = json!({})),
            unreadable,
        ),
        (
            "content of another type",
            entry(&|it| it["message"]["content"] = json!(7)),
            "",
        ),
        (
            "a role nobody knows",
            entry(&|it| it["message"]["role"] = json!("oracle")),
            "",
        ),
        (
            "another type",
            entry(&|it| it["type"] = json!("from_the_future")),
            "",
        ),
        (
            "nesting in an entry",
            nested(100_000).into_bytes(),
            unreadable,
        ),
        (
            "lists in lists",
            "[".repeat(200_000).into_bytes(),
            unreadable,
        ),
        (
            "invalid UTF-8",
            [
                &user("x", Some("one"), "odd").as_bytes()[..70],
                b"\xff\xfe\xc3",
                b"\"}}",
            ]
            .concat(),
            unreadable,
        ),
    ];
    for (name, line, problem) in cases {
        let stored = Stored::of(&around(&line));
        let before = stored.text();
        let (mut session, problems) = stored.open().unwrap();
        assert_eq!(said(&session), ["one", "two"], "{name}");
        match problem {
            "" => assert_eq!(problems, Vec::<String>::new(), "{name}"),
            problem => assert!(problems.concat().contains(problem), "{name}: {problems:?}"),
        }
        assert_eq!(session.branch().len(), 2, "{name}");
        say(&mut session, "three");
        drop(session);
        assert!(
            stored.text().starts_with(&before),
            "{name}: the file was rewritten"
        );
        let (session, _) = stored.open().unwrap();
        assert_eq!(said(&session), ["one", "two", "three"], "{name}");
        let view = SessionView::open(&stored.path).unwrap();
        for node in view.branch() {
            view.entry(node).unwrap();
        }
    }
}

#[test]
fn an_unreadable_entry_on_the_path_is_skipped_and_counted() {
    let mut bad = user("bad", Some("one"), "odd").into_bytes();
    let at = bad.windows(3).position(|it| it == b"odd").unwrap();
    bad[at] = 0xff;
    let text = [
        header().as_bytes(),
        user("one", None, "one").as_bytes(),
        &bad,
        user("two", Some("bad"), "two").as_bytes(),
    ]
    .concat();
    let stored = Stored::of(&text);
    let (session, _) = stored.open().unwrap();
    let history = session.history();
    assert_eq!(said(&session), ["one", "two"]);
    assert_eq!(history.damaged, 1);
    let branch = session.branch();
    let read = branch.read(0..branch.len());
    let errors: Vec<String> = read
        .iter()
        .filter_map(|it| it.as_ref().err())
        .map(ToString::to_string)
        .collect();
    assert_eq!(errors.len(), 1);
    assert!(errors[0].contains("at byte"), "{errors:?}");
    assert_eq!(stored.text(), text);
}

// The work grows with the file's size, whatever its content.
#[test]
fn hostile_trees_open_as_fast_as_others() {
    const COUNT: usize = 30_000;
    let id = |number: usize| format!("{number:08x}");
    type Line = fn(usize, &dyn Fn(usize) -> String) -> String;
    let cases: [(&str, Line); 4] = [
        ("one id for all", |n, id| {
            user("same", (n > 0).then(|| id(n)).as_deref(), "x")
        }),
        ("from the end", |n, id| user(&id(n), Some(&id(n + 1)), "x")),
        ("all in one circle", |n, id| {
            user(&id(n), Some(&id((n + 1) % COUNT)), "x")
        }),
        ("every second from the end", |n, id| {
            let parent = if n % 2 == 0 { n + 3 } else { n - 1 };
            user(&id(n), Some(&id(parent)), "x")
        }),
    ];
    for (name, line) in cases {
        let text: String = (0..COUNT).map(|number| line(number, &id)).collect();
        let stored = Stored::of((header() + &text).as_bytes());
        let (session, _) = stored.open().unwrap();
        assert_eq!(session.tree().nodes().len(), COUNT, "{name}");
        let leaf = session.tree().leaf().unwrap();
        assert!(!session.tree().path(leaf).is_empty(), "{name}");
    }
}

#[test]
fn only_a_regular_file_is_a_session() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("a_folder.jsonl");
    fs::create_dir(&folder).unwrap();
    let fifo = root.path().join("a_fifo.jsonl");
    nix::unistd::mkfifo(&fifo, Mode::S_IRWXU).unwrap();
    let device = root.path().join("a_device.jsonl");
    std::os::unix::fs::symlink("/dev/zero", &device).unwrap();
    let empty = root.path().join("an_empty.jsonl");
    fs::write(&empty, "").unwrap();
    for path in [&folder, &fifo, &device] {
        for error in [
            Session::open(root.path(), path).err().unwrap(),
            Session::fork(root.path(), path, Path::new("/w"))
                .err()
                .unwrap(),
            SessionView::open(path).err().unwrap().into(),
        ] {
            let error = error.to_string();
            assert!(
                error.contains("isn't a regular file"),
                "{}: {error}",
                path.display()
            );
        }
    }
    assert_eq!(
        sessions_in(root.path()).unwrap(),
        [],
        "the list contains one of them"
    );
}

// After a crash the disk can hold anything after the last whole line.
#[test]
fn a_torn_tail_is_cut_off_and_saved() {
    for tail in [
        &[0_u8; 4096][..],
        b"{\"type\":\"mess",
        b"\xff\xff",
        b"{\"type\":\"message\",\"id\":\"",
    ] {
        let whole = header() + &user("one", None, "one");
        let stored = Stored::of(&[whole.as_bytes(), tail].concat());
        let (mut session, problems) = stored.open().unwrap();
        assert!(problems.concat().contains("cut off"), "{problems:?}");
        say(&mut session, "two");
        drop(session);
        assert!(stored.text().starts_with(whole.as_bytes()));
        let torn = fs::read(stored.path.with_extension("jsonl.torn")).unwrap();
        assert_eq!(&torn[..tail.len()], tail);
        let (session, problems) = stored.open().unwrap();
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!(said(&session), ["one", "two"]);
    }
}

// Entries that couldn't be written wait and follow in order.
#[test]
fn entries_that_could_not_be_written_follow_in_order() {
    let root = tempfile::tempdir().unwrap();
    let mut session = Session::create(root.path(), Path::new("/w"));
    let folder = session.path().unwrap().parent().unwrap().to_owned();
    // A file blocks the folder's path.
    fs::write(&folder, "").unwrap();
    let message = |text: &str| Body::Message {
        message: Arc::new(Message::user(text, 1)),
    };
    let (_, text) = session.append(message("one")).unwrap();
    assert!(text.contains("Can't save the session"), "{text}");
    assert_eq!(
        session.append(message("two")),
        None,
        "the error was reported twice"
    );
    assert_eq!(said(&session), ["one", "two"], "memory lost an entry");
    fs::remove_file(&folder).unwrap();
    let (_, text) = session.append(message("three")).unwrap();
    assert!(text.contains("Saving works again"), "{text}");
    assert_eq!(session.append(message("four")), None);
    let path = session.path().unwrap().to_owned();
    // Someone deletes the folder with everything in it.
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(session.append(message("five")), None);
    drop(session);
    let (session, problems) = Session::open(root.path(), &path).unwrap();
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(said(&session), ["one", "two", "three", "four", "five"]);
    let lines = fs::read_to_string(&path).unwrap();
    let ids: Vec<Value> = lines
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone())
        .collect();
    let mut sorted = ids.clone();
    sorted.sort_by_key(ToString::to_string);
    sorted.dedup();
    assert_eq!(sorted.len(), ids.len(), "an entry was written twice");
}

#[test]
fn a_read_only_file_stays_unchanged() {
    let text = header() + &user("one", None, "one");
    let stored = Stored::of(text.as_bytes());
    let root = stored.root.path();
    fs::set_permissions(
        &stored.path,
        std::os::unix::fs::PermissionsExt::from_mode(0o400),
    )
    .unwrap();
    let writable = fs::OpenOptions::new()
        .append(true)
        .custom_flags(0)
        .open(&stored.path)
        .is_ok();
    if !writable {
        // Root can write everywhere.
        assert!(matches!(stored.open(), Err(OpenError::Io(_))));
    }
    let (copy, _) = Session::fork(root, &stored.path, Path::new("/w")).unwrap();
    assert_eq!(said(&copy), ["one"]);
    assert_eq!(SessionView::open(&stored.path).unwrap().branch().len(), 1);
    assert_eq!(stored.text(), text.as_bytes());
}

/// A conversation with branches, a compaction, labels and entries of other programs, line by line.
fn lines() -> Vec<String> {
    let mut lines: Vec<String> = (0..6)
        .map(|n| {
            let parent = (n > 0).then(|| format!("e{}", n - 1));
            user(
                &format!("e{n}"),
                parent.as_deref(),
                &format!("text {n} größe \"quoted\""),
            )
        })
        .collect();
    for entry in [
        json!({"type": "model_change", "id": "m", "parentId": "e5", "timestamp": "T", "provider": "p", "modelId": "m"}),
        json!({"type": "message", "id": "a", "parentId": "m", "timestamp": "T", "message": {"role": "assistant", "content": [{"type": "text", "text": "so"}], "stopReason": "stop", "timestamp": 1}}),
        json!({"type": "compaction", "id": "c", "parentId": "a", "timestamp": "T", "summary": "s", "firstKeptEntryId": "e4", "tokensBefore": 5}),
        json!({"type": "label", "id": "l", "parentId": "c", "timestamp": "T", "targetId": "e1", "label": "here"}),
        json!({"type": "session_info", "id": "i", "parentId": "l", "timestamp": "T", "name": "named"}),
        json!({"type": "custom", "customType": "theirs", "id": "o", "parentId": "i", "timestamp": "T", "data": {"deep": [1, {"x": null}]}}),
        json!({"type": "from_the_future", "id": "f", "parentId": "e2", "timestamp": "T"}),
    ] {
        lines.push(format!("{entry}\n"));
    }
    lines.push(user("e9", Some("f"), "another branch"));
    lines
}

#[derive(Clone, Debug)]
enum Damage {
    Flip(usize, u8),
    Insert(usize, Vec<u8>),
    Remove(usize, usize),
    Swap(usize, usize),
    Repeat(usize),
    Cut(usize),
}

fn damages() -> impl Strategy<Value = Vec<Damage>> {
    let at = || 0..4000_usize;
    let damage = prop_oneof![
        4 => (at(), any::<u8>()).prop_map(|(at, bits)| Damage::Flip(at, bits)),
        2 => (at(), proptest::collection::vec(any::<u8>(), 1..20)).prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
        2 => (at(), 1..60_usize).prop_map(|(at, count)| Damage::Remove(at, count)),
        1 => (at(), at()).prop_map(|(one, other)| Damage::Swap(one, other)),
        1 => at().prop_map(Damage::Repeat),
        1 => at().prop_map(Damage::Cut),
    ];
    proptest::collection::vec(damage, 1..6)
}

fn damaged(damages: &[Damage]) -> Vec<u8> {
    let mut lines = lines();
    for damage in damages {
        let count = lines.len();
        match damage {
            Damage::Swap(one, other) => lines.swap(one % count, other % count),
            Damage::Repeat(line) => lines.push(lines[line % count].clone()),
            _ => {}
        }
    }
    let mut text = lines.concat().into_bytes();
    for damage in damages {
        let at = |at: &usize, text: &[u8]| at % text.len().max(1);
        match damage {
            Damage::Flip(place, bits) if !text.is_empty() => {
                let place = at(place, &text);
                text[place] ^= bits;
            }
            Damage::Insert(place, bytes) => {
                let place = at(place, &text);
                text.splice(place..place, bytes.iter().copied());
            }
            Damage::Remove(place, count) => {
                let place = at(place, &text);
                let end = (place + count).min(text.len());
                text.drain(place..end);
            }
            Damage::Cut(place) => text.truncate(at(place, &text)),
            _ => {}
        }
    }
    [header().as_bytes(), &text].concat()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_damage_panics_and_no_intact_line_is_lost(damages in damages()) {
        let text = damaged(&damages);
        let stored = Stored::of(&text);
        let (mut session, _) = stored.open().unwrap();
        let tree = session.tree();
        let mut times: HashMap<String, usize> = HashMap::new();
        let intact = lines();
        for line in text.split(|byte| *byte == b'\n').skip(1) {
            if !intact.iter().any(|it| it.trim_end().as_bytes() == line) {
                continue;
            }
            let entry: Value = serde_json::from_slice(line).unwrap();
            let id = entry["id"].as_str().unwrap();
            *times.entry(id.to_owned()).or_default() += 1;
        }
        for (id, times) in times {
            let known = (1..=times).filter(|copy| {
                let id = if *copy == 1 { id.clone() } else { format!("{id}#{copy}") };
                tree.find(&id).is_some()
            });
            prop_assert_eq!(known.count(), times, "{}", id);
        }
        for node in tree.nodes() {
            let _ = session.load(node);
            prop_assert!(tree.path(node).len() <= tree.nodes().len());
        }
        let branch = session.branch();
        let _ = branch.read(0..branch.len());
        let _ = session.history();
        say(&mut session, "and on");
        drop(session);
        let after = stored.text();
        let torn = fs::read(stored.path.with_extension("jsonl.torn")).unwrap_or_default();
        let kept = text.len() - torn.len().saturating_sub(1);
        prop_assert!(after.starts_with(&text[..kept]));
        prop_assert_eq!(&torn[..torn.len().saturating_sub(1)], &text[kept..]);
        let (session, problems) = stored.open().unwrap();
        prop_assert!(!problems.concat().contains("cut off"));
        prop_assert_eq!(said(&session).pop(), Some("and on".to_owned()));
    }
}
