//! Which remotes a git command reaches, according to the repository that git itself finds.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use tiller::agent::workspace::{FILTER, Places, TRANSPORT, Workspace};

fn git(folder: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.args(arguments).current_dir(folder);
    git.env("GIT_CONFIG_GLOBAL", "/dev/null");
    assert!(git.output().unwrap().status.success(), "{arguments:?}");
}

fn program(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn remotes_come_from_the_repository_that_git_finds() {
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
    // The push target changes with each branch, so tiller looks it up. The addresses stay.
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
    program(&root.join(".git/hooks/pre-push"), "#!/bin/sh\n");
    assert_eq!(remotes("").unwrap().hooks, ["pre-push"]);
    // A nested repository, whatever its name.
    git(&root, &["init", "-q", "src"]);
    assert_eq!(remotes("src/deep"), None);
    fs::create_dir_all(root.join("bare/objects")).unwrap();
    fs::write(root.join("bare/HEAD"), "ref: refs/heads/main\n").unwrap();
    assert_eq!(remotes("bare"), None);
    git(&root, &["config", "include.path", "../settings"]);
    assert_eq!(remotes(""), None);
}

#[test]
fn includes_in_the_users_settings_are_read_too() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().canonicalize().unwrap();
    let root = home.join("shop");
    fs::create_dir(&root).unwrap();
    git(&root, &["init", "-q"]);
    git(&root, &["remote", "add", "origin", "https://example.org/a"]);
    fs::write(home.join("more"), "[user]\n\tname = x\n").unwrap();
    let to = |section: &str, path: &str| format!("[{section}]\n\tpath = {path}\n");
    let work = "includeIf \"gitdir:~/work/\"";
    for (settings, more, known) in [
        (to(work, "~/more"), "[user]\n\tname = x\n", true),
        (to("include", "more"), "[include]\n\tpath = missing\n", true),
        (to("include", "~/missing"), "", true),
        (to(work, "more"), "[remote]\n\tpushDefault = fork\n", false),
        (to(work, "more"), "[core]\n\thooksPath = ~/hooks\n", false),
        (
            to(work, "more"),
            "[fetch]\n\trecurseSubmodules = true\n",
            false,
        ),
        (to(work, "more"), "[submodule]\n\trecurse = true\n", false),
        (to(work, "more"), "[include]\n\tpath = more\n", false),
        (to(work, "more"), "[core", false),
        (to(work, "~root/x"), "", false),
        (to(work, "more"), "[core]\n\tsshCommand = ./ssh\n", false),
        (
            to(work, "more"),
            "[filter \"n\"]\n\tclean = python3.11 -m n\n",
            false,
        ),
        (
            to(work, "more"),
            "[filter \"n\"]\n\tclean = git-lfs clean -- %f\n",
            true,
        ),
        (
            to(work, "more"),
            "[credential]\n\thelper = !/usr/bin/gh auth git-credential\n",
            true,
        ),
        (to(work, "shop/more"), "", false),
    ] {
        fs::write(home.join(".gitconfig"), &settings).unwrap();
        fs::write(home.join("more"), more).unwrap();
        fs::write(root.join("more"), "").unwrap();
        let workspace = Workspace::new(Places {
            cwd: root.clone(),
            home: Some(home.clone()),
            ..Places::default()
        });
        let remotes = workspace.remotes(&root);
        let is_known = remotes.is_some_and(|it| it.hooks.is_empty());
        assert_eq!(is_known, known, "{settings}{more}");
    }
}

#[test]
fn a_husky_hook_counts_if_it_exists() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    git(&root, &["init", "-q"]);
    git(&root, &["config", "core.hooksPath", ".husky/_"]);
    fs::create_dir_all(root.join(".husky/_")).unwrap();
    for name in ["_/h", "_/pre-auto-gc", "_/pre-commit", "pre-commit"] {
        program(&root.join(".husky").join(name), "");
    }
    let workspace = Workspace::new(Places {
        cwd: root.clone(),
        ..Places::default()
    });
    // The folder is part of what a pull brings.
    assert_eq!(
        workspace.remotes(&root).unwrap().hooks,
        ["pre-commit", FILTER]
    );
    git(&root, &["config", "core.hooksPath", ".git/../.githooks"]);
    fs::create_dir(root.join(".githooks")).unwrap();
    assert_eq!(workspace.remotes(&root).unwrap().hooks, [FILTER]);
}

/// Files that commands in the sandbox may have written.
#[test]
fn a_hook_counts_if_it_is_executable_and_not_from_git_lfs() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    git(&root, &["init", "-q"]);
    git(&root, &["config", "extensions.worktreeConfig", "true"]);
    git(
        &root,
        &["config", "--worktree", "core.sparseCheckout", "true"],
    );
    let workspace = Workspace::new(Places {
        cwd: root.clone(),
        ..Places::default()
    });
    let of_lfs =
        "#!/bin/sh\ncommand -v git-lfs >/dev/null 2>&1 || { exit 2; }\ngit lfs pre-push \"$@\"\n";
    for (text, mode, counts) in [
        ("#!/bin/sh\nmake\n", 0o644, false),
        ("#!/bin/sh\nmake\n", 0o755, true),
        (of_lfs, 0o755, false),
        (&format!("{of_lfs}make\n"), 0o755, true),
    ] {
        let hook = root.join(".git/hooks/pre-push");
        program(&hook, text);
        fs::set_permissions(&hook, Permissions::from_mode(mode)).unwrap();
        let found = workspace.remotes(&root).unwrap().hooks;
        assert_eq!(
            found.contains(&"pre-push".to_owned()),
            counts,
            "{text} {mode:o}"
        );
    }
    git(&root, &["config", "--worktree", "core.sshCommand", "./ssh"]);
    let found = workspace.remotes(&root).unwrap().hooks;
    assert!(found.contains(&TRANSPORT.to_owned()), "{found:?}");
}

#[test]
fn project_programs_named_in_settings_count() {
    for (setting, value, expected) in [
        ("filter.lfs.process", "git-lfs filter-process", None),
        (
            "filter.nb.clean",
            "\"/usr/bin/python3\" -m nbstripout",
            Some(FILTER),
        ),
        ("filter.nb.required", "true", None),
        ("merge.mine.driver", "tools/merge %A %B", Some(FILTER)),
        ("core.fsmonitor", "true", None),
        ("core.fsmonitor", ".git/watch", Some(FILTER)),
        ("core.sshCommand", "ssh -i ~/.ssh/deploy -p 22", None),
        ("core.sshCommand", "ssh.exe", None),
        ("core.sshCommand", "ssh -F ./conf", Some(TRANSPORT)),
        (
            "core.sshCommand",
            "ssh -o ProxyCommand=./x",
            Some(TRANSPORT),
        ),
        ("core.sshCommand", "\"/opt/my tools/ssh\"", Some(TRANSPORT)),
        ("core.sshCommand", "/usr/bin/nice ./ssh", Some(TRANSPORT)),
        (
            "core.sshCommand",
            "/usr/bin/test -x ./a && ./a",
            Some(TRANSPORT),
        ),
        ("core.sshCommand", "~/shop/ssh", Some(TRANSPORT)),
        ("core.sshCommand", "~/link/ssh", Some(TRANSPORT)),
        (
            "merge.mergiraf.driver",
            "mergiraf merge --git %O %A %B -s %S -p %P",
            None,
        ),
        ("gpg.program", "gpg2", None),
        ("gpg.program", "./gpg", Some(TRANSPORT)),
        ("credential.helper", "cache --timeout=3600", None),
        ("credential.helper", "!gh auth git-credential", None),
        ("core.sshCommand", "bash ssh.sh", Some(TRANSPORT)),
        ("credential.helper", "store", None),
        (
            "credential.https://a.example.helper",
            "!f() { ./token; }; f",
            Some(TRANSPORT),
        ),
        ("remote.origin.uploadpack", "./pack", Some(TRANSPORT)),
        (
            "core.sshCommand",
            "ssh -o IdentitiesOnly=yes -F /dev/null",
            None,
        ),
        (
            "core.sshCommand",
            "ssh -F none -o ProxyCommand=x",
            Some(TRANSPORT),
        ),
        ("credential.helper", "/usr/bin/en\\ v", None),
        ("filter.x.clean", "awk 1", Some(FILTER)),
        ("filter.x.clean", "format --with=ssh.conf", None),
        ("filter.x.clean", "format --with=./ssh", Some(FILTER)),
        ("filter.x.clean", "format ~/link/ssh", Some(FILTER)),
        ("gpg.ssh.defaultKeyCommand", "./key", Some(TRANSPORT)),
        ("hook.x.command", "./run", Some(TRANSPORT)),
        ("core.askPass", "my ssh", None),
        ("filter.x.clean", "format ssh", Some(FILTER)),
        ("filter.x.clean", "format ./my\\ file", Some(FILTER)),
        ("core.sshCommand", "ssh -obatchmode=yes", None),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let root = home.join("shop");
        fs::create_dir(&root).unwrap();
        std::os::unix::fs::symlink(&root, home.join("link")).unwrap();
        fs::write(root.join("ssh"), "").unwrap();
        fs::write(root.join("my file"), "").unwrap();
        git(&root, &["init", "-q"]);
        git(&root, &["config", setting, value]);
        let workspace = Workspace::new(Places {
            cwd: root.clone(),
            home: Some(home.clone()),
            ..Places::default()
        });
        let found = workspace.remotes(&root).unwrap().hooks;
        assert_eq!(found, Vec::from_iter(expected), "{setting} {value}");
    }
}
