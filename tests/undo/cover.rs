//! What undo covers, for whom, and what tiller reports about the rest.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use tiller::agent::undo::Direction::{Redo, Undo};

use super::fixture::{Place, QUOTA, git, picture};

#[test]
fn a_turn_of_tools_and_commands_is_undone_and_redone() {
    let mut place = Place::with(&[("a", "1\n2\n"), ("b", "1\n")]);
    place.writes("First", &[("a", "1\n3\n"), ("new/c", "x\n")]);
    place.command("Second", |place| {
        fs::remove_file(place.root.join("b")).unwrap();
        place.write("a", "4\n");
    });
    let preview = place.undo.preview(&place.turns, Undo).unwrap().unwrap();
    assert_eq!(preview.prompt, "Second");
    let lines: Vec<_> = preview.files.iter().map(|file| file.lines).collect();
    assert_eq!(lines, [Some((2, 1)), Some((1, 0))]);
    assert_eq!(place.go(Undo), Some(vec![]));
    assert_eq!(place.read("a").unwrap(), "1\n3\n");
    assert_eq!(place.read("b").unwrap(), "1\n");
    assert_eq!(place.go(Undo), Some(vec![]));
    assert_eq!(place.read("a").unwrap(), "1\n2\n");
    assert!(!place.root.join("new").exists());
    assert_eq!(place.go(Undo), None);
    assert_eq!(place.go(Redo), Some(vec![]));
    assert_eq!(place.read("new/c").unwrap(), "x\n");
    assert_eq!(place.go(Redo), Some(vec![]));
    assert_eq!(place.read("a").unwrap(), "4\n");
    assert_eq!(place.go(Redo), None);
}

#[test]
fn command_changes_are_known_while_their_turn_is_open() {
    let mut place = Place::with(&[("a", "1\n"), ("b", "1\n"), ("c", "1\n")]);
    let changed = |place: &Place| {
        let mut changed = place.undo.changed_by_commands("session").unwrap();
        changed.sort();
        let names = changed
            .iter()
            .map(|it| it.strip_prefix(&place.root).unwrap());
        names.map(|it| it.display().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(changed(&place), Vec::<String>::new());
    place.writes("By name", &[("a", "2\n")]);
    place.command("By a command", |place| place.write("b", "2\n"));
    place.undo.prompt("session", "Open");
    place.undo.before_command(&place.root).unwrap();
    place.write("new/d", "1\n");
    fs::remove_file(place.root.join("c")).unwrap();
    assert_eq!(changed(&place), ["b", "c", "new/d"]);
    assert!(
        place
            .undo
            .changed_by_commands("another")
            .unwrap()
            .is_empty()
    );
    place.restart();
    assert_eq!(changed(&place), ["b", "c", "new/d"]);
}

#[test]
fn later_changes_by_others_are_named_and_stay() {
    let mut place = Place::with(&[("a", "1\n"), ("b", "1\n")]);
    place.writes("First", &[("a", "2\n"), ("b", "2\n")]);
    place.write("a", "mine\n");
    let kept = place.go(Undo).unwrap();
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0].path, place.root.join("a"));
    assert_eq!(kept[0].why, "changed since by someone else");
    assert_eq!(place.read("a").unwrap(), "mine\n");
    assert_eq!(place.read("b").unwrap(), "1\n");
}

#[test]
fn only_files_that_git_does_not_have_are_copied() {
    let big = "0123456789\n".repeat(20_000);
    let mut place = Place::with(&[("clean", &big), (".gitignore", "ignored\n")]);
    place.write("ignored", &big);
    place.write("dirty", "x\n");
    // git can't be sure about a file that changed at the very moment it looked.
    git(&place.root, &["update-index", "--refresh"]);
    place.command("First", |place| {
        fs::remove_file(place.root.join("dirty")).unwrap();
    });
    assert!(place.kept_bytes() < 1000, "{}", place.kept_bytes());
    place.go(Undo).unwrap();
    assert_eq!(place.read("dirty").unwrap(), "x\n");
}

#[test]
fn files_that_are_too_large_to_copy_are_named() {
    let big = "x".repeat(QUOTA as usize / 8 + 1);
    let mut place = Place::plain(&[("big", &big), ("small", "1\n")]);
    let covered = place.command("First", |place| {
        place.write("big", "gone");
        place.write("small", "gone");
    });
    assert_eq!(
        covered.uncovered,
        [(place.root.join("big"), "too large to copy")]
    );
    let kept = place.go(Undo).unwrap();
    assert_eq!(kept[0].path, place.root.join("big"));
    assert_eq!(kept[0].why, "too large to copy");
    assert_eq!(place.read("small").unwrap(), "1\n");
}

#[test]
fn a_folder_in_place_of_an_uncovered_file_stays() {
    let big = "x".repeat(QUOTA as usize / 8 + 1);
    let mut place = Place::plain(&[("big", &big)]);
    place.command("First", |place| {
        fs::remove_file(place.root.join("big")).unwrap();
        fs::create_dir(place.root.join("big")).unwrap();
        place.write("big/x", "hi\n");
    });
    let kept = place.go(Undo).unwrap();
    let kept: Vec<_> = kept
        .iter()
        .map(|one| (&one.path, one.why.as_str()))
        .collect();
    assert_eq!(kept, [(&place.root.join("big"), "too large to copy")]);
    assert!(place.root.join("big").is_dir());
}

/// Reading any of these takes forever, or nearly so.
#[test]
fn endless_files_left_by_commands_are_not_read() {
    let hostile: [fn(&Path); 3] = [
        |root| {
            let index = root.join(".git/index");
            fs::remove_file(&index).unwrap();
            nix::unistd::mkfifo(&index, nix::sys::stat::Mode::S_IRWXU).unwrap();
        },
        |root| {
            let index = fs::File::create(root.join(".git/index")).unwrap();
            index.set_len(20 << 30).unwrap();
        },
        |root| {
            let tracked = fs::File::create(root.join("tracked")).unwrap();
            tracked.set_len(20 << 30).unwrap();
        },
    ];
    for leave in hostile {
        let (done, ended) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let mut place = Place::with(&[("tracked", "1\n")]);
            place.write("other", "1\n");
            place.command("First", |place| leave(&place.root));
            place.command("Second", |place| place.write("other", "2\n"));
            place.go(Undo).unwrap();
            done.send(place.read("other")).unwrap();
        });
        let other = ended.recv_timeout(Duration::from_secs(30)).unwrap();
        assert_eq!(other.unwrap(), "1\n");
    }
}

#[test]
fn files_that_only_become_visible_are_not_taken_for_new() {
    let mut place = Place::with(&[(".gitignore", "secret\n")]);
    place.write("secret", "mine\n");
    wait_for_a_later_tick(&place.root.join("secret"));
    place.command("First", |place| {
        place.write(".gitignore", "");
        place.write("new", "x\n");
    });
    place.go(Undo).unwrap();
    assert_eq!(place.read("secret").unwrap(), "mine\n");
    assert_eq!(place.read("new"), None);
    place.go(Redo).unwrap();
    place.command("Second", |place| place.write(".gitignore", "secret\nnew\n"));
    place.go(Undo).unwrap();
    assert_eq!(place.read("new").unwrap(), "x\n");
}

/// Waits until the coarse clock of file times has advanced past this file's time.
fn wait_for_a_later_tick(file: &Path) {
    let born = fs::metadata(file).unwrap().modified().unwrap();
    while born + Duration::from_millis(50) > SystemTime::now() {
        std::thread::yield_now();
    }
}

#[test]
fn a_killed_turn_is_completed_from_the_disk() {
    let mut place = Place::with(&[("a", "1\n"), ("b", "1\n")]);
    place.write("dirty", "1\n");
    let before = picture(&place.root);
    place.undo.prompt("session", "First");
    let paths = [place.root.join("a")];
    let covered = place.undo.before_write(&place.root, &paths).unwrap();
    place.write("a", "2\n");
    place.undo.before_command(&place.root).unwrap();
    place.write("b", "2\n");
    place.write("c", "2\n");
    fs::remove_file(place.root.join("dirty")).unwrap();
    // Like after a kill: the journal stays, its lock goes.
    let mut turns = Vec::new();
    let deadline = Instant::now() + Duration::from_secs(20);
    // Another test that spawns a program right now inherits the lock until the program has started.
    while turns.is_empty() && Instant::now() < deadline {
        place.restart();
        turns = place.undo.recover("session", &[], &[]).unwrap();
    }
    assert_eq!(Some(&turns[0]), covered.begun.as_ref());
    let others = place.undo.recover("other", &[], &[]).unwrap();
    assert_eq!(others, Vec::<String>::new());
    place.turns = turns;
    assert_eq!(place.go(Undo), Some(vec![]));
    assert_eq!(picture(&place.root), before);
}

#[test]
fn the_next_undo_completes_a_killed_one() {
    let mut place = Place::with(&[("a", "1\n"), ("b", "1\n"), ("c", "1\n")]);
    let before = picture(&place.root);
    place.command("First", |place| {
        for path in ["a", "b", "c", "d/e"] {
            place.write(path, "2\n");
        }
    });
    // Like after a kill when half of the files were restored.
    let record = place
        .home
        .join("turns")
        .join(&place.turns[0])
        .join("turn.json");
    let json = fs::read_to_string(&record).unwrap();
    assert!(json.contains(r#""status":"done""#), "{json}");
    fs::write(
        &record,
        json.replace(r#""status":"done""#, r#""status":"undoing""#),
    )
    .unwrap();
    place.write("a", "1\n");
    place.write("c", "mine\n");
    place.restart();
    let turns = place
        .undo
        .recover("session", &place.turns, &place.turns)
        .unwrap();
    assert_eq!(turns, place.turns);
    // The user hasn't asked for it yet.
    assert_eq!(place.read("b").unwrap(), "2\n");
    let preview = place.undo.preview(&turns, Undo).unwrap().unwrap();
    let named: Vec<_> = preview.files.iter().map(|file| &file.path).collect();
    let left = ["b", "d", "d/e"].map(|path| place.root.join(path));
    assert_eq!(named, left.iter().collect::<Vec<_>>());
    let kept = place.go(Undo).unwrap();
    assert_eq!(kept.len(), 1);
    assert_eq!(place.read("c").unwrap(), "mine\n");
    place.write("c", "1\n");
    assert_eq!(picture(&place.root), before);
    assert_eq!(place.go(Undo), None);
}

#[test]
fn two_programs_in_one_folder_each_undo_their_own_files() {
    let mut place = Place::with(&[("a", "1\n"), ("b", "1\n")]);
    let other = tiller::agent::undo::Undo::new(place.home.clone(), QUOTA);
    other.prompt("other", "Theirs");
    place.undo.prompt("session", "Ours");
    let covered = place.undo.before_command(&place.root).unwrap();
    place.turns.extend(covered.begun);
    place.write("a", "ours\n");
    let path = [place.root.join("b")];
    let theirs = other
        .before_write(&place.root, &path)
        .unwrap()
        .begun
        .unwrap();
    place.write("b", "theirs\n");
    place.undo.close().unwrap();
    other.close().unwrap();
    assert_eq!(place.go(Undo), Some(vec![]));
    assert_eq!(place.read("a").unwrap(), "1\n");
    assert_eq!(place.read("b").unwrap(), "theirs\n");
    let theirs = [theirs];
    let preview = other.preview(&theirs, Undo).unwrap().unwrap();
    let outcome = other.go(&theirs, Undo, &preview.turn).unwrap();
    assert_eq!((outcome.kept, outcome.failed), (vec![], vec![]));
    assert_eq!(place.read("b").unwrap(), "1\n");
}

#[test]
fn line_ends_that_git_converts_are_restored() {
    let mut place = Place::with(&[("a", "1\r\n2\r\n"), (".gitattributes", "* text=auto\n")]);
    git(&place.root, &["add", "--renormalize", "."]);
    git(&place.root, &["commit", "-qm", "y"]);
    wait_for_a_later_tick(&place.root.join("a"));
    git(&place.root, &["update-index", "--really-refresh"]);
    place.command("First", |place| {
        fs::remove_file(place.root.join("a")).unwrap();
    });
    assert_eq!(place.go(Undo), Some(vec![]));
    assert_eq!(place.read("a").unwrap(), "1\r\n2\r\n");
}

#[test]
fn the_oldest_turns_are_evicted_and_reported() {
    let mut place = Place::plain(&[("a", "1\n")]);
    let text = |at: usize| format!("{at}").repeat(1 << 19);
    let mut told = Vec::new();
    for at in 0..40 {
        let covered = place.command(&format!("Turn {at}"), |place| place.write("a", &text(at)));
        told.extend(Some(covered.evicted).filter(|evicted| *evicted > 0));
    }
    assert!(place.kept_bytes() <= QUOTA, "{}", place.kept_bytes());
    assert_eq!(told.len(), 1, "{told:?}");
    let mut undone = 0;
    while let Some(kept) = place.go(Undo) {
        assert_eq!(kept, vec![]);
        undone += 1;
        assert_eq!(place.read("a").unwrap(), text(39 - undone));
    }
    assert!(undone > 3 && undone < 40, "{undone}");
}

#[test]
fn records_count_toward_the_limit_like_contents() {
    let mut place = Place::with(&[("a", "1\n")]);
    let long = "x".repeat(200);
    for turn in 0..12 {
        place.command("Many small files", |place| {
            for at in 0..2_500 {
                place.write(&format!("{long}/{turn}/{at}"), "");
            }
        });
    }
    // Another test that spawns a program right now inherits our lock until the program has started.
    let turns = place.home.join("turns");
    for _ in 0..20 {
        place.command("One more", |place| place.write("a", "x"));
        place.command("One less", |place| place.write("a", "1\n"));
    }
    let records = fs::read_dir(turns).unwrap();
    let records = records.map(|turn| turn.unwrap().path().join("turn.json"));
    let bytes: u64 = records
        .map(|it| fs::metadata(it).map_or(0, |meta| meta.len()))
        .sum();
    assert!(bytes <= QUOTA, "{bytes}");
    for _ in 0..41 {
        assert_eq!(place.go(Undo), Some(vec![]));
    }
    assert_eq!(place.read(&format!("{long}/11/0")), None);
    assert!(place.read(&format!("{long}/10/0")).is_some());
}

#[test]
fn turns_in_the_folder_of_an_ended_trial_are_skipped() {
    let mut place = Place::with(&[("a", "1\n")]);
    place.writes("First", &[("a", "2\n")]);
    let trial = place.home.parent().unwrap().join("trials/one");
    fs::create_dir_all(&trial).unwrap();
    let root = std::mem::replace(&mut place.root, trial.clone());
    place.writes("In the trial", &[("a", "3\n")]);
    place.root = root;
    fs::remove_dir_all(&trial).unwrap();
    let preview = place.undo.preview(&place.turns, Undo).unwrap().unwrap();
    assert_eq!(preview.prompt, "First");
    assert_eq!(place.go(Undo), Some(vec![]));
    assert_eq!(place.read("a").unwrap(), "1\n");
}

#[test]
fn damage_in_the_store_does_not_block_other_undos() {
    let mut place = Place::with(&[("a", "1\n")]);
    place.undo.prompt("other", "Cut short");
    place.undo.before_command(&place.root).unwrap();
    let turns = place.home.join("turns");
    for turn in fs::read_dir(&turns).unwrap().map(Result::unwrap) {
        fs::write(turn.path().join("tree-0"), "").unwrap();
    }
    fs::write(turns.join(".DS_Store"), "").unwrap();
    fs::write(place.home.join("objects/.DS_Store"), "").unwrap();
    place.restart();
    let big = |at: usize| format!("{at:02}").repeat(QUOTA as usize / 20);
    for at in 0..14 {
        place.write("big", &big(at));
        place.command("Next", |place| place.write("big", "x"));
    }
    assert!(place.kept_bytes() <= QUOTA);
    assert_eq!(place.go(Undo), Some(vec![]));
    assert_eq!(place.read("big").unwrap(), big(13));
}

#[test]
fn a_copy_emptied_by_a_power_cut_is_never_restored() {
    let mut place = Place::plain(&[("a", "1\n")]);
    place.command("First", |place| place.write("a", "2\n"));
    for folder in fs::read_dir(place.home.join("objects"))
        .unwrap()
        .map(Result::unwrap)
    {
        for copy in fs::read_dir(folder.path()).unwrap().map(Result::unwrap) {
            fs::write(copy.path(), "").unwrap();
        }
    }
    let kept = place.go(Undo).unwrap();
    assert_eq!(kept[0].why, "its copy is gone or damaged");
    assert_eq!(place.read("a").unwrap(), "2\n");
    place.write("a", "1\n");
    place.command("Second", |place| place.write("a", "3\n"));
    assert_eq!(place.go(Undo), Some(vec![]));
    assert_eq!(place.read("a").unwrap(), "1\n");
}

#[test]
fn user_changes_after_the_tool_do_not_belong_to_the_turn() {
    let mut place = Place::with(&[("a", "1\n"), ("b", "1\n"), ("c", "1\n")]);
    place.undo.prompt("session", "First");
    let [a, b, c] = ["a", "b", "c"].map(|name| place.root.join(name));
    for path in [&a, &b] {
        let paths = std::slice::from_ref(path);
        let covered = place.undo.before_write(&place.root, paths).unwrap();
        place.turns.extend(covered.begun);
        fs::write(path, "2\n").unwrap();
        place.undo.after_write(paths).unwrap();
    }
    fs::write(&a, "mine\n").unwrap();
    // A file that the tool writes again still belongs to the turn. So does one that a command may
    // have changed.
    place
        .undo
        .before_write(&place.root, std::slice::from_ref(&b))
        .unwrap();
    fs::write(&b, "3\n").unwrap();
    place.undo.close().unwrap();
    let kept = place.go(Undo).unwrap();
    let named: Vec<_> = kept.iter().map(|kept| (&kept.path, &*kept.why)).collect();
    assert_eq!(named, [(&a, "changed since by someone else")]);
    assert_eq!(place.read("a").unwrap(), "mine\n");
    assert_eq!(place.read("b").unwrap(), "1\n");

    place.undo.prompt("session", "Second");
    let covered = place
        .undo
        .before_write(&place.root, std::slice::from_ref(&c))
        .unwrap();
    place.turns.extend(covered.begun);
    fs::write(&c, "2\n").unwrap();
    place.undo.after_write(std::slice::from_ref(&c)).unwrap();
    place.undo.before_command(&place.root).unwrap();
    fs::write(&c, "3\n").unwrap();
    // This also holds if only the turn's journal is left.
    place.restart();
    place.turns = place
        .undo
        .recover("session", &place.turns, &place.turns)
        .unwrap();
    assert_eq!(place.go(Undo), Some(vec![]));
    assert_eq!(place.read("c").unwrap(), "1\n");
}

#[test]
fn hard_links_are_restored_and_split_as_before() {
    let mut place = Place::plain(&[("a", "1\n"), ("c", "1\n"), ("d", "2\n")]);
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| place.root.join(name));
    fs::hard_link(&a, &b).unwrap();
    let inode = |path: &Path| std::os::unix::fs::MetadataExt::ino(&fs::metadata(path).unwrap());
    let before = inode(&a);
    place.command("First", |place| {
        // Both names share one content, and two names become one file.
        place.write("a", "changed\n");
        fs::remove_file(&d).unwrap();
        fs::hard_link(&c, &d).unwrap();
    });
    assert_eq!(place.go(Undo), Some(vec![]));
    for (path, text) in [("a", "1\n"), ("b", "1\n"), ("c", "1\n"), ("d", "2\n")] {
        assert_eq!(place.read(path).unwrap(), text, "{path}");
    }
    assert_eq!((inode(&a), inode(&b)), (before, before));
    assert_ne!(inode(&c), inode(&d));
}

#[test]
fn ignored_but_tracked_files_are_covered_in_every_turn() {
    let mut place = Place::with(&[("a.log", "1\n"), ("out/b", "1\n"), ("c", "1\n")]);
    place.write(".gitignore", "*.log\nout/\n");
    let change = |place: &Place, text: &str| {
        place.write("a.log", text);
        place.write("out/b", text);
    };
    place.command("First", |place| change(place, "2\n"));
    place.command("Second", |place| {
        fs::remove_file(place.root.join("a.log")).unwrap();
        fs::remove_file(place.root.join("out/b")).unwrap();
    });
    place.command("Third", |place| place.write("c", "2\n"));
    change(&place, "mine\n");
    place.command("Fourth", |place| change(place, "3\n"));
    assert_eq!(place.go(Undo), Some(vec![]));
    for path in ["a.log", "out/b"] {
        assert_eq!(place.read(path).unwrap(), "mine\n", "{path}");
    }
}

// A sparse file, which would take hours to read.
#[test]
fn a_huge_file_is_covered_and_undone_without_being_read() {
    const SIZE: u64 = 8 << 40;
    let mut place = Place::plain(&[("a", "1\n")]);
    let [huge, new] = ["huge", "new"].map(|name| place.root.join(name));
    let make = |path: &Path| fs::File::create(path).unwrap().set_len(SIZE).unwrap();
    make(&huge);
    place.undo.prompt("session", "First");
    let covered = place
        .undo
        .before_write(&place.root, std::slice::from_ref(&huge))
        .unwrap();
    assert_eq!(covered.uncovered, [(huge.clone(), "too large to copy")]);
    place.turns.extend(covered.begun);
    place.undo.after_write(std::slice::from_ref(&huge)).unwrap();
    place
        .undo
        .before_write(&place.root, std::slice::from_ref(&new))
        .unwrap();
    make(&new);
    place.undo.close().unwrap();
    assert_eq!(place.go(Undo), Some(vec![]));
    assert!(!new.exists());
    assert_eq!(fs::metadata(&huge).unwrap().len(), SIZE);
}
