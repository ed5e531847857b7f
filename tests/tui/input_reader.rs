//! The input thread on pipes and pseudo-terminals.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs::File;
use std::io::{PipeWriter, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, poll};
use nix::pty::openpty;
use tiller::app::tui::terminal::input::{Input, InputEvent};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::timeout;

/// Longer than anything here takes, even on a busy machine.
const LONG: Duration = Duration::from_secs(20);

#[tokio::test]
async fn bytes_become_events_and_the_end_is_reported() {
    let (_input, mut events, mut terminal) = on_pipe();
    terminal.write_all("hé\x1b[1;3A".as_bytes()).unwrap();
    drop(terminal);
    assert_eq!(next(&mut events).await, "h");
    assert_eq!(next(&mut events).await, "é");
    assert_eq!(next(&mut events).await, "alt+up");
    assert_eq!(next(&mut events).await, "closed");
}

#[tokio::test]
async fn a_lone_esc_becomes_the_esc_key_quickly() {
    let (_input, mut events, mut terminal) = on_pipe();
    let started = Instant::now();
    terminal.write_all(b"\x1b").unwrap();
    assert_eq!(next(&mut events).await, "esc");
    assert!(
        started.elapsed() >= Duration::from_millis(24),
        "{:?}",
        started.elapsed()
    );
    terminal.write_all(b"\x1b[").unwrap();
    terminal.write_all(b"A").unwrap();
    assert_eq!(next(&mut events).await, "up");
}

#[tokio::test]
async fn a_confirmed_kitty_terminal_gets_more_time_for_the_rest_of_a_sequence() {
    let (input, mut events, mut terminal) = on_pipe();
    input.confirm_kitty();
    terminal.write_all(b"x").unwrap();
    assert_eq!(next(&mut events).await, "x");
    let started = Instant::now();
    terminal.write_all(b"\x1b").unwrap();
    assert_eq!(next(&mut events).await, "esc");
    assert!(
        started.elapsed() >= Duration::from_millis(200),
        "{:?}",
        started.elapsed()
    );
}

#[tokio::test]
async fn a_terminal_closed_during_a_paste_loses_nothing() {
    let (_input, mut events, mut terminal) = on_pipe();
    terminal.write_all(b"\x1b[200~half a paste").unwrap();
    drop(terminal);
    assert_eq!(next(&mut events).await, "paste 12");
    assert_eq!(next(&mut events).await, "closed");
}

/// A connection lost during a paste must not swallow the key that stops a run.
#[tokio::test]
async fn ctrl_c_ends_an_unfinished_paste() {
    for interrupt in [&b"\x03"[..], b"\x1b[99;5u", b"\x1b[27;5;99~"] {
        let (_input, mut events, mut terminal, unread) = on_watched_pipe();
        terminal
            .write_all(b"\x1b[200~half a paste of a long line")
            .unwrap();
        wait_until_read(&unread);
        terminal.write_all(interrupt).unwrap();
        assert_eq!(next(&mut events).await, "paste 27");
        assert_eq!(next(&mut events).await, "ctrl+c");
    }
}

#[tokio::test]
async fn typing_ends_an_unfinished_paste() {
    let (_input, mut events, mut terminal, unread) = on_watched_pipe();
    terminal
        .write_all(b"\x1b[200~half a paste of a long line")
        .unwrap();
    wait_until_read(&unread);
    let started = Instant::now();
    // Keys keep arriving, and the paste ends anyway.
    let event = loop {
        assert!(started.elapsed() < LONG);
        terminal.write_all(b"k").unwrap();
        match timeout(Duration::from_millis(60), events.recv()).await {
            Ok(event) => break event.unwrap(),
            Err(_) => wait_until_read(&unread),
        }
    };
    let InputEvent::Paste(text) = event else {
        panic!("{event:?}");
    };
    assert!(text.starts_with("half a paste of a long linek"), "{text}");
}

#[tokio::test]
async fn a_large_paste_through_a_terminal_is_complete() {
    let pty = raw_pty();
    let (_input, mut events) = Input::start_on(pty.slave).unwrap();
    let text = "ä line of text\n".repeat(280_000);
    let bytes = format!("\x1b[200~{text}\x1b[201~\r").into_bytes();
    let writer = std::thread::spawn(move || {
        let mut master = File::from(pty.master);
        master.write_all(&bytes).unwrap();
        master
    });
    let event = timeout(LONG, events.recv()).await.unwrap().unwrap();
    assert!(event == InputEvent::Paste(text), "the paste differs");
    assert_eq!(next(&mut events).await, "enter");
    drop(writer.join().unwrap());
    assert_eq!(next(&mut events).await, "closed");
}

/// Before raw mode the terminal sends Enter as a line feed. Several lines are a paste. A terminal
/// reply may have arrived in between.
#[tokio::test]
async fn enter_before_the_terminal_was_raw_is_enter() {
    for (typed, expected) in [
        ("a\n", "a enter"),
        ("a\nb\n", "a ctrl+j b ctrl+j"),
        ("a\n\x1b[A", "a enter up"),
    ] {
        let pty = raw_pty();
        let mut master = File::from(pty.master);
        master.write_all(typed.as_bytes()).unwrap();
        assert!(readable(&File::from(pty.slave.try_clone().unwrap())));
        let (_input, mut events) = Input::start_on(pty.slave).unwrap();
        for key in expected.split(' ') {
            assert_eq!(next(&mut events).await, key, "{typed:?}");
        }
        master.write_all(b"\n").unwrap();
        assert_eq!(next(&mut events).await, "ctrl+j");
    }
}

#[tokio::test]
async fn a_paused_reader_takes_no_bytes() {
    let pty = raw_pty();
    let mut master = File::from(pty.master);
    let mut other = File::from(pty.slave.try_clone().unwrap());
    let (mut input, mut events) = Input::start_on(pty.slave).unwrap();
    for round in 0..50 {
        master.write_all(b"a").unwrap();
        assert_eq!(next(&mut events).await, "a");
        input.pause();
        master.write_all(b"for the editor").unwrap();
        let mut seen = vec![0; b"for the editor".len()];
        assert!(readable(&other), "round {round}");
        other.read_exact(&mut seen).unwrap();
        assert_eq!(seen, b"for the editor", "round {round}");
        assert!(events.try_recv().is_err(), "round {round}");
        input.resume();
    }
    master.write_all(b"z").unwrap();
    assert_eq!(next(&mut events).await, "z");
}

#[tokio::test]
async fn a_pause_decides_a_pending_key() {
    let (mut input, mut events, mut terminal) = on_pipe();
    terminal.write_all(b"x\x1b").unwrap();
    assert_eq!(next(&mut events).await, "x");
    input.pause();
    assert_eq!(next(&mut events).await, "esc");
    terminal.write_all(b"[A").unwrap();
    input.resume();
    assert_eq!(next(&mut events).await, "[");
    assert_eq!(next(&mut events).await, "A");
}

#[tokio::test]
async fn pausing_resuming_and_dropping_never_hang() {
    let (mut input, mut events, terminal) = on_pipe();
    for _ in 0..1000 {
        input.pause();
        input.pause();
        input.resume();
        input.resume();
    }
    drop(terminal);
    assert_eq!(next(&mut events).await, "closed");
    input.pause();
    input.resume();
    drop(input);
    assert!(events.recv().await.is_none());

    let (mut input, mut events, _terminal) = on_pipe();
    input.pause();
    drop(input);
    assert!(events.recv().await.is_none());
}

/// Waits until the reader has emptied the pipe.
fn wait_until_read(pipe: &File) {
    let started = Instant::now();
    let mut fds = [PollFd::new(pipe.as_fd(), PollFlags::POLLIN)];
    while poll(&mut fds, 0_u16).unwrap() > 0 {
        assert!(started.elapsed() < LONG);
        std::thread::yield_now();
    }
}

fn on_watched_pipe() -> (Input, UnboundedReceiver<InputEvent>, PipeWriter, File) {
    let (reader, writer) = std::io::pipe().unwrap();
    let unread = File::from(OwnedFd::from(reader.try_clone().unwrap()));
    let (input, events) = Input::start_on(OwnedFd::from(reader)).unwrap();
    (input, events, writer, unread)
}

fn on_pipe() -> (Input, UnboundedReceiver<InputEvent>, PipeWriter) {
    let (reader, writer) = std::io::pipe().unwrap();
    let (input, events) = Input::start_on(OwnedFd::from(reader)).unwrap();
    (input, events, writer)
}

/// The two ends of a pseudo-terminal.
struct Pty {
    master: OwnedFd,
    slave: OwnedFd,
}

fn raw_pty() -> Pty {
    use nix::sys::termios::{SetArg, cfmakeraw, tcgetattr, tcsetattr};
    let pty = openpty(None, None).unwrap();
    // Programs started by other tests must not keep the terminal open.
    for end in [&pty.master, &pty.slave] {
        nix::fcntl::fcntl(end, nix::fcntl::F_SETFD(nix::fcntl::FdFlag::FD_CLOEXEC)).unwrap();
    }
    let flags = nix::fcntl::fcntl(&pty.master, nix::fcntl::F_GETFL).unwrap();
    assert!(!OFlag::from_bits_truncate(flags).contains(OFlag::O_NONBLOCK));
    let mut settings = tcgetattr(&pty.slave).unwrap();
    cfmakeraw(&mut settings);
    tcsetattr(&pty.slave, SetArg::TCSANOW, &settings).unwrap();
    Pty {
        master: pty.master,
        slave: pty.slave,
    }
}

fn readable(file: &File) -> bool {
    let mut fds = [PollFd::new(file.as_fd(), PollFlags::POLLIN)];
    poll(&mut fds, 20_000_u16).unwrap() == 1
}

async fn next(events: &mut UnboundedReceiver<InputEvent>) -> String {
    match timeout(LONG, events.recv()).await.unwrap().unwrap() {
        InputEvent::Key(press) => press.to_string(),
        InputEvent::Paste(text) => format!("paste {}", text.len()),
        InputEvent::Closed => "closed".into(),
        other => format!("{other:?}"),
    }
}
