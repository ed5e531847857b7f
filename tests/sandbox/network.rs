//! The network shared by commands with the same rights.

use std::fs::File;
use std::io::{self, IoSlice, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::sync::Arc;

use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg};
use tiller::agent::process::sandbox::Sandbox;
use tiller::agent::process::{ExitStatus, Orphans, Processes, Running, Spawn};
use tokio_util::sync::CancellationToken;

use super::place::{Place, machine_has_all_layers, without};

const SERVER: &str = "
    import socket
    server = socket.create_server(('127.0.0.1', 8000))
    open('listens', 'w').close()
    while True:
        with server.accept()[0] as client:
            client.sendall(b'hello')";
const CLIENT: &str = "exec 3<>/dev/tcp/127.0.0.1/8000 && cat <&3";
/// The rights of a process in text form: no capabilities, no way to new ones, no debugger.
const RIGHTS: &str = "grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status; lo=$(</proc/net/dev);
    [[ $lo == *lo:* ]] && readlink /proc/self/ns/net /proc/self/ns/user";

/// Starts a server and leaves it running.
async fn serve(place: &Place, sandbox: Sandbox) -> Running {
    let script = SERVER.replace("\n    ", "\n");
    let command =
        format!("python3 -c \"{script}\" > log 2>&1 & until [ -e listens ]; do sleep 0.02; done");
    let spawn = Spawn {
        command,
        cwd: place.path("ws"),
        environment: std::env::vars_os().collect(),
        sandbox: Some(Arc::new(sandbox)),
    };
    let running = place.processes.start(spawn, &CancellationToken::new());
    let running = running.unwrap();
    let mut status = running.status();
    let ended = status.wait_for(|status| status.shell.is_some());
    assert_eq!(
        ended.await.unwrap().shell,
        Some(ExitStatus::Exited(0)),
        "{}",
        place.read("ws/log")
    );
    running
}

#[tokio::test]
async fn a_server_answers_the_next_command_with_the_same_rights_only() {
    if !machine_has_all_layers() {
        return;
    }
    let mut place = Place::new();
    let _server = serve(&place, place.auto()).await;
    let ran = place.run(place.auto(), CLIENT).await;
    assert_eq!(ran.output, "hello", "{ran:?}");
    let wider = Sandbox {
        writable: vec![place.path("ws"), place.path("outside")],
        ..place.auto()
    };
    let readier = Sandbox {
        hidden: Vec::new(),
        ..place.auto()
    };
    let confined = without(
        place.auto(),
        &[tiller::agent::process::sandbox::Layer::Seccomp],
    );
    for other in [place.plan(), wider, readier, confined] {
        let ran = place.run(other, CLIENT).await;
        assert_eq!(ran.exit, Some(ExitStatus::Exited(1)), "{ran:?}");
    }
    // Runs another session.
    let tiller = env!("CARGO_BIN_EXE_tiller");
    let first = std::mem::replace(
        &mut place.processes,
        Processes::with_supervisor(tiller, Orphans::Leave),
    );
    let ran = place.run(place.auto(), CLIENT).await;
    assert_eq!(ran.exit, Some(ExitStatus::Exited(1)), "{ran:?}");
    place.processes = first;
    let ran = place.run(place.auto(), CLIENT).await;
    assert_eq!(ran.output, "hello", "{ran:?}");
}

#[tokio::test]
async fn commands_that_start_together_share_a_network() {
    if !machine_has_all_layers() {
        return;
    }
    let place = Place::new();
    let network = || place.run(place.auto(), "readlink /proc/self/ns/net");
    let (one, two, three) = tokio::join!(network(), network(), network());
    assert!(one.output.starts_with("net:"), "{one:?}");
    assert_eq!(one.output, two.output);
    assert_eq!(one.output, three.output);
}

#[tokio::test]
async fn a_command_that_joins_a_network_has_no_more_rights_than_the_first() {
    if !machine_has_all_layers() {
        return;
    }
    let place = Place::new();
    let first = place.run(place.auto(), RIGHTS).await.output;
    for capabilities in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
        let none = format!("{capabilities}:\t0000000000000000\n");
        assert!(first.contains(&none), "{first}");
    }
    assert!(first.contains("NoNewPrivs:\t1\n"), "{first}");
    assert_eq!(place.run(place.auto(), RIGHTS).await.output, first);
}

#[tokio::test]
async fn commands_that_share_a_network_cannot_reach_each_others_processes() {
    if !machine_has_all_layers() {
        return;
    }
    let place = Place::new();
    let _server = serve(&place, place.auto()).await;
    // The server, and the supervisor that started it. The command can't even see them.
    let script = "
        for status in /proc/[0-9]*/status; do
            pid=${status#/proc/} pid=${pid%/status}
            [ $pid = $PPID ] && continue
            name=$(sed -n 's/^Name:[[:space:]]*//p' $status 2>/dev/null)
            case $name in python*) echo server ;; tiller) echo supervisor ;; *) continue ;; esac
            for part in mem environ; do
                (: < /proc/$pid/$part) 2>/dev/null && head -c1 /proc/$pid/$part >/dev/null 2>&1 && echo $part
            done
            ls /proc/$pid/root/ /proc/$pid/fd/ >/dev/null 2>&1 && echo root
            kill -0 $pid 2>/dev/null && echo signalled
        done | sort -u";
    let ran = place.run(place.auto(), script).await;
    assert_eq!(ran.output, "", "{ran:?}");
    assert_eq!(ran.exit, Some(ExitStatus::Exited(0)), "{ran:?}");
}

// The supervisor gets file descriptors that aren't namespaces.
#[test]
fn a_command_that_cannot_join_gets_its_own_network() {
    if !machine_has_all_layers() {
        return;
    }
    let place = Place::new();
    let (mut control, theirs) = UnixStream::pair().unwrap();
    let (mut output, write) = io::pipe().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_tiller"))
        .arg("__supervise")
        .current_dir(place.path("ws"))
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(write)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let null = File::open("/dev/null").unwrap();
    let descriptors = [null.as_raw_fd(), null.as_raw_fd()];
    sendmsg::<()>(
        control.as_raw_fd(),
        &[IoSlice::new(b"j")],
        &[ControlMessage::ScmRights(&descriptors)],
        MsgFlags::empty(),
        None,
    )
    .unwrap();
    let sandbox = serde_json::to_vec(&place.auto()).unwrap();
    for part in [sandbox.as_slice(), RIGHTS.as_bytes()] {
        control
            .write_all(&(part.len() as u64).to_le_bytes())
            .unwrap();
        control.write_all(part).unwrap();
    }
    let mut text = String::new();
    output.read_to_string(&mut text).unwrap();
    child.wait().unwrap();
    let own = std::fs::read_link("/proc/self/ns/net").unwrap();
    assert!(text.contains("net:["), "{text}");
    assert!(!text.contains(own.to_str().unwrap()), "{text}");
    assert!(text.contains("CapEff:\t0000000000000000\n"), "{text}");
}
