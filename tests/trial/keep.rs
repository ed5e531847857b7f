//! Keeping a trial: changes of the trial, of the user, and of both.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use tiller::agent::trial::{self, Trial, TrialError};

use super::fixture::{Repo, files, git, keep, write};

/// Changes a working tree.
type Act = fn(&Path);

fn nothing(_: &Path) {}

fn remove(root: &Path, path: &str) {
    let path = root.join(path);
    if path.is_dir() {
        fs::remove_dir_all(path).unwrap();
    } else {
        fs::remove_file(path).unwrap();
    }
}

fn mode(root: &Path, path: &str, mode: u32) {
    fs::set_permissions(root.join(path), Permissions::from_mode(mode)).unwrap();
}

fn start() -> (Repo, Trial) {
    let repo = Repo::mixed();
    repo.write("text", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    let trial = repo.start();
    (repo, trial)
}

#[test]
fn the_trials_changes_are_applied() {
    let acts: [(&str, Act); 14] = [
        ("change", |root| write(root, "clean", "new\n")),
        ("change of a change", |root| {
            write(root, "changed", "three\n");
        }),
        ("change of what is not tracked", |root| {
            write(root, "new file", "x");
        }),
        ("add", |root| write(root, "a/b/c", "new\n")),
        ("remove", |root| remove(root, "src")),
        ("rename", |root| {
            fs::rename(root.join("clean"), root.join("src/renamed")).unwrap();
        }),
        ("executable", |root| mode(root, "clean", 0o755)),
        ("no longer executable", |root| mode(root, "run.sh", 0o644)),
        ("binary", |root| {
            fs::write(root.join("binary"), [0, 1, 2]).unwrap();
        }),
        ("link", |root| {
            remove(root, "link");
            symlink("changed", root.join("link")).unwrap();
        }),
        ("link to file", |root| {
            remove(root, "link");
            write(root, "link", "no link\n");
        }),
        ("file to link", |root| {
            remove(root, "clean");
            symlink("changed", root.join("clean")).unwrap();
        }),
        ("file to folder", |root| {
            remove(root, "clean");
            write(root, "clean/inner", "x\n");
        }),
        ("folder to file", |root| {
            remove(root, "src");
            write(root, "src", "a file\n");
        }),
    ];
    for (name, act) in acts {
        let (repo, trial) = start();
        let index = repo.git(&["ls-files", "--stage"]);
        act(&trial.tree);
        let mut wanted = files(&trial.tree, false);
        let kept = keep(&trial).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(!kept.changed.is_empty() && kept.merged == 0, "{name}");
        let mut found = files(&repo.root, false);
        found.retain(|path, _| !path.starts_with("build") && path != "debug.log");
        wanted.retain(|path, _| path != ".git");
        assert_eq!(found, wanted, "{name}");
        assert_eq!(repo.git(&["ls-files", "--stage"]), index, "{name}");
        assert_eq!(keep(&trial).unwrap().changed, kept.changed, "{name}: again");
        trial::remove(&trial).unwrap();
        assert!(repo.path("build/out").exists(), "{name}");
    }
}

#[test]
fn the_users_changes_meanwhile_stay() {
    let acts: [(&str, Act, Act); 7] = [
        (
            "other file",
            |root| write(root, "changed", "mine\n"),
            |root| {
                write(root, "clean", "tried\n");
            },
        ),
        (
            "other lines",
            |root| write(root, "text", "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n"),
            |root| {
                write(root, "text", "1\n2\n3\n4\n5\n6\n7\n8\n10\n");
            },
        ),
        (
            "the same",
            |root| write(root, "clean", "same\n"),
            |root| {
                write(root, "clean", "same\n");
            },
        ),
        (
            "mode and content",
            |root| mode(root, "text", 0o755),
            |root| {
                write(root, "text", "other\n");
            },
        ),
        (
            "both removed",
            |root| remove(root, "clean"),
            |root| remove(root, "clean"),
        ),
        (
            "new beside new",
            |root| write(root, "a/mine", "x"),
            |root| write(root, "a/tried", "y"),
        ),
        (
            "only the user",
            |root| write(root, "clean", "mine\n"),
            nothing,
        ),
    ];
    for (name, mine, tried) in acts {
        let (repo, trial) = start();
        mine(&repo.root);
        let own = files(&repo.root, false);
        tried(&trial.tree);
        keep(&trial).unwrap_or_else(|error| panic!("{name}: {error}"));
        let found = files(&repo.root, false);
        let (base, copy) = (Repo::mixed(), files(&trial.tree, false));
        base.write("text", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
        let base = files(&base.root, false);
        for path in own.keys().chain(copy.keys()).filter(|path| *path != ".git") {
            let (own, copy, base) = (own.get(path), copy.get(path), base.get(path));
            let ignored = path.starts_with("build") || path == "debug.log";
            match found.get(path) {
                found if own == base && !ignored => assert_eq!(found, copy, "{name}: {path}"),
                found if copy == base || ignored => assert_eq!(found, own, "{name}: {path}"),
                found if own == copy => assert_eq!(found, own, "{name}: {path}"),
                found => match name {
                    "other lines" => {
                        let merged = "0 \"0\\n1\\n2\\n3\\n4\\n5\\n6\\n7\\n8\\n10\\n\"";
                        assert_eq!(found.unwrap(), merged);
                    }
                    "mode and content" => assert_eq!(found.unwrap(), "100 \"other\\n\""),
                    _ => panic!("{name}: {path}: {found:?}"),
                },
            }
        }
        trial::remove(&trial).unwrap();
    }
}

#[test]
fn on_a_conflict_nothing_is_written_and_the_files_are_named() {
    let acts: [(&str, Act, Act, &str); 11] = [
        (
            "same line",
            |root| write(root, "text", "mine\n"),
            |root| write(root, "text", "tried\n"),
            "text: changed in the same place here and in the trial",
        ),
        (
            "binary",
            |root| fs::write(root.join("binary"), [0, 1]).unwrap(),
            |root| fs::write(root.join("binary"), [0, 2]).unwrap(),
            "binary: changed in the same place here and in the trial",
        ),
        (
            "removed here",
            |root| remove(root, "text"),
            |root| write(root, "text", "tried\n"),
            "text: removed here, changed in the trial",
        ),
        (
            "removed there",
            |root| write(root, "text", "mine\n"),
            |root| remove(root, "text"),
            "text: changed here, removed in the trial",
        ),
        (
            "added twice",
            |root| write(root, "n", "mine\n"),
            |root| write(root, "n", "tried\n"),
            "n: added here and in the trial, with different content",
        ),
        (
            "ignored file in the way",
            nothing,
            |root| {
                write(root, ".gitignore", "");
                write(root, "debug.log", "tried\n");
            },
            "debug.log: added here and in the trial, with different content",
        ),
        (
            "link",
            |root| {
                remove(root, "link");
                symlink("a", root.join("link")).unwrap();
            },
            |root| {
                remove(root, "link");
                symlink("b", root.join("link")).unwrap();
            },
            "link: changed here and in the trial, and can't be merged",
        ),
        (
            "folder in the way",
            |root| {
                remove(root, "text");
                write(root, "text/mine", "x");
            },
            |root| write(root, "text", "tried\n"),
            "text: removed here, changed in the trial",
        ),
        (
            "folder with more in it",
            |root| write(root, "src/mine", "x"),
            |root| {
                remove(root, "src");
                write(root, "src", "a file\n");
            },
            "src: is a folder with other files here",
        ),
        (
            "file where a folder is to be",
            |root| write(root, "a", "mine"),
            |root| write(root, "a/b", "tried"),
            "a/b: is in a folder that is a file or a link here",
        ),
        (
            "link where a folder was",
            |root| {
                fs::rename(root.join("src"), root.join("build/src")).unwrap();
                symlink("build/src", root.join("src")).unwrap();
            },
            |root| write(root, "src/tried", "x"),
            "src/tried: is in a folder that is a file or a link here",
        ),
    ];
    for (name, mine, tried, wanted) in acts {
        let (repo, trial) = start();
        mine(&repo.root);
        tried(&trial.tree);
        // Another change, which could be applied alone.
        write(&trial.tree, "clean", "tried\n");
        let before = repo.picture();
        let error = keep(&trial).expect_err(name).to_string();
        let text = format!("1 file is in the way, so nothing was written:\n  {wanted}");
        assert_eq!(error, text, "{name}");
        assert_eq!(repo.picture(), before, "{name}");
        assert!(trial.is_there(), "{name}");
        trial::remove(&trial).unwrap();
    }
}

#[test]
fn commits_of_the_trial_are_applied_as_file_changes() {
    let (repo, trial) = start();
    let before = repo.git(&["log", "--all", "--oneline"]);
    write(&trial.tree, "clean", "committed\n");
    git(&trial.tree, &["add", "-A"]);
    git(&trial.tree, &["commit", "-q", "-m", "In the trial"]);
    keep(&trial).unwrap();
    trial::remove(&trial).unwrap();
    assert_eq!(repo.read("clean"), "committed\n");
    assert_eq!(repo.git(&["log", "--all", "--oneline"]), before);
}

#[test]
fn permissions_and_hard_links_of_a_file_stay() {
    let (repo, trial) = start();
    repo.mode("clean", 0o600);
    fs::hard_link(repo.path("text"), repo.path("build/text")).unwrap();
    write(&trial.tree, "clean", "secret\n");
    write(&trial.tree, "text", "new\n");
    write(&trial.tree, "tool", "#!/bin/sh\n");
    mode(&trial.tree, "tool", 0o700);
    keep(&trial).unwrap();
    let found = files(&repo.root, true);
    assert_eq!(found["clean"], "600 \"secret\\n\"");
    assert_eq!(found["tool"], "700 \"#!/bin/sh\\n\"");
    assert_eq!(repo.read("build/text"), "new\n");
}

#[test]
fn a_keep_that_fails_in_the_middle_is_rolled_back() {
    if nix::unistd::Uid::effective().is_root() {
        return;
    }
    let (repo, trial) = start();
    write(&trial.tree, "clean", "tried\n");
    remove(&trial.tree, "src/deep/inner.rs");
    mode(&repo.root, "src/deep", 0o555);
    let before = repo.picture();
    let error = keep(&trial).unwrap_err();
    assert!(matches!(error, TrialError::Io { .. }), "{error}");
    assert_eq!(repo.picture(), before);
    mode(&repo.root, "src/deep", 0o755);
    keep(&trial).unwrap();
    assert_eq!(repo.read("clean"), "tried\n");
}

#[test]
fn attributes_survive_a_keep() {
    let (repo, trial) = start();
    xattr::set(repo.path("clean"), "user.note", b"keep").unwrap();
    write(&trial.tree, "clean", "new\n");
    keep(&trial).unwrap();
    assert_eq!(repo.read("clean"), "new\n");
    let note = xattr::get(repo.path("clean"), "user.note").unwrap();
    assert_eq!(note.as_deref(), Some(&b"keep"[..]));
}

#[test]
fn new_files_that_git_ignores_are_kept_where_nothing_is_in_the_way() {
    let rules = "data/\n*.log\ntarget/\nnode_modules/\nhere\n";
    let repo = Repo::with(&[(".gitignore", rules), ("clean", "clean\n")]);
    for (path, text) in [
        ("data/raw/a.csv", "mine\n"),
        ("data/same", "same\n"),
        ("data/sub", "a file\n"),
        ("target/out", "mine\n"),
    ] {
        repo.write(path, text);
    }
    symlink("/nowhere", repo.path("here")).unwrap();
    let trial = repo.start();
    assert_eq!(trial::not_copied(&trial), Some("data".into()));
    for path in [
        "clean",
        "data/out/summary.csv",
        "data/raw/a.csv",
        "data/same",
        "data/sub/b",
        "data/node_modules/c",
        "here/d",
        "src/e.log",
        "target/f",
        "web/node_modules/g",
    ] {
        write(&trial.tree, path, "tried\n");
    }
    write(&trial.tree, "data/same", "same\n");
    symlink("out", trial.tree.join("data/link")).unwrap();
    let kept = keep(&trial).unwrap();
    assert_eq!(kept.changed.len(), 1);
    let ignored = kept.ignored;
    let copied = ["data/link", "data/out/summary.csv", "src/e.log"];
    assert_eq!(ignored.copied, copied.map(Path::new));
    let left: Vec<String> = ignored.left.iter().map(ToString::to_string).collect();
    let in_a_file = "is in a folder that is a file or a link here";
    assert_eq!(
        left,
        [
            "data/raw/a.csv: exists here with other content".to_owned(),
            format!("data/sub/b: {in_a_file}"),
            format!("here/d: {in_a_file}"),
        ]
    );
    assert_eq!(repo.read("data/out/summary.csv"), "tried\n");
    assert_eq!(repo.read("data/raw/a.csv"), "mine\n");
    assert!(!repo.path("data/node_modules").exists() && !repo.path("web").exists());
    let stored = trial::discard(&trial).unwrap();
    let tried = fs::read_to_string(stored.join("data/raw/a.csv")).unwrap();
    assert_eq!(tried, "tried\n");
}

#[test]
fn what_builds_make_again_is_not_missed_in_the_copy() {
    let repo = Repo::with(&[(".gitignore", "target/\nnode_modules/\n")]);
    repo.write("target/out", "x");
    repo.write("web/node_modules/a", "x");
    let trial = repo.start();
    assert_eq!(trial::not_copied(&trial), None);
}
