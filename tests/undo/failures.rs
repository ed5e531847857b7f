//! Undo steps that fail, and an undo killed in the middle of a file. It runs in a separate process
//! whose files can't exceed a size limit. A larger write fails, as on a full disk. If the limit's
//! signal isn't ignored, it kills the process in the middle of a write instead.

use std::cell::Cell;
use std::env;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tiller::agent::undo::Direction::{Redo, Undo};

use super::fixture::{Place, QUOTA, picture};

const HOME: &str = "TILLER_TEST_UNDO_HOME";
const TURN: &str = "TILLER_TEST_UNDO_TURN";
/// The largest file of the limited process, in bytes.
const LIMIT: usize = 32 * 1024;

/// A helper process instead of a test: undoes a turn and reports which files failed.
#[test]
#[ignore = "run by the tests of this file"]
fn limited() {
    let (Some(home), Ok(turn)) = (env::var_os(HOME), env::var(TURN)) else {
        return;
    };
    let undo = tiller::agent::undo::Undo::new(PathBuf::from(home), QUOTA);
    let outcome = undo.go(std::slice::from_ref(&turn), Undo, &turn).unwrap();
    for failed in outcome.failed {
        println!("failed: {} {}", failed.path.display(), failed.why);
    }
}

/// Undoes the last turn in a process that can't write large files. Returns the files that failed,
/// or none if the process was killed.
fn undo_limited(place: &Place, is_killed: bool) -> Option<Vec<PathBuf>> {
    let trap = if is_killed { "" } else { "trap '' XFSZ; " };
    let script = format!("ulimit -c 0; ulimit -f {}; {trap}exec \"$@\"", LIMIT / 512);
    let mut command = Command::new("sh");
    command
        .args(["-c", &script, "sh"])
        .arg(env::current_exe().unwrap())
        .args(["--exact", "undo::failures::limited"])
        .args(["--ignored", "--nocapture"])
        .env(HOME, &place.home)
        .env(TURN, place.turns.last().unwrap());
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.success(), !is_killed, "{text}");
    let failed = text
        .lines()
        .filter_map(|line| line.split("failed: ").nth(1));
    let failed = failed.map(|line| PathBuf::from(line.split(' ').next().unwrap()));
    (!is_killed).then(|| failed.collect())
}

/// Large files that a turn has shrunk, one of them with two names, and a small file.
fn place() -> Place {
    let large = "large\n".repeat(LIMIT / 2);
    let mut place = Place::plain(&[("large", &large), ("linked", &large), ("small", "1\n")]);
    fs::hard_link(place.root.join("linked"), place.root.join("other")).unwrap();
    place.command("First", |place| {
        for path in ["large", "linked", "small"] {
            place.write(path, "new\n");
        }
    });
    place
}

fn inode(path: &Path) -> u64 {
    fs::metadata(path).unwrap().ino()
}

/// Undoes the rest of the turn, then redoes and undoes it.
fn finish(place: &mut Place, before: &std::collections::BTreeMap<String, String>) {
    place.restart();
    let known = place.turns.clone();
    let turns = place.undo.recover("session", &known, &known).unwrap();
    assert_eq!(turns, known);
    assert_eq!(place.go(Undo), Some(vec![]));
    assert_eq!(&picture(&place.root), before);
    assert_eq!(place.go(Undo), None);
    assert_eq!(place.go(Redo), Some(vec![]));
    assert_eq!(place.read("linked").unwrap(), "new\n");
    assert_eq!(place.go(Undo), Some(vec![]));
    assert_eq!(&picture(&place.root), before);
    let [linked, other] = ["linked", "other"].map(|name| inode(&place.root.join(name)));
    assert_eq!(linked, other);
}

/// Undo can stop between turns. It names what it restored and what it didn't, and the next undo
/// does the rest.
#[test]
fn undoing_many_turns_can_be_stopped() {
    let mut place = Place::plain(&[("a", "0\n"), ("b", "0\n")]);
    place.writes("one", &[("a", "1\n")]);
    place.writes("two", &[("a", "2\n"), ("b", "2\n")]);
    place.writes("three", &[("b", "3\n")]);
    let paths = |names: &[&str]| {
        names
            .iter()
            .map(|it| place.root.join(it))
            .collect::<Vec<_>>()
    };
    let looks = Cell::new(0);
    let third = || looks.replace(looks.get() + 1) == 2;
    let outcome = place
        .undo
        .go_back(&place.turns, &place.turns, third)
        .unwrap();
    assert_eq!(Vec::from_iter(outcome.changed), paths(&["a", "b"]));
    let failed: Vec<_> = outcome.failed.into_iter().map(|it| it.path).collect();
    assert_eq!(failed, paths(&["a"]));
    assert_eq!(
        (place.read("a").unwrap(), place.read("b").unwrap()),
        ("1\n".into(), "0\n".into())
    );
    let stopped = place.undo.go_back(&place.turns, &place.turns, || true);
    assert!(stopped.unwrap_err().to_string().contains("stopped"));
    let outcome = place
        .undo
        .go_back(&place.turns, &place.turns, || false)
        .unwrap();
    assert_eq!(Vec::from_iter(outcome.changed), paths(&["a"]));
    assert_eq!(place.read("a").unwrap(), "0\n");
}

#[test]
fn a_failed_undo_names_the_files_and_can_be_repeated() {
    let mut place = place();
    let after = picture(&place.root);
    let failed = undo_limited(&place, false).unwrap();
    let names = ["large", "linked", "other"].map(|name| place.root.join(name));
    assert_eq!(failed, names);
    // A file whose write failed keeps its content, even one that is overwritten in place.
    let now = picture(&place.root);
    for name in ["large", "linked", "other"] {
        assert_eq!(now[name], after[name], "{name}");
    }
    assert_eq!(place.read("small").unwrap(), "1\n");
    place.restart();
    let preview = place.undo.preview(&place.turns, Undo).unwrap().unwrap();
    let left: Vec<_> = preview.files.into_iter().map(|file| file.path).collect();
    assert_eq!(left, names);
    let mut before = now;
    let large = "large\n".repeat(LIMIT / 2);
    for name in ["large", "linked", "other"] {
        before.insert(name.to_owned(), after[name].replace("new\n", &large));
    }
    finish(&mut place, &before);
}

#[test]
fn the_next_undo_finishes_one_killed_in_a_hard_linked_file() {
    let mut place = place();
    fs::write(place.root.join("large"), "mine\n").unwrap();
    assert_eq!(undo_limited(&place, true), None);
    let half = fs::metadata(place.root.join("linked")).unwrap().len();
    assert_eq!(half, LIMIT as u64);
    place.write("large", &"large\n".repeat(LIMIT / 2));
    place.write("small", "1\n");
    let mut before = picture(&place.root);
    let large = before["large"].clone();
    for name in ["linked", "other"] {
        before.insert(name.to_owned(), large.clone());
    }
    finish(&mut place, &before);
}

#[test]
fn an_interrupted_undo_can_be_redone() {
    let mut place = place();
    let after = picture(&place.root);
    fs::write(place.root.join("large"), "mine\n").unwrap();
    assert_eq!(undo_limited(&place, true), None);
    place.write("large", "new\n");
    place.restart();
    assert_eq!(place.go(Redo), Some(vec![]));
    assert_eq!(picture(&place.root), after);
    assert_eq!(place.go(Redo), None);
}

// An access control list in the kernel's format: owner, a user, group, mask, others.
fn access_list() -> Vec<u8> {
    let entries: [(u16, u16, u32); 5] = [
        (1, 6, u32::MAX),
        (2, 4, 4242),
        (4, 4, u32::MAX),
        (16, 4, u32::MAX),
        (32, 0, u32::MAX),
    ];
    let entries = entries.into_iter().flat_map(|(tag, may, id)| {
        let bytes = [tag.to_le_bytes(), may.to_le_bytes()].concat();
        [bytes, id.to_le_bytes().to_vec()].concat()
    });
    2u32.to_le_bytes().into_iter().chain(entries).collect()
}

#[test]
fn attributes_and_access_lists_survive_undo_and_redo() {
    const LIST: &str = "system.posix_acl_access";
    let mut place = Place::plain(&[("a", "1\n")]);
    let path = place.root.join("a");
    xattr::set(&path, "user.note", b"keep").unwrap();
    let has_lists = match xattr::set(&path, LIST, &access_list()) {
        Ok(()) => true,
        // Not every file system supports them.
        Err(error) => {
            assert_eq!(error.kind(), std::io::ErrorKind::Unsupported);
            false
        }
    };
    place.command("First", |place| place.write("a", "2\n"));
    for direction in [Undo, Redo, Undo] {
        assert_eq!(place.go(direction), Some(vec![]));
        let note = xattr::get(&path, "user.note").unwrap();
        assert_eq!(note.as_deref(), Some(&b"keep"[..]), "{direction:?}");
        if has_lists {
            assert_eq!(xattr::get(&path, LIST).unwrap(), Some(access_list()));
        }
    }
}
