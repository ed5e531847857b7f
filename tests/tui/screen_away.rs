//! The terminal is somebody else's for a while: suspension, the external editor, signals.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::support::sandbox::Sandbox;
use crate::support::screen::{Launch, Screen};

fn open(sandbox: &Sandbox, editor: &str) -> Screen {
    let screen = Launch::new(sandbox)
        .args(&["--demo"])
        .env("EDITOR", editor)
        .start();
    screen.wait_for("─ full");
    screen.keys("draft");
    screen.wait_for("draft");
    screen
}

/// Waits until tiller is stopped, and all it wrote before has been read.
fn wait_away(screen: &Screen) {
    wait_stopped(screen.pid());
    screen.wait_until("the main screen", |view| !view.is_alternate());
}

/// The state letter of a process: `T` is stopped.
fn wait_stopped(pid: i32) {
    let begun = Instant::now();
    loop {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("alive");
        let state = stat
            .rsplit(") ")
            .next()
            .and_then(|rest| rest.chars().next());
        if state == Some('T') {
            return;
        }
        assert!(
            begun.elapsed() < Duration::from_secs(10),
            "not stopped: {stat}"
        );
        std::thread::sleep(Duration::from_millis(5)); // poll
    }
}

#[test]
fn suspension_gives_the_terminal_back_and_takes_it_again() {
    let sandbox = Sandbox::new();
    let screen = open(&sandbox, "true");
    for _ in 0..2 {
        screen.keys("<c-z>");
        wait_away(&screen);
        assert_eq!(screen.leftovers(), Vec::<String>::new());
        screen.signal(Signal::SIGCONT);
        screen.wait_for("draft");
        assert!(screen.is_alternate());
    }
    screen.keys("!");
    screen.wait_for("draft!");
}

#[test]
fn a_stop_from_outside_is_a_suspension_too() {
    let sandbox = Sandbox::new();
    let screen = open(&sandbox, "true");
    screen.signal(Signal::SIGTSTP);
    wait_away(&screen);
    assert_eq!(screen.leftovers(), Vec::<String>::new());
    screen.signal(Signal::SIGCONT);
    screen.wait_for("draft");
}

#[test]
fn the_external_editor_changes_the_text_or_leaves_it() {
    let sandbox = Sandbox::new();
    let screen = open(&sandbox, "printf 'from elsewhere\\nsecond line\\n' >");
    screen.keys("<c-g>");
    screen.wait_for("from elsewhere");
    screen.wait_for("second line");
    screen.wait_gone("draft");

    let screen = open(&sandbox, "false");
    screen.keys("<c-g>");
    screen.wait_for("the text is as it was");
    screen.wait_for("draft");
    screen.keys("!");
    screen.wait_for("draft!");
}

#[test]
fn an_interrupt_from_outside_is_ctrl_c() {
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
