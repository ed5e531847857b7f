//! Folders that can have a trial, and folders that can't, each with its reason.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tiller::agent::trial::{Trial, changes, remove};

use super::fixture::{Repo, files, git, keep, write};

/// Changes one file in the trial, keeps it, and removes it.
fn keep_and_remove(repo: &Repo, trial: &Trial, path: &str) {
    write(&trial.tree, path, "tried\n");
    let kept = keep(trial).unwrap();
    assert_eq!(kept.changed.len(), 1, "{:?}", kept.changed);
    assert_eq!(repo.read(path), "tried\n");
    remove(trial).unwrap();
}

#[test]
fn a_folder_without_a_trial_says_why_and_what_to_do() {
    let empty = Repo::bare_of_commits();
    let bare = Repo::with(&[("a", "a")]);
    bare.git(&["config", "core.bare", "true"]);
    let broken = Repo::with(&[("a", "a")]);
    fs::write(broken.path(".git/HEAD"), "").unwrap();
    let lost = Repo::with(&[("a", "a")]);
    fs::remove_dir_all(lost.path(".git")).unwrap();
    fs::write(lost.path(".git"), "gitdir: /nowhere\n").unwrap();
    let inside = Repo::with(&[("a", "a")]);
    let plain = tempfile::tempdir().unwrap();
    let cases: [(&Repo, PathBuf, &str); 7] = [
        (&empty, empty.root.clone(), "has no commit yet"),
        (&bare, bare.root.clone(), "isn't in a working tree"),
        (&broken, broken.root.clone(), "isn't in a git repository"),
        (&lost, lost.root.clone(), "isn't in a git repository"),
        (&inside, inside.path(".git"), "isn't in a working tree"),
        (
            &inside,
            plain.path().to_owned(),
            "Run `git init` and make a first commit",
        ),
        (&inside, inside.path("gone"), "can't find"),
    ];
    for (repo, cwd, wanted) in cases {
        let error = repo.start_in(&cwd).unwrap_err().to_string();
        assert!(error.contains(wanted), "{wanted}: {error}");
        let left = fs::read_dir(&repo.home).into_iter().flatten().count();
        assert_eq!(left, 0, "{wanted}");
    }
}

#[test]
fn a_trial_begun_in_a_subfolder_works_there() {
    let repo = Repo::mixed();
    fs::create_dir_all(repo.path("build/empty")).unwrap();
    for below in ["src/deep", "build/empty"] {
        let trial = repo.start_in(&repo.path(below)).unwrap().trial;
        assert_eq!(trial.working_folder(), trial.tree.join(below));
        assert!(trial.working_folder().is_dir());
        write(&trial.tree, "changed", "tried\n");
        keep(&trial).unwrap();
        assert_eq!(repo.read("changed"), "tried\n");
        remove(&trial).unwrap();
        repo.write("changed", "again\n");
    }
}

#[test]
fn a_trial_through_a_link_belongs_to_the_real_folder() {
    let repo = Repo::mixed();
    let link = repo.home.parent().unwrap().join("link");
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink(&repo.root, &link).unwrap();
    let trial = repo.start_in(&link.join("src")).unwrap().trial;
    assert_eq!(trial.root, repo.root);
    keep_and_remove(&repo, &trial, "src/new");
}

#[test]
fn a_worktree_has_its_own_trials() {
    let repo = Repo::mixed();
    let side = repo.home.with_file_name("side");
    repo.git(&[
        "worktree",
        "add",
        "-q",
        "-b",
        "side",
        side.to_str().unwrap(),
    ]);
    write(&side, "only here", "x\n");
    let before = (repo.picture(), files(&side, true));
    let trial = repo.start_in(&side).unwrap().trial;
    assert_eq!(trial.root, side);
    assert!(trial.tree.join("only here").exists() && !trial.tree.join("new file").exists());
    write(&trial.tree, "clean", "tried\n");
    // A trial of a trial is one more worktree.
    let inner = repo.start_in(&trial.tree).unwrap().trial;
    assert_eq!(
        fs::read_to_string(inner.tree.join("clean")).unwrap(),
        "tried\n"
    );
    remove(&inner).unwrap();
    remove(&trial).unwrap();
    assert_eq!((repo.picture(), files(&side, true)), before);
}

#[test]
fn submodules_and_nested_repositories_are_copied_and_merged_back() {
    let inner = Repo::with(&[("lib.rs", "lib\n"), (".gitignore", "out\n")]);
    let repo = Repo::mixed();
    repo.git(&[
        "submodule",
        "add",
        "-q",
        inner.root.to_str().unwrap(),
        "sub",
    ]);
    repo.git(&[
        "submodule",
        "add",
        "-q",
        inner.root.to_str().unwrap(),
        "absent",
    ]);
    repo.commit();
    repo.git(&["submodule", "deinit", "-q", "-f", "absent"]);
    repo.write("sub/mine", "untracked in the submodule\n");
    repo.write("sub/out", "ignored there\n");
    repo.write("own/file", "own\n");
    git(&repo.path("own"), &["init", "-q"]);
    let before = repo.picture();
    let trial = repo.start();
    let names: Vec<String> = files(&trial.tree, false).into_keys().collect();
    for there in ["sub/lib.rs", "sub/mine", "own/file"] {
        assert!(names.contains(&there.to_owned()), "{there}: {names:?}");
    }
    assert!(!trial.tree.join("sub/out").exists() && trial.tree.join("absent").is_dir());
    assert_eq!(changes(&trial).unwrap(), []);
    remove(&trial).unwrap();
    assert_eq!(repo.picture(), before);

    let trial = repo.start();
    write(&trial.tree, "sub/lib.rs", "tried\n");
    write(&trial.tree, "sub/new", "tried\n");
    write(&trial.tree, "own/file", "tried\n");
    write(&trial.tree, "absent/new", "tried\n");
    write(&trial.tree, "made/file", "tried\n");
    git(&trial.tree.join("made"), &["init", "-q"]);
    keep(&trial).unwrap();
    for kept in [
        "sub/lib.rs",
        "sub/new",
        "own/file",
        "absent/new",
        "made/file",
    ] {
        assert_eq!(repo.read(kept), "tried\n", "{kept}");
    }
    assert!(repo.path("made/.git/HEAD").exists());
    assert_eq!(repo.read("sub/out"), "ignored there\n");
    remove(&trial).unwrap();
}

#[test]
fn a_sparse_checkout_stays_sparse() {
    for cone in ["--cone", "--no-cone"] {
        let repo = Repo::mixed();
        repo.commit();
        repo.write("other/file", "x\n");
        repo.commit();
        repo.git(&["sparse-checkout", "set", cone, "src"]);
        assert!(!repo.path("other").exists());
        let before = repo.picture();
        let trial = repo.start();
        assert!(!trial.tree.join("other").exists());
        assert_eq!(git(&trial.tree, &["status", "--porcelain"]), "", "{cone}");
        assert_eq!(changes(&trial).unwrap(), [], "{cone}");
        write(&trial.tree, "src/deep/inner.rs", "tried\n");
        keep(&trial).unwrap();
        assert_eq!(repo.read("src/deep/inner.rs"), "tried\n");
        repo.git(&["checkout", "-q", "src"]);
        remove(&trial).unwrap();
        let (before, after) = (
            before["worktrees"].clone(),
            repo.picture()["worktrees"].clone(),
        );
        assert_eq!(after, before, "{cone}");
    }
}

#[test]
fn filters_hooks_and_settings_of_the_repository_are_not_used() {
    let repo = Repo::with(&[("a.bin", "pointer\n"), ("text", "a\nb\n")]);
    let witness = repo.home.with_file_name("witness");
    let touch = format!("touch '{}'; cat", witness.display());
    repo.write(".gitattributes", "*.bin filter=big\n*.txt text eol=crlf\n");
    repo.commit();
    for (name, value) in [
        ("filter.big.clean", touch.as_str()),
        ("filter.big.smudge", &touch),
        ("filter.big.required", "true"),
        ("core.fsmonitor", &touch),
        ("core.autocrlf", "true"),
        ("core.splitIndex", "true"),
        ("core.untrackedCache", "true"),
        ("index.version", "4"),
        ("merge.conflictStyle", "diff3"),
        ("status.showUntrackedFiles", "no"),
    ] {
        repo.git(&["config", name, value]);
    }
    repo.write(".git/hooks/post-checkout", "#!/bin/sh\nexit 1\n");
    repo.mode(".git/hooks/post-checkout", 0o755);
    repo.write("a.bin", "the real bytes\n");
    repo.write("new.txt", "one\ntwo\n");
    let before = files(&repo.root, true);
    let trial = repo.start();
    assert_eq!(files(&trial.tree, true), before);
    write(&trial.tree, "new.txt", "one\r\ntwo\r\n");
    write(&trial.tree, "a.bin", "other bytes\n");
    keep(&trial).unwrap();
    assert_eq!(repo.read("new.txt"), "one\r\ntwo\r\n");
    assert_eq!(repo.read("a.bin"), "other bytes\n");
    remove(&trial).unwrap();
    assert!(!witness.exists());
}

#[test]
fn names_can_be_any_bytes() {
    let repo = Repo::mixed();
    let odd = OsStr::from_bytes(b"src/\xff\xfe \"x\"\n\ttab");
    fs::write(repo.root.join(odd), "odd\n").unwrap();
    fs::write(repo.path("-n"), "dash\n").unwrap();
    repo.commit();
    let trial = repo.start();
    assert_eq!(changes(&trial).unwrap(), []);
    fs::write(trial.tree.join(odd), "tried\n").unwrap();
    fs::write(trial.tree.join("-n"), "tried\n").unwrap();
    assert_eq!(keep(&trial).unwrap().changed.len(), 2);
    assert_eq!(fs::read(repo.root.join(odd)).unwrap(), b"tried\n");
    remove(&trial).unwrap();
}

#[test]
fn trials_stored_in_the_repository_are_not_part_of_it() {
    let mut repo = Repo::mixed();
    repo.home = repo.path(".local/share/tiller/try");
    let trial = repo.start();
    let other = repo.start();
    assert!(!other.tree.join(".local").exists());
    assert_eq!(changes(&trial).unwrap(), []);
    remove(&other).unwrap();
    keep_and_remove(&repo, &trial, "clean");
}

#[test]
fn special_files_are_left_alone() {
    let repo = Repo::mixed();
    let pipe = repo.path("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    // A link now replaces a folder of tracked files.
    fs::rename(repo.path("src"), repo.path("build/src")).unwrap();
    symlink("build/src", repo.path("src")).unwrap();
    let trial = repo.start();
    assert!(!trial.tree.join("pipe").exists());
    assert_eq!(
        fs::read_link(trial.tree.join("src")).unwrap(),
        Path::new("build/src")
    );
    keep_and_remove(&repo, &trial, "clean");
    assert!(pipe.exists() && repo.path("build/src/deep/inner.rs").exists());
}

#[test]
fn a_trial_can_begin_during_a_merge() {
    let repo = Repo::with(&[("a", "one\n")]);
    repo.git(&["checkout", "-q", "-b", "side"]);
    repo.write("a", "two\n");
    repo.commit();
    repo.git(&["checkout", "-q", "main"]);
    repo.write("a", "three\n");
    repo.commit();
    let merged = std::process::Command::new("git")
        .args(["merge", "-q", "side"])
        .current_dir(&repo.root)
        .output()
        .unwrap();
    assert!(!merged.status.success());
    let before = repo.picture();
    let trial = repo.start();
    assert_eq!(
        git(&trial.tree, &["ls-files", "-u"]),
        repo.git(&["ls-files", "-u"])
    );
    assert_eq!(changes(&trial).unwrap(), []);
    remove(&trial).unwrap();
    assert_eq!(repo.picture(), before);
    let trial = repo.start();
    keep_and_remove(&repo, &trial, "a");
}
