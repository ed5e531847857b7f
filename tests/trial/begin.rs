//! What a trial begins with, and that a discarded trial leaves nothing.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use tiller::agent::trial::{Trial, TrialError, begin, changes, discard, remove};
use tokio_util::sync::CancellationToken;

use super::fixture::{Repo, files, git, write};

#[test]
fn a_trial_begins_with_the_current_files() {
    let repo = Repo::mixed();
    let before = repo.picture();
    let trial = repo.start();
    let mut wanted = files(&repo.root, true);
    wanted.retain(|path, _| !path.starts_with("build") && path != "debug.log");
    assert_eq!(files(&trial.tree, true), wanted);
    // Both trees have the same staged files and the same HEAD; the trial is on no branch.
    for question in [
        &["status", "--porcelain"][..],
        &["diff", "--cached"],
        &["diff"],
        &["rev-parse", "HEAD"],
    ] {
        assert_eq!(
            git(&trial.tree, question),
            repo.git(question),
            "{question:?}"
        );
    }
    assert_eq!(git(&trial.tree, &["branch", "--show-current"]), "");
    let mtime = |path: &std::path::Path| fs::metadata(path).unwrap().mtime_nsec();
    assert_eq!(mtime(&trial.tree.join("clean")), mtime(&repo.path("clean")));
    assert_eq!(changes(&trial).unwrap(), []);
    remove(&trial).unwrap();
    assert_eq!(repo.picture(), before);
}

#[test]
fn a_discarded_trial_leaves_nothing() {
    let repo = Repo::mixed();
    let before = repo.picture();
    let trial = repo.start();
    write(&trial.tree, "clean", "other\n");
    write(&trial.tree, "sub/new", "new\n");
    write(&trial.tree, "cache.log", "ignored\n");
    fs::remove_file(trial.tree.join("src/deep/inner.rs")).unwrap();
    fs::set_permissions(trial.tree.join("sub"), Permissions::from_mode(0o555)).unwrap();
    git(&trial.tree, &["add", "-A"]);
    git(&trial.tree, &["commit", "-q", "-m", "In the trial"]);
    remove(&trial).unwrap();
    assert_eq!(repo.picture(), before);
    assert_eq!(fs::read_dir(&repo.home).unwrap().count(), 0);
    assert!(!repo.path(".git/worktrees").exists());
    // Removing it again does nothing.
    remove(&trial).unwrap();
}

#[test]
fn the_files_of_the_last_discarded_trial_are_kept() {
    let repo = Repo::mixed();
    let before = repo.picture();
    for text in ["one\n", "two\n"] {
        let trial = repo.start();
        write(&trial.tree, "clean", text);
        let kept = discard(&trial).unwrap();
        assert_eq!(fs::read_to_string(kept.join("clean")).unwrap(), text);
        assert_eq!(repo.picture(), before);
        assert_eq!(fs::read_dir(kept.parent().unwrap()).unwrap().count(), 1);
    }
}

#[test]
fn a_trial_is_removed_even_if_its_git_file_was_changed() {
    for damage in ["gone", "garbage"] {
        let repo = Repo::mixed();
        let before = repo.picture();
        let trial = repo.start();
        let link = trial.tree.join(".git");
        fs::remove_file(&link).unwrap();
        if damage == "garbage" {
            fs::write(&link, "gitdir: nowhere").unwrap();
        }
        write(&trial.tree, "new", "new\n");
        assert_eq!(changes(&trial).unwrap().len(), 1, "{damage}");
        remove(&trial).unwrap();
        assert_eq!(repo.picture(), before, "{damage}");
    }
}

#[test]
fn a_trial_stopped_while_it_begins_leaves_nothing() {
    let repo = Repo::mixed();
    let before = repo.picture();
    let cancel = CancellationToken::new();
    cancel.cancel();
    let error = begin(&repo.home, &repo.root, "/session".as_ref(), &cancel).unwrap_err();
    assert!(matches!(error, TrialError::Cancelled), "{error}");
    assert_eq!(repo.picture(), before);
    assert_eq!(fs::read_dir(&repo.home).unwrap().count(), 0);
}

#[test]
fn a_trials_record_is_read_back() {
    let repo = Repo::mixed();
    let trial = repo.start();
    let json = serde_json::to_string(&trial).unwrap();
    assert_eq!(serde_json::from_str::<Trial>(&json).unwrap(), trial);
    assert!(trial.is_there());
    remove(&trial).unwrap();
    assert!(!trial.is_there());
}
