//! Something else has the terminal for a while: suspension, the external editor, signals.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::sandbox::Sandbox;
use crate::support::screen::{Launch, Screen};

fn open(sandbox: &Sandbox, editor: &str) -> Screen {
    let screen = Launch::new(sandbox)
        .args(&["--demo"])
        .env("EDITOR", editor)
        .start();
    screen.wait_for("─ runs everything");
    screen.keys("draft");
    screen.wait_for("draft");
    screen
}

/// A shell with job control that runs tiller as a job.
fn open_in_shell(sandbox: &Sandbox) -> Screen {
    let shell = Launch::new(sandbox)
        .args(&["--norc", "--noprofile", "--noediting", "-i"])
        .env("PS1", "shell> ")
        .env("TILLER", env!("CARGO_BIN_EXE_tiller"))
        .start_program("/bin/bash");
    shell.wait_for("shell>");
    shell.keys("\"$TILLER\" --demo<enter>");
    shell.wait_for("─ runs everything");
    shell.keys("draft");
    shell.wait_for("draft");
    shell
}

/// Waits until the shell has the terminal back in its original state.
fn wait_away(shell: &Screen) {
    shell.wait_until("the shell", |view| {
        !view.is_alternate() && view.contains("Stopped")
    });
    assert_eq!(shell.modes_left(), Vec::<String>::new());
}

/// The pid of the shell's job.
fn job_of(shell: &Screen) -> Pid {
    let pid = shell.pid();
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    let job = children.expect("alive").trim().parse().expect("one job");
    Pid::from_raw(job)
}

#[test]
fn suspending_restores_the_terminal_and_resuming_takes_it_back() {
    let sandbox = Sandbox::new();
    let shell = open_in_shell(&sandbox);
    for _ in 0..2 {
        shell.keys("<c-z>");
        wait_away(&shell);
        shell.keys("clear; fg<enter>");
        shell.wait_until("tiller", |view| {
            view.is_alternate() && view.contains("draft")
        });
    }
    shell.keys("!");
    shell.wait_for("draft!");
}

#[test]
fn sigtstp_from_another_process_suspends_too() {
    let sandbox = Sandbox::new();
    let shell = open_in_shell(&sandbox);
    kill(job_of(&shell), Signal::SIGTSTP).expect("alive");
    wait_away(&shell);
    shell.keys("clear; fg<enter>");
    shell.wait_until("tiller", |view| {
        view.is_alternate() && view.contains("draft")
    });
}

/// Without a shell, nothing could ever continue a stopped tiller.
#[test]
fn without_job_control_tiller_never_stops() {
    let sandbox = Sandbox::new();
    let screen = open(&sandbox, "true");
    screen.keys("<c-z>");
    screen.wait_for("Can't suspend");
    screen.signal(Signal::SIGTSTP);
    screen.keys("!");
    screen.wait_for("draft!");
}

/// Keys typed while an editor has the terminal are not for tiller, so no second editor starts.
#[test]
fn keys_wait_while_the_editor_is_open() {
    let sandbox = Sandbox::new();
    let screen = open(
        &sandbox,
        "mkdir lock || touch clash; until [ -e go ]; do sleep 0.02; done; rmdir lock; true",
    );
    screen.send(b"\x07\x07");
    screen.wait_until("the editor", |view| {
        !view.is_alternate() && sandbox.path().join("lock").exists()
    });
    sandbox.write("go", "");
    screen.wait_until("tiller", |view| {
        view.is_alternate() && view.contains("draft")
    });
    screen.keys("!");
    screen.wait_for("draft!");
    assert!(!sandbox.path().join("clash").exists());
}

/// A killed editor leaves its terminal settings behind, and tiller must replace them.
#[test]
fn terminal_settings_left_by_an_editor_are_replaced() {
    let sandbox = Sandbox::new();
    let screen = open(
        &sandbox,
        "until [ -e go ]; do sleep 0.02; done; stty raw -echo; true",
    );
    screen.keys("<c-g>");
    // Keys typed before the editor opened and closed would go to the editor.
    screen.wait_until("the editor", |view| !view.is_alternate());
    sandbox.write("go", "");
    screen.wait_until("tiller", |view| {
        view.is_alternate() && view.contains("draft")
    });
    screen.keys("<c-c><c-c><c-c>");
    assert_eq!(screen.wait_exit().code, 0);
    assert_eq!(screen.leftovers(), Vec::<String>::new());
}

/// Signals that kill by default end tiller cleanly and restore the terminal.
#[test]
fn fatal_signals_restore_the_terminal() {
    for signal in [
        Signal::SIGUSR2,
        Signal::SIGALRM,
        Signal::SIGXCPU,
        Signal::SIGTERM,
    ] {
        let sandbox = Sandbox::new();
        let screen = open(&sandbox, "true");
        screen.signal(signal);
        assert_eq!(screen.wait_exit().code, 128 + signal as u32, "{signal}");
        assert_eq!(screen.leftovers(), Vec::<String>::new(), "{signal}");
    }
}

#[test]
fn the_external_editor_changes_or_keeps_the_text() {
    let sandbox = Sandbox::new();
    let screen = open(&sandbox, "printf 'from elsewhere\\nsecond line\\n' >");
    screen.keys("<c-g>");
    screen.wait_for("from elsewhere");
    screen.wait_for("second line");
    screen.wait_gone("draft");

    let screen = open(&sandbox, "false");
    screen.keys("<c-g>");
    screen.wait_for("Your prompt is unchanged");
    screen.wait_for("draft");
    screen.keys("!");
    screen.wait_for("draft!");
}

/// A file saved in an editor that then died is still used.
#[test]
fn a_file_saved_before_the_editor_died_is_used() {
    let sandbox = Sandbox::new();
    let screen = open(
        &sandbox,
        "sh -c 'echo half an hour of work >$1; kill -9 $$' sh",
    );
    screen.keys("<c-g>");
    screen.wait_for("what the editor saved is in");
    screen.wait_for("draft");
    let files = std::fs::read_dir(sandbox.tmp()).unwrap().flatten();
    let saved = files.filter_map(|file| std::fs::read_to_string(file.path()).ok());
    assert!(
        saved
            .into_iter()
            .any(|text| text == "half an hour of work\n")
    );
}

#[test]
fn sigint_from_another_process_acts_like_ctrl_c() {
    let sandbox = Sandbox::new();
    let screen = open(&sandbox, "true");
    screen.signal(Signal::SIGINT);
    screen.wait_gone("draft");
    screen.signal(Signal::SIGINT);
    screen.wait_for("Press Ctrl+C again to exit");
    screen.signal(Signal::SIGINT);
    assert_eq!(screen.wait_exit().code, 0);
    assert_eq!(screen.leftovers(), Vec::<String>::new());
}
