//! Random turns of tools and commands. Undo restores the files from before each turn, redo those
//! from after it. The user's git stays unchanged.
#![allow(
    clippy::case_sensitive_file_extension_comparisons,
    reason = "the names are those of this test"
)]

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use proptest::prelude::*;
use tiller::agent::undo::Direction;

use super::fixture::{Place, commit, git, git_picture, picture};

const PATHS: [&str; 10] = [
    "a", "b", "d/a", "d/b", "d/e/a", "f", "g/a", "n/a", "x.log", "run",
];

/// One change to a working tree.
#[derive(Clone, Debug)]
enum Act {
    Write(usize, u8),
    Append(usize, u8),
    Remove(usize),
    RemoveFolder(usize),
    MakeFolder(usize),
    Move(usize, usize),
    Link(usize, usize),
    HardLink(usize, usize),
    Mode(usize, u32),
    FolderMode(usize, u32),
    Git(usize),
}

const GIT: [&[&str]; 7] = [
    &["add", "-A"],
    &["commit", "-qam", "x"],
    &["stash", "-u"],
    &["stash", "pop"],
    &["reset", "--hard", "-q"],
    &["clean", "-fdq"],
    &["checkout", "-q", "HEAD~1"],
];

fn act() -> impl Strategy<Value = Act> {
    let path = || 0..PATHS.len();
    let mode = || prop_oneof![Just(0o755), Just(0o644), Just(0o600), Just(0o664)];
    prop_oneof![
        4 => (path(), 0..3u8).prop_map(|(path, text)| Act::Write(path, text)),
        3 => (path(), 0..3u8).prop_map(|(path, text)| Act::Append(path, text)),
        2 => path().prop_map(Act::Remove),
        1 => path().prop_map(Act::RemoveFolder),
        1 => path().prop_map(Act::MakeFolder),
        2 => (path(), path()).prop_map(|(from, to)| Act::Move(from, to)),
        1 => (path(), path()).prop_map(|(path, to)| Act::Link(path, to)),
        1 => (path(), path()).prop_map(|(path, to)| Act::HardLink(path, to)),
        2 => (path(), mode()).prop_map(|(path, mode)| Act::Mode(path, mode)),
        1 => (path(), Just(0o700)).prop_map(|(path, mode)| Act::FolderMode(path, mode)),
        2 => (0..GIT.len()).prop_map(Act::Git),
    ]
}

/// One turn: its changes, each made by a tool that names the file or by a command.
fn turn() -> impl Strategy<Value = Vec<(bool, Act)>> {
    prop::collection::vec((any::<bool>(), act()), 1..6)
}

/// Does what is possible. A command couldn't do the rest either.
fn perform(root: &Path, act: &Act) {
    let path = |at: &usize| root.join(PATHS[*at]);
    let lines = |text: u8| format!("{text}\n").repeat(12);
    if let Act::Move(from, _) | Act::HardLink(from, _) = act
        && PATHS[*from].ends_with(".log")
    {
        // A file that git ignored before is older than the turn, so it stays where it is now.
        return;
    }
    match act {
        Act::Write(at, text) => {
            let _ = fs::create_dir_all(path(at).parent().unwrap());
            let _ = fs::write(path(at), lines(*text));
        }
        Act::Append(at, text) => {
            if let Ok(old) = fs::read_to_string(path(at)) {
                let _ = fs::write(path(at), format!("{old}{text}\n"));
            }
        }
        Act::Remove(at) => drop(fs::remove_file(path(at))),
        Act::RemoveFolder(at) => {
            let parent = path(at).parent().unwrap().to_owned();
            if parent != root {
                // The nested repository is excluded, because nothing would restore it.
                for entry in fs::read_dir(&parent).into_iter().flatten().flatten() {
                    let _ = fs::remove_file(entry.path());
                }
                let _ = fs::remove_dir(parent);
            }
        }
        Act::MakeFolder(at) => drop(fs::create_dir_all(path(at))),
        Act::Move(from, to) => {
            let _ = fs::create_dir_all(path(to).parent().unwrap());
            let _ = fs::rename(path(from), path(to));
        }
        Act::Link(at, to) => {
            let _ = fs::remove_file(path(at));
            let _ = symlink(format!("no/{}", PATHS[*to]), path(at));
        }
        Act::HardLink(at, to) => drop(fs::hard_link(path(at), path(to))),
        Act::Mode(at, mode) => {
            if fs::symlink_metadata(path(at)).is_ok_and(|meta| meta.is_file()) {
                fs::set_permissions(path(at), Permissions::from_mode(*mode)).unwrap();
            }
        }
        Act::FolderMode(at, mode) => {
            if fs::symlink_metadata(path(at)).is_ok_and(|meta| meta.is_dir()) {
                fs::set_permissions(path(at), Permissions::from_mode(*mode)).unwrap();
            }
        }
        Act::Git(at) => drop(git(root, GIT[*at])),
    }
}

/// The files that a change writes, for a tool that names them first; none for a command.
fn named(act: &Act) -> Option<Vec<&'static str>> {
    match act {
        Act::Write(at, _) | Act::Append(at, _) | Act::Remove(at) => Some(vec![PATHS[*at]]),
        Act::Move(from, to) => Some(vec![PATHS[*from], PATHS[*to]]),
        _ => None,
    }
}

fn carry_out(place: &mut Place, at: usize, turn: &[(bool, Act)]) {
    place.undo.prompt("session", &format!("Prompt {at}"));
    // Half of the turns prepare while the model still writes. The result must be the same.
    if turn.len().is_multiple_of(2) {
        leaves_git(place, |place| place.undo.look_ahead(&place.root));
        assert!(!place.undo.is_open());
    }
    for (by_tool, act) in turn {
        // No tool moves folders or writes through links.
        let plain = |path: &&str| {
            // Tools' changes to ignored files are covered; commands' aren't.
            if path.ends_with(".log") {
                return false;
            }
            let meta = fs::symlink_metadata(place.root.join(path));
            meta.map_or(true, |meta| meta.is_file())
        };
        let named = named(act).filter(|paths| *by_tool && paths.iter().all(plain));
        let written: Vec<_> = named.into_iter().flatten().collect();
        let written: Vec<_> = written.iter().map(|path| place.root.join(path)).collect();
        let covered = leaves_git(place, |place| match &*written {
            [] => place.undo.before_command(&place.root).unwrap(),
            paths => place.undo.before_write(&place.root, paths).unwrap(),
        });
        place.turns.extend(covered.begun);
        perform(&place.root, act);
        if !written.is_empty() {
            place.undo.after_write(&written).unwrap();
        }
    }
    leaves_git(place, |place| place.undo.close().unwrap());
}

/// Does `work`, which must not touch a byte of the user's git: index, refs, objects.
fn leaves_git<T>(place: &Place, work: impl FnOnce(&Place) -> T) -> T {
    let before = git_picture(&place.root);
    let done = work(place);
    assert_eq!(git_picture(&place.root), before);
    done
}

/// The number of random cases. An environment variable raises it.
fn cases() -> u32 {
    let asked = std::env::var("PROPTEST_CASES").ok();
    asked.and_then(|cases| cases.parse().ok()).unwrap_or(48)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn turns_are_undone_and_redone_byte_by_byte(
        before in prop::collection::vec(act(), 0..6),
        turns in prop::collection::vec(turn(), 1..5),
        in_git in any::<bool>(),
        restarts in any::<bool>(),
    ) {
        let files = [("a", "1\n"), ("d/a", "1\n"), ("g/a", "1\n"), (".gitignore", "*.log\n"), ("n/a", "2\n")];
        let mut place = Place::plain(&files);
        if in_git {
            git(&place.root.join("n"), &["init", "-q"]);
            commit(&place.root.join("n"));
            git(&place.root, &["init", "-q", "-b", "main"]);
            commit(&place.root);
            commit(&place.root);
        }
        for act in &before {
            perform(&place.root, act);
        }
        let mut pictures = vec![picture(&place.root)];
        let mut changed = Vec::new();
        for (at, turn) in turns.iter().enumerate() {
            carry_out(&mut place, at, turn);
            let now = picture(&place.root);
            if pictures.last() != Some(&now) {
                changed.push(now.clone());
                pictures.push(now);
            }
        }
        let git_before = git_picture(&place.root);
        for _ in 0..2 {
            for wanted in pictures.iter().rev().skip(1) {
                if restarts {
                    place.restart();
                }
                prop_assert_eq!(place.go(Direction::Undo), Some(vec![]));
                prop_assert_eq!(&picture(&place.root), wanted);
            }
            prop_assert_eq!(place.go(Direction::Undo), None);
            for wanted in &pictures[1..] {
                prop_assert_eq!(place.go(Direction::Redo), Some(vec![]));
                prop_assert_eq!(&picture(&place.root), wanted);
            }
            prop_assert_eq!(place.go(Direction::Redo), None);
        }
        prop_assert_eq!(git_picture(&place.root), git_before);
    }
}

#[test]
fn a_file_can_replace_another_under_its_second_name() {
    let files = [
        ("a", "1\n"),
        ("d/a", "1\n"),
        ("g/a", "1\n"),
        (".gitignore", "*.log\n"),
        ("n/a", "2\n"),
    ];
    let mut place = Place::plain(&files);
    let turns = [
        vec![(false, Act::HardLink(6, 5))],
        vec![(false, Act::Move(7, 9))],
        vec![(false, Act::Write(5, 0)), (false, Act::Move(5, 9))],
    ];
    let mut pictures = vec![picture(&place.root)];
    for (at, turn) in turns.iter().enumerate() {
        carry_out(&mut place, at, turn);
        pictures.push(picture(&place.root));
    }
    for wanted in pictures.iter().rev().skip(1) {
        assert_eq!(place.go(Direction::Undo), Some(vec![]));
        assert_eq!(&picture(&place.root), wanted);
    }
    for wanted in &pictures[1..] {
        assert_eq!(place.go(Direction::Redo), Some(vec![]));
        assert_eq!(&picture(&place.root), wanted);
    }
}
