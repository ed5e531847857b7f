//! Random work in both trees. A discard leaves everything as before. A keep gives the result of a
//! merge path by path, or changes nothing.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use proptest::prelude::*;
use tiller::agent::trial::{TrialError, remove};

use super::fixture::{Repo, files, git, keep};

const PATHS: [&str; 9] = ["a", "b", "d/a", "d/b", "d/e/a", "f", "g/a", "x.log", "run"];

/// One change to a working tree.
#[derive(Clone, Debug)]
enum Act {
    Write(usize, u8),
    Append(usize, u8),
    Remove(usize),
    RemoveFolder(usize),
    Move(usize, usize),
    Link(usize, usize),
    Mode(usize, bool),
    Stage,
    Commit,
}

fn act() -> impl Strategy<Value = Act> {
    let path = || 0..PATHS.len();
    prop_oneof![
        4 => (path(), 0..3u8).prop_map(|(path, text)| Act::Write(path, text)),
        3 => (path(), 0..3u8).prop_map(|(path, text)| Act::Append(path, text)),
        2 => path().prop_map(Act::Remove),
        1 => path().prop_map(Act::RemoveFolder),
        2 => (path(), path()).prop_map(|(from, to)| Act::Move(from, to)),
        1 => (path(), path()).prop_map(|(path, to)| Act::Link(path, to)),
        2 => (path(), any::<bool>()).prop_map(|(path, on)| Act::Mode(path, on)),
        1 => Just(Act::Stage),
        1 => Just(Act::Commit),
    ]
}

/// Does what is possible. A user couldn't do the rest either.
fn perform(root: &Path, act: &Act) {
    let path = |at: &usize| root.join(PATHS[*at]);
    let lines = |text: u8| format!("{text}\n").repeat(12);
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
            if parent != root && parent.starts_with(root) {
                let _ = fs::remove_dir_all(parent);
            }
        }
        Act::Move(from, to) => {
            let _ = fs::create_dir_all(path(to).parent().unwrap());
            let _ = fs::rename(path(from), path(to));
        }
        Act::Link(at, to) => {
            let _ = fs::remove_file(path(at));
            let _ = symlink(format!("no/{}", PATHS[*to]), path(at));
        }
        Act::Mode(at, on) => {
            let mode = if *on { 0o755 } else { 0o644 };
            if fs::symlink_metadata(path(at)).is_ok_and(|meta| meta.is_file()) {
                fs::set_permissions(path(at), Permissions::from_mode(mode)).unwrap();
            }
        }
        Act::Stage => drop(git(root, &["add", "-A"])),
        Act::Commit => {
            git(root, &["add", "-A"]);
            git(root, &["commit", "-q", "--allow-empty", "-m", "x"]);
        }
    }
}

fn repo(before: &[Act]) -> Repo {
    let repo = Repo::with(&[
        ("a", "1\n"),
        ("d/a", "1\n"),
        ("g/a", "1\n"),
        (".gitignore", "*.log"),
    ]);
    for act in before {
        perform(&repo.root, act);
    }
    repo
}

type Files = BTreeMap<String, String>;

/// Files, executable modes and links, without ignored files.
fn tracked(root: &Path) -> Files {
    let mut found = files(root, false);
    found.retain(|path, _| !path.starts_with("x."));
    found
}

/// The result of a merge path by path, or none if both sides changed a path differently.
fn merged(base: &Files, ours: &Files, theirs: &Files) -> Option<Files> {
    let paths = base.keys().chain(ours.keys()).chain(theirs.keys());
    let mut found = Files::new();
    for path in paths {
        let (base, ours, theirs) = (base.get(path), ours.get(path), theirs.get(path));
        let result = match () {
            () if ours == theirs || theirs == base => ours,
            () if ours == base => theirs,
            () => return None,
        };
        found.extend(result.map(|it| (path.clone(), it.clone())));
    }
    Some(found)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_discard_changes_nothing(
        before in prop::collection::vec(act(), 0..6),
        tried in prop::collection::vec(act(), 0..10),
    ) {
        let repo = repo(&before);
        let picture = repo.picture();
        let trial = repo.start();
        for act in &tried {
            perform(&trial.tree, act);
        }
        remove(&trial).unwrap();
        prop_assert_eq!(repo.picture(), picture);
        prop_assert_eq!(fs::read_dir(&repo.home).unwrap().count(), 0);
    }

    #[test]
    fn a_keep_merges_or_writes_nothing(
        before in prop::collection::vec(act(), 0..6),
        mine in prop::collection::vec(act(), 0..4),
        tried in prop::collection::vec(act(), 0..10),
    ) {
        let repo = repo(&before);
        let trial = repo.start();
        let base = tracked(&trial.tree);
        for act in &mine {
            perform(&repo.root, act);
        }
        for act in &tried {
            perform(&trial.tree, act);
        }
        let (ours, theirs) = (tracked(&repo.root), tracked(&trial.tree));
        let picture = repo.picture();
        match keep(&trial) {
            Err(TrialError::Conflicts(_)) => prop_assert_eq!(repo.picture(), picture),
            Err(error) => prop_assert!(false, "{}", error),
            Ok(kept) => {
                let found = tracked(&repo.root);
                match merged(&base, &ours, &theirs) {
                    Some(wanted) => prop_assert_eq!(found, wanted),
                    // Texts were merged, or a mode and a text.
                    None => prop_assert!(kept.merged > 0 || !kept.changed.is_empty()),
                }
                for part in ["index", "refs", "head"] {
                    prop_assert_eq!(&repo.picture()[part], &picture[part]);
                }
            }
        }
        remove(&trial).unwrap();
    }
}
