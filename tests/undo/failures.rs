//! An undo of which a step fails, or that is killed in the middle of a file. It runs in a process of
//! its own, whose files may not grow beyond a limit: what is larger cannot be written, as on a full
//! disk; or, where the signal for that is not ignored, it kills the process in the middle of a write.

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
/// What a file of the limited process may hold, in bytes.
const LIMIT: usize = 32 * 1024;

/// Not a test: undoes a turn and says which files failed.
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

/// Undoes the last turn in a process that cannot write large files. Gives the files that failed;
/// none where it was killed.
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

/// Large files, one with two names, that a turn has made small; and a small one.
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

/// Undoes what is left of the turn, and then goes forth and back again.
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

/// Between turns it can be stopped: what came back is named, what did not too, and the next time does it.
#[test]
fn going_back_many_turns_can_be_stopped() {
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
fn an_undo_that_fails_stays_open_names_the_files_and_can_be_repeated() {
    let mut place = place();
    let after = picture(&place.root);
    let failed = undo_limited(&place, false).unwrap();
    let names = ["large", "linked", "other"].map(|name| place.root.join(name));
    assert_eq!(failed, names);
    // What could not be written holds what it held, also the file that is overwritten.
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
fn an_undo_that_is_killed_in_a_file_with_two_names_is_finished_by_the_next() {
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
fn an_undo_that_was_cut_short_can_be_taken_back() {
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

// An access control list in the form of the kernel: the owner, a user, the group, the mask, others.
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
        // Not every file system has them.
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
