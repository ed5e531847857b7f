//! Steering by `.tiller/steer` and SIGUSR1. tiller takes each message once, and only from a plain
//! file that the user owns.

use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::unistd::{Pid, Uid, mkfifo};
use serde_json::json;

use crate::support::job;
use crate::support::model_server::{Reply, Wire};
use crate::support::sandbox::Sandbox;
use crate::support::screen::{Launch, Screen};

/// How long to wait for anything.
const DEADLINE: Duration = Duration::from_secs(20);

fn gated() -> Vec<Reply> {
    let gate = json!({"command": "until [ -e go ]; do sleep 0.02; done"});
    vec![
        Reply::text("Wait.").and_call("bash", gate),
        Reply::text("Steered."),
        Reply::text("Again."),
    ]
}

fn screen(sandbox: &Sandbox) -> Screen {
    let screen = Launch::new(sandbox)
        .args(&["-m", Wire::ALL[0].model()])
        .size(110, 40)
        .start();
    screen.wait_for("─ runs everything");
    screen
}

fn wait_gone(sandbox: &Sandbox) {
    let started = Instant::now();
    let folder = sandbox.path().join(".tiller");
    while fs::read_dir(&folder).unwrap().count() > 0 {
        assert!(started.elapsed() < DEADLINE, "tiller did not take the file");
    }
}

#[test]
fn the_steer_file_becomes_a_message() {
    let (server, sandbox) = job::stage_with(gated());
    let screen = screen(&sandbox);
    screen.keys("Go<enter>");
    screen.wait_for("● bash  until [ -e go ]");
    sandbox.write(".tiller/steer", "first\nmessage\n");
    screen.signal(Signal::SIGUSR1);
    screen.wait_for("↳ steer  first  +1 line  from another program");
    wait_gone(&sandbox);
    sandbox.write(".tiller/steer", "second, with \0 and \u{1b}[2J");
    screen.signal(Signal::SIGUSR1);
    screen.wait_for("↳ steer  second");
    wait_gone(&sandbox);
    sandbox.write("go", "");
    screen.wait_for("Steered.");
    screen.wait_gone("Esc stops");
    assert_eq!(
        server.request(1).last_user(),
        "first\nmessage\nsecond, with \u{fffd} and \u{1b}[2J"
    );

    // If nothing runs, the message starts a run.
    sandbox.write(".tiller/steer", "once more");
    screen.signal(Signal::SIGUSR1);
    screen.wait_for("Again.");
    screen.wait_gone("Esc stops");
    screen.keys("<c-d>");
    assert_eq!(screen.wait_exit().code, 0);
}

#[test]
fn a_run_without_a_screen_can_be_steered_by_file() {
    for is_own in [false, true] {
        let (server, sandbox) = job::stage_with(gated());
        let arguments = ["-p", "--no-session", "-m", Wire::ALL[0].model(), "Go"];
        let child = sandbox.tiller(&arguments).spawn().unwrap();
        let pid = child.id() as i32;
        let started = Instant::now();
        server.wait_answered(0);
        // Once the command runs, so does the run.
        while sandbox.processes(&[pid]).is_empty() {
            assert!(started.elapsed() < DEADLINE);
        }
        // Commands can't create files in tiller's own folder, so this one needs no `.tiller`.
        let place = if is_own {
            let state = sandbox.tmp().with_file_name("state/tiller");
            state.join(format!("steer-{pid}"))
        } else {
            sandbox.path().join(".tiller/steer")
        };
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(&place, "by file").unwrap();
        kill(Pid::from_raw(pid), Signal::SIGUSR1).unwrap();
        let gone = || !place.exists() && !place.with_extension("taken").exists();
        while !gone() {
            assert!(started.elapsed() < DEADLINE);
        }
        sandbox.write("go", "");
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "Steered.\n");
        assert_eq!(server.request(1).last_user(), "by file");
    }
}

#[test]
fn a_steer_file_that_is_not_the_users_plain_file_is_left_alone() {
    let (server, sandbox) = job::stage_with(Vec::new());
    let screen = screen(&sandbox);
    let folder = sandbox.path().join(".tiller");
    let place = folder.join("steer");
    let secret = sandbox.path().join("secret");
    fs::write(&secret, "do not send this").unwrap();
    fs::create_dir(&folder).unwrap();
    // Each reason must differ. An earlier refusal with the same text would end the wait too soon,
    // and the signal would arrive while the test writes the next file.
    let refused = |why: &str| {
        screen.signal(Signal::SIGUSR1);
        screen.wait_for(why);
        assert_eq!(fs::read_to_string(&secret).unwrap(), "do not send this");
    };
    refused("No such file or directory");
    symlink(&secret, &place).unwrap();
    refused("it is a symbolic link");
    fs::remove_file(&place).unwrap();
    fs::hard_link(&secret, &place).unwrap();
    refused("it has several hard links");
    fs::remove_file(&place).unwrap();
    fs::create_dir(&place).unwrap();
    refused("it is a folder");
    fs::remove_dir(&place).unwrap();
    mkfifo(&place, Mode::S_IRWXU).unwrap();
    refused("it is a named pipe");
    fs::remove_file(&place).unwrap();
    fs::write(&place, vec![b'x'; 1024 * 1024 + 1]).unwrap();
    refused("it is longer than 1 MiB");
    fs::write(&place, " \n\n").unwrap();
    refused("the message is empty");
    assert_eq!(
        fs::read_to_string(&place).unwrap(),
        " \n\n",
        "tiller must put the file back"
    );
    if Uid::effective().is_root() {
        chown(&place, Some(12_345), None).unwrap();
        refused("it belongs to another user");
    }
    fs::write(folder.join("steer.taken"), "left over").unwrap();
    fs::remove_file(&place).unwrap();
    fs::write(&place, "hello").unwrap();
    refused("holds an earlier message");
    fs::remove_dir_all(&folder).unwrap();
    let elsewhere = sandbox.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("steer"), "not below the project").unwrap();
    symlink(&elsewhere, &folder).unwrap();
    refused("its folder is a link");
    assert!(elsewhere.join("steer").exists());
    assert!(server.requests().is_empty());
    screen.keys("<c-d>");
    assert_eq!(screen.wait_exit().code, 0);
}
