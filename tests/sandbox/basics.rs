//! What a command may and may not do in a sandbox, and what tiller says if the sandbox can't be
//! kept.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tiller::agent::process::sandbox::{Layer, Sandbox};
use tiller::agent::process::{ExitStatus, Spawn};
use tokio_util::sync::CancellationToken;

use super::place::{Place, machine_has_all_layers, without};
use crate::support::marked::{DEADLINE, MarkedProcesses};

#[tokio::test]
async fn a_command_works_in_its_workspace() {
    let place = Place::new();
    let ran = place
        .run(
            place.auto(),
            "echo changed > file && mkdir -p a/b && echo new > a/b/c && mv a d && cat d/b/c file
             echo t > /tmp/t && cat /tmp/t && echo $TMPDIR && id -u && [ \"$PWD\" = \"$(pwd -P)\" ]
             cat ../outside/file",
        )
        .await;
    let uid = nix::unistd::getuid();
    let expected = format!("new\nchanged\nt\n/tmp\n{uid}\noutside\n");
    assert_eq!(ran.output, expected);
    assert_eq!(ran.exit, Some(ExitStatus::Exited(0)));
    assert_eq!(place.read("ws/file"), "changed\n");
    assert_eq!(place.read("session/tmp/t"), "t\n");
}

#[tokio::test]
async fn a_command_stays_in_its_workspace() {
    let place = Place::new();
    let (outside, home) = (place.path("outside"), place.path("home"));
    let attempts = [
        format!("echo x > {}/file", outside.display()),
        format!("chmod 777 {}/file", outside.display()),
        format!("cat {}/.ssh/id", home.display()),
        format!("grep . {}/.netrc", home.display()),
        "echo x > .git/config".to_owned(),
        "echo x > .git/hooks/pre-commit".to_owned(),
        "mv .git .old".to_owned(),
        "echo x > .tiller/config.toml".to_owned(),
        "mount -t tmpfs none /mnt".to_owned(),
        "unshare -U true".to_owned(),
        "exec 3<>/dev/tcp/1.1.1.1/80".to_owned(),
        format!("kill -0 {}", std::process::id()),
    ];
    for attempt in attempts {
        let ran = place.run(place.auto(), &format!("({attempt})")).await;
        assert!(
            matches!(ran.exit, Some(ExitStatus::Exited(1..))),
            "{attempt}: {ran:?}"
        );
    }
    assert_eq!(place.read("outside/file"), "outside\n");
}

#[tokio::test]
async fn a_sandbox_that_cannot_be_kept_is_an_error() {
    let place = Place::new();
    let mut sandbox = place.auto();
    sandbox.without = [Layer::Namespaces, Layer::Landlock].into();
    let ran = place.run(sandbox.clone(), "echo ran").await;
    let Some(ExitStatus::NotStarted(reason)) = ran.exit else {
        panic!("{ran:?}");
    };
    assert!(
        reason.contains("commands could read hidden files"),
        "{reason}"
    );
    assert!(reason.contains("landlock left out"), "{reason}");
    let ran = place
        .run(without(sandbox, &[Layer::Landlock]), "echo ran")
        .await;
    assert_eq!(ran.output, "ran\n");
}

#[tokio::test]
async fn sandbox_support_reports_the_missing_layers() {
    let place = Place::new();
    let support = place.processes.sandbox_support();
    println!("{support:?}");
    if support.broken().is_empty() {
        assert_eq!(support.missing(&place.auto()), Vec::<String>::new());
    }
}

// Otherwise it could send tiller anything in the supervisor's name.
#[tokio::test]
async fn a_command_cannot_look_into_its_supervisor_or_tiller() {
    let place = Place::new();
    for (target, why) in [
        ("$PPID".to_owned(), "Permission denied"),
        // An id that no process inside has.
        (std::process::id().to_string(), "No such file"),
    ] {
        let command = format!("readlink /proc/{target}/fd/0; cat /proc/{target}/environ");
        let ran = place.run(place.auto(), &command).await;
        assert_eq!(ran.exit, Some(ExitStatus::Exited(1)), "{ran:?}");
        assert!(ran.output.contains(why), "{ran:?}");
        assert_eq!(ran.output.lines().count(), 1, "{ran:?}");
    }
}

// The process that waits outside shares its mounts until its child has replaced them. A file that
// it opened there for writing would keep `/dev` from becoming read-only.
#[tokio::test]
async fn the_waiting_process_opens_nothing_in_the_commands_mounts() {
    if !machine_has_all_layers() {
        return;
    }
    let place = Place::new();
    let marked = MarkedProcesses::new();
    let mark = ("TILLER_CENSUS".into(), marked.mark().into());
    let spawn = Spawn {
        command: marked.script("SLEEP"),
        cwd: place.path("ws"),
        environment: std::env::vars_os().chain([mark]).collect(),
        sandbox: Some(Arc::new(place.auto())),
    };
    let running = place.processes.start(spawn, &CancellationToken::new());
    let _running = running.unwrap();
    marked.wait_for_command("sleep").await;
    let own = std::process::id() as i32;
    let living = marked.living();
    let waiting = living.iter().find(|process| process.parent == own).unwrap();
    let of_stdout = |file: &str| format!("/proc/{}/{file}/1", waiting.pid);
    let deadline = Instant::now() + DEADLINE;
    while fs::read_link(of_stdout("fd")).unwrap() != std::path::Path::new("/dev/null") {
        assert!(Instant::now() < deadline, "still writes elsewhere");
        tokio::time::sleep(Duration::from_millis(5)).await; // poll
    }
    let opened = fs::read_to_string(of_stdout("fdinfo")).unwrap();
    let mount = opened.lines().find_map(|line| line.strip_prefix("mnt_id:"));
    let mount = format!("{} ", mount.unwrap().trim());
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let ours = mounts.lines().any(|line| line.starts_with(&mount));
    assert!(ours, "{opened}{mounts}");
}

#[tokio::test]
async fn a_forbidden_file_is_removed_and_its_command_killed() {
    let place = Place::new();
    let sandbox = || Sandbox {
        forbidden: vec![place.path("ws/.git/commondir")],
        ..place.auto()
    };
    let write = "echo ../evil > .git/commondir";
    for command in [
        format!("{write}; sleep 1000"),
        "echo ../evil > x; mv x .git/commondir; sleep 1000".to_owned(),
        format!("(setsid sh -c 'while :; do {write}; done' &) ; sleep 1000"),
        format!("kill -STOP $PPID; {write}; kill -CONT $PPID"),
        format!("{write}; kill -KILL $PPID"),
    ] {
        let ran = place.run(sandbox(), &command).await;
        place.processes.empty().await;
        let left = place.path("ws/.git/commondir").exists();
        assert!(!left, "{command}: {ran:?}");
    }
    // If nothing follows the file immediately, it's moved and the command continues. That includes
    // files in a folder that is new.
    let home = Sandbox {
        forbidden: [".bashrc", ".config/fish", ".ssh"]
            .map(|path| place.path("ws").join(path))
            .to_vec(),
        ..place.auto()
    };
    let ran = place
        .run(
            home,
            "echo evil > .bashrc; mkdir -p .config/fish .ssh; touch .config/fish/x; echo fine",
        )
        .await;
    assert!(ran.output.contains("fine\n"), "{ran:?}");
    place.processes.empty().await;
    for path in [".bashrc", ".config/fish", ".ssh"] {
        assert!(!place.path("ws").join(path).exists(), "{path}");
        let aside = place.path("ws").join(format!("{path}.refused"));
        assert!(aside.exists(), "{path}");
    }
    let ran = place
        .run(sandbox(), "echo x > .git/index.lock && echo fine")
        .await;
    assert_eq!(ran.output, "fine\n", "{ran:?}");
}

#[tokio::test]
async fn an_empty_folder_blocks_a_forbidden_place_while_a_command_runs() {
    let place = Place::new();
    let mut sandbox = place.auto();
    sandbox.read_only.push(place.path("ws/sub/.tiller"));
    let ran = place
        .run(
            sandbox,
            "ls -d sub/.tiller; touch sub/.tiller/x; rmdir sub/.tiller",
        )
        .await;
    assert!(ran.output.starts_with("sub/.tiller\n"), "{ran:?}");
    assert_eq!(ran.output.lines().count(), 3, "{ran:?}");
    place.processes.empty().await;
    assert!(!place.path("ws/sub/.tiller").exists());
    assert!(place.path("ws/.git/hooks").exists());
}

// Landlock confines signals only from Linux 6.12 on, and most machines have an older one.
#[tokio::test]
async fn without_landlock_outside_processes_are_neither_seen_nor_signalled() {
    let place = Place::new();
    let sandbox = Sandbox {
        without: [Layer::Landlock].into(),
        ..place.auto()
    };
    let own = std::process::id();
    let script = format!(
        "kill -0 {own} || echo not signalled; ls /proc | grep -c '^[0-9]*$'; ls -d /proc/{own};
         kill -9 1; kill -STOP 1; echo fine"
    );
    let ran = place.run(sandbox, &format!("({script}) 2>/dev/null")).await;
    // init, the shell, its child, and the two processes that count.
    assert_eq!(ran.output, "not signalled\n5\nfine\n", "{ran:?}");
    assert_eq!(ran.exit, Some(ExitStatus::Exited(0)), "{ran:?}");
}

// The file tools use the same folders.
#[tokio::test]
async fn a_sessions_commands_share_its_private_temporary_folders() {
    let place = Place::new();
    let name = format!("tiller-test-{}", std::process::id());
    let write = format!("for it in /tmp /var/tmp /dev/shm; do echo $it > $it/{name}; done");
    let ran = place.run(place.auto(), &write).await;
    assert_eq!(ran.exit, Some(ExitStatus::Exited(0)), "{ran:?}");
    let read =
        format!("cat /tmp/{name} /var/tmp/{name} /dev/shm/{name}; ls -A /run/user /run/lock");
    for sandbox in [place.auto(), place.plan()] {
        let ran = place.run(sandbox, &format!("{read} 2>/dev/null")).await;
        assert_eq!(ran.output, "/tmp\n/var/tmp\n/dev/shm\n", "{ran:?}");
    }
    for (shared, own) in [
        ("/tmp", "tmp"),
        ("/var/tmp", "var_tmp"),
        ("/dev/shm", "shm"),
    ] {
        assert!(!std::path::Path::new(shared).join(&name).exists());
        assert_eq!(
            place.read(&format!("session/{own}/{name}")),
            format!("{shared}\n")
        );
    }
}

#[tokio::test]
async fn a_folder_with_another_programs_socket_cannot_be_renamed() {
    let place = Place::new();
    let folder = place.path("ws/run/db");
    fs::create_dir_all(&folder).unwrap();
    let _server = std::os::unix::net::UnixListener::bind(folder.join("s")).unwrap();
    let script = "mv run old; mv run/db run/old; rm -rf run; ls -d run/db";
    let ran = place
        .run(place.auto(), &format!("({script}) 2>/dev/null"))
        .await;
    assert_eq!(ran.output, "run/db\n", "{ran:?}");
    assert!(folder.join("s").exists());
}

/// Inside a hidden folder, another folder can be shown read-only.
#[tokio::test]
async fn a_folder_inside_a_hidden_one_can_be_shown_read_only() {
    let place = Place::new();
    fs::create_dir(place.path("home/.ssh/own")).unwrap();
    fs::write(place.path("home/.ssh/own/output"), "long\n").unwrap();
    let ssh = place.path("home/.ssh");
    let sandbox = || Sandbox {
        readable: vec![ssh.join("own"), ssh.join("missing")],
        ..place.auto()
    };
    let ssh = ssh.display();
    for (command, expected) in [
        (format!("cat {ssh}/own/output"), "long\n"),
        (format!("cat {ssh}/id 2>/dev/null; ls {ssh}"), "own\n"),
        (
            format!("(echo x > {ssh}/own/output) 2>/dev/null; cat {ssh}/own/output"),
            "long\n",
        ),
        (
            format!("touch {ssh}/own/new {ssh}/new 2>/dev/null; ls {ssh} {ssh}/own | grep new"),
            "",
        ),
    ] {
        let ran = place.run(sandbox(), &command).await;
        assert_eq!(ran.output, expected, "{command}");
    }
}
