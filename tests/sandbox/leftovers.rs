//! Files that a command leaves in the project and that something outside would follow later. The
//! command may create them. tiller moves them aside when the command has ended, or before anything
//! runs outside.

use std::fs;
use std::os::unix::fs::symlink;

use tiller::agent::process::sandbox::Network;
use tiller::agent::workspace::Repositories;

use super::place::{Place, machine_has_all_layers};

/// What a command does, and what tiller then removes from its place.
const LEFTOVERS: [(&str, &str); 10] = [
    // tiller moves the link, not the user's own settings that it points to.
    (
        "ln -s @OUT@ .zed && touch .zed/settings.json 2>&-; true",
        ".zed",
    ),
    (
        "mkdir sub/.tiller && echo evil > sub/.tiller/config.toml",
        "sub/.tiller",
    ),
    ("mkdir -p a/b && ln -s @OUT@ a/b/.tiller", "a/b/.tiller"),
    ("ln -s @OUT@ .git/info", ".git/info"),
    ("ln -s @OUT@ .git/worktrees", ".git/worktrees"),
    ("ln -s @OUT@ .git/modules", ".git/modules"),
    ("ln -s @OUT@/file .git/index", ".git/index"),
    (
        "mkdir -p .git/objects && ln -s @OUT@ .git/objects/pack",
        ".git/objects/pack",
    ),
    (
        "mkdir -p .git/refs/heads/a && ln -s @OUT@/file .git/refs/heads/a/b",
        ".git/refs/heads/a/b",
    ),
    (
        "mkdir -p .git/objects/info && echo @OUT@ > .git/objects/info/alternates",
        ".git/objects/info/alternates",
    ),
];

#[tokio::test]
async fn files_that_something_outside_would_follow_are_moved_aside() {
    if !machine_has_all_layers() {
        return;
    }
    for (script, path) in LEFTOVERS {
        let place = Place::new();
        let workspace = place.workspace();
        let mut repositories = Repositories::default();
        let sandbox = workspace.sandbox(&mut repositories, true, Network::Loopback);
        repositories.another_command();
        let out = place.path("outside").display().to_string();
        let ran = place
            .run(
                sandbox,
                &format!("{} && echo DONE", script.replace("@OUT@", &out)),
            )
            .await;
        assert!(ran.output.contains("DONE"), "{script}: {ran:?}");
        // As before a command outside, while this one may still run.
        let said = workspace.before_outside(&mut repositories);
        let path = place.path("ws").join(path);
        assert!(path.symlink_metadata().is_err(), "{script}: {said:?}");
        let aside = format!("{}.refused", path.display());
        assert!(fs::symlink_metadata(&aside).is_ok(), "{script}");
        // The supervisor itself reports what it moved.
        let by_supervisor = path.ends_with("alternates");
        assert!(by_supervisor || said.concat().contains(&aside), "{said:?}");
    }
}

#[tokio::test]
async fn the_users_own_files_there_stay_and_are_read_only() {
    if !machine_has_all_layers() {
        return;
    }
    let place = Place::new();
    let ws = place.path("ws");
    symlink(place.path("outside"), ws.join(".git/info")).unwrap();
    fs::create_dir(ws.join("sub/.tiller")).unwrap();
    let workspace = place.workspace();
    let mut repositories = Repositories::default();
    for round in 0..2 {
        let sandbox = workspace.sandbox(&mut repositories, true, Network::Loopback);
        repositories.another_command();
        let ran = place.run(sandbox, "echo evil > sub/.tiller/x").await;
        assert!(ran.output.contains("Read-only"), "{ran:?}");
        let said = workspace.after_command(&mut repositories, true);
        assert_eq!(said, Vec::<String>::new());
        assert!(ws.join(".git/info").is_symlink() && ws.join("sub/.tiller").is_dir());
        if round == 0 {
            // The user creates it while no command runs.
            symlink(place.path("outside"), ws.join(".git/worktrees")).unwrap();
            assert!(workspace.before_outside(&mut repositories).is_empty());
        }
    }
    assert!(ws.join(".git/worktrees").is_symlink());
}
