//! Which remotes a command of git reaches, as the repository says that git itself finds.

use std::fs;
use std::path::Path;
use std::process::Command;

use tiller::agent::workspace::{Places, Workspace};

fn git(folder: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.args(arguments).current_dir(folder);
    git.env("GIT_CONFIG_GLOBAL", "/dev/null");
    assert!(git.output().unwrap().status.success(), "{arguments:?}");
}

#[test]
fn the_remotes_are_those_of_the_repository_that_git_finds_and_their_addresses_count() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    git(&root, &["init", "-q", "-b", "main"]);
    git(&root, &["remote", "add", "origin", "https://example.org/a"]);
    fs::create_dir_all(root.join("src/deep")).unwrap();
    let workspace = Workspace::new(Places {
        cwd: root.clone(),
        ..Places::default()
    });
    let remotes = |at: &str| workspace.remotes(&root.join(at));
    let first = remotes("src/deep").unwrap();
    assert_eq!(first.names, ["origin"]);
    assert_eq!(first.pushes_to.as_deref(), Some("origin"));
    assert_eq!(first.hooks, Vec::<String>::new());
    // Where a branch is pushed to changes with each branch; it is looked up, and the addresses stay.
    git(&root, &["config", "branch.main.remote", "fork"]);
    let now = remotes("").unwrap();
    assert_eq!(now.fingerprint, first.fingerprint);
    assert_eq!(now.fetches_from.as_deref(), Some("fork"));
    for setting in [
        ["remote.origin.pushurl", "https://example.org/b"],
        [
            "url.https://evil.example/.insteadOf",
            "https://example.org/",
        ],
        ["core.sshCommand", "./x"],
    ] {
        git(&root, &["config", setting[0], setting[1]]);
        assert_ne!(remotes("").unwrap().fingerprint, first.fingerprint);
        git(&root, &["config", "--unset", setting[0]]);
        assert_eq!(remotes("").unwrap().fingerprint, first.fingerprint);
    }
    fs::write(root.join(".git/hooks/pre-push"), "#!/bin/sh\n").unwrap();
    assert_eq!(remotes("").unwrap().hooks, ["pre-push"]);
    // Another repository in it, whatever it is called.
    git(&root, &["init", "-q", "src"]);
    assert_eq!(remotes("src/deep"), None);
    fs::create_dir_all(root.join("bare/objects")).unwrap();
    fs::write(root.join("bare/HEAD"), "ref: refs/heads/main\n").unwrap();
    assert_eq!(remotes("bare"), None);
    git(&root, &["config", "include.path", "../settings"]);
    assert_eq!(remotes(""), None);
}
