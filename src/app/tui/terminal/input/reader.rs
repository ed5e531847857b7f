//! The thread that reads the terminal, and the handle that pauses it.
//!
//! Its own thread means that nothing the screen does can delay or lose a byte. It reads only after
//! `poll` reports bytes, so that [`Input::pause`] never waits for a key, and never takes a byte
//! that belongs to another program.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use super::decoder::{Decoder, Escape};
use super::event::InputEvent;
use crate::app::tui::terminal::tty_writer::is_passing;

/// Bytes per read.
const READ_SIZE: usize = 64 * 1024;

/// Ctrl+C in all its forms, if it is a whole read: pastes don't do that.
const INTERRUPTS: [&[u8]; 3] = [b"\x03", b"\x1b[99;5u", b"\x1b[27;5;99~"];
/// The longest key, in bytes; a longer read is part of a paste.
const MAX_KEY_BYTES: usize = 16;
/// A paste has ended if only single keys arrive for this long.
const KEYS_IN_PASTE: Duration = Duration::from_millis(500);
/// The most keys that a user can type in that time.
const MAX_TYPED_KEYS: usize = 25;

/// How long to expect replies after a query or the last reply. Some terminals never reply.
const REPLIES: Duration = Duration::from_secs(3);

/// Reads the terminal until dropped, always in one thread, because resuming must not fail.
#[derive(Debug)]
pub struct Input {
    /// The thread polls the other end: a byte stops it.
    stop: PipeWriter,
    stopped: Receiver<()>,
    resume: Sender<()>,
    is_paused: bool,
    kitty_confirmed: Arc<AtomicBool>,
    replies_until: Arc<Mutex<Option<Instant>>>,
}

impl Input {
    /// Reads a terminal, or any file descriptor that can be polled.
    pub fn start_on(source: OwnedFd) -> io::Result<(Self, UnboundedReceiver<InputEvent>)> {
        let (events, receiver) = mpsc::unbounded_channel();
        let kitty_confirmed = Arc::new(AtomicBool::new(false));
        let replies_until = Arc::new(Mutex::new(None));
        let (stop_reader, stop) = io::pipe()?;
        let (stopped_sender, stopped) = channel();
        let (resume, resumed) = channel();
        let reader = Reader {
            source: source.into(),
            events,
            decoder: Decoder::default(),
            pasting: Pasting::default(),
            kitty_confirmed: Arc::clone(&kitty_confirmed),
            replies_until: Arc::clone(&replies_until),
            stop: stop_reader,
            stopped: stopped_sender,
            resumed,
        };
        let thread = thread::Builder::new().name("input".into());
        thread.spawn(move || reader.run())?;
        let input = Self {
            stop,
            stopped,
            resume,
            is_paused: false,
            kitty_confirmed,
            replies_until,
        };
        Ok((input, receiver))
    }

    /// Pauses reading while another program owns the terminal. When this returns, no read is
    /// running, and none starts before [`Input::resume`]. Takes well below a millisecond.
    pub fn pause(&mut self) {
        if !std::mem::replace(&mut self.is_paused, true) {
            // Both fail only if the terminal was closed; then nothing reads.
            let _ = self.stop.write(&[0]);
            let _ = self.stopped.recv();
        }
    }

    /// Reads again.
    pub fn resume(&mut self) {
        if std::mem::take(&mut self.is_paused) {
            let _ = self.resume.send(());
        }
    }

    /// The terminal confirmed the kitty keyboard protocol: Esc has its own sequence, so a lone ESC
    /// byte always starts one.
    pub fn confirm_kitty(&self) {
        self.kitty_confirmed.store(true, Ordering::Relaxed);
    }

    /// A query was sent: replies may come in pieces, and a lone ESC byte most likely starts one.
    pub fn expect_replies(&self) {
        *lock(&self.replies_until) = Some(Instant::now() + REPLIES);
    }

    pub(crate) fn answered(&self) {
        *lock(&self.replies_until) = None;
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        self.pause();
    }
}

#[derive(Debug)]
struct Reader {
    source: File,
    events: UnboundedSender<InputEvent>,
    decoder: Decoder,
    pasting: Pasting,
    kitty_confirmed: Arc<AtomicBool>,
    replies_until: Arc<Mutex<Option<Instant>>>,
    stop: PipeReader,
    stopped: Sender<()>,
    /// Fails when [`Input`] is dropped.
    resumed: Receiver<()>,
}

/// Detects a paste that never ends because the connection broke: it would swallow everything typed,
/// even the Ctrl+C that stops a run.
#[derive(Debug, Default)]
struct Pasting {
    /// Since when only single keys came, and how many; `None` while more comes.
    keys: Option<(Instant, usize)>,
}

impl Pasting {
    /// Notes a read while a paste is open. Returns true once the paste must have ended.
    fn is_ended_by(&mut self, bytes: &[u8]) -> bool {
        if INTERRUPTS.contains(&bytes) {
            return true;
        }
        if bytes.len() > MAX_KEY_BYTES {
            self.keys = None;
        } else {
            let (_, count) = self.keys.get_or_insert((Instant::now(), 0));
            *count += 1;
        }
        false
    }

    /// How long the paste may stay open without further input.
    fn timeout(&self, otherwise: Option<Duration>) -> Option<Duration> {
        match self.keys {
            Some((since, _)) => Some(KEYS_IN_PASTE.saturating_sub(since.elapsed())),
            None => otherwise,
        }
    }

    /// Whether more keys came than a user can type: a paste over a slow line.
    fn is_only_slow(&mut self) -> bool {
        matches!(self.keys.take(), Some((_, count)) if count > MAX_TYPED_KEYS)
    }
}

enum Woken {
    Bytes,
    Stopped,
    TimedOut,
    Interrupted,
}

impl Reader {
    /// Reads until the handle is dropped, or the terminal is closed.
    fn run(mut self) {
        let mut buffer = vec![0; READ_SIZE];
        // Before raw mode the terminal turns Enter into a line feed. Text after it is a paste; an
        // escape sequence is most likely a reply.
        let mut early = rustix::io::ioctl_fionread(&self.source).unwrap_or(0) as usize;
        loop {
            let mut out = Vec::new();
            match self.wait() {
                Ok(Woken::Interrupted) => {}
                Ok(Woken::TimedOut) if self.pasting.is_only_slow() => {}
                Ok(Woken::TimedOut) => self.decoder.expire(&mut out),
                // Held-back bytes belong to the time before the pause.
                Ok(Woken::Stopped) => {
                    self.decoder.expire(&mut out);
                    self.send(out);
                    if !self.wait_out_pause() {
                        return;
                    }
                    continue;
                }
                Ok(Woken::Bytes) => match self.source.read(&mut buffer) {
                    Ok(n) if n > 0 => {
                        let typed = n.min(std::mem::take(&mut early));
                        if let Some(enter) = memchr::memchr(b'\n', &buffer[..typed])
                            && (enter + 1 == typed || buffer[enter + 1] == b'\x1b')
                        {
                            buffer[enter] = b'\r';
                        }
                        self.take(&buffer[..n], &mut out);
                    }
                    Err(error) if is_passing(&error) => {}
                    Ok(_) | Err(_) => return self.close(),
                },
                Err(_) => return self.close(),
            }
            self.send(out);
        }
    }

    /// Returns whether to read on.
    fn wait_out_pause(&mut self) -> bool {
        self.stop.read_exact(&mut [0]).is_ok()
            && self.stopped.send(()).is_ok()
            && self.resumed.recv().is_ok()
    }

    fn take(&mut self, bytes: &[u8], out: &mut Vec<InputEvent>) {
        if self.decoder.is_in_paste() && self.pasting.is_ended_by(bytes) {
            self.decoder.expire(out);
        }
        self.decoder.feed(bytes, out);
        if out
            .iter()
            .any(|event| matches!(event, InputEvent::Report(_)))
        {
            // The terminal does reply, but slowly.
            let mut until = lock(&self.replies_until);
            *until = until.map(|_| Instant::now() + REPLIES);
        }
    }

    fn wait(&mut self) -> nix::Result<Woken> {
        let escape = if self.kitty_confirmed.load(Ordering::Relaxed) {
            Escape::Sequence
        } else if lock(&self.replies_until).is_some_and(|until| Instant::now() < until) {
            Escape::Reply
        } else {
            Escape::Ambiguous
        };
        let mut timeout = self.decoder.timeout(escape);
        if self.decoder.is_in_paste() {
            timeout = self.pasting.timeout(timeout);
        } else {
            self.pasting = Pasting::default();
        }
        Ok(
            match readable([self.stop.as_fd(), self.source.as_fd()], timeout) {
                Ok([true, _]) => Woken::Stopped,
                Ok([false, true]) => Woken::Bytes,
                Ok([false, false]) => Woken::TimedOut,
                Err(Errno::EINTR) => Woken::Interrupted,
                Err(error) => return Err(error),
            },
        )
    }

    fn close(mut self) {
        let mut out = Vec::new();
        self.decoder.expire(&mut out);
        out.push(InputEvent::Closed);
        self.send(out);
    }

    fn send(&self, events: Vec<InputEvent>) {
        for event in events {
            // The receiver is gone only when the program ends.
            let _ = self.events.send(event);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until a descriptor is readable; returns which ones are, or none after the timeout.
#[cfg(not(target_os = "macos"))]
fn readable(fds: [BorrowedFd<'_>; 2], timeout: Option<Duration>) -> nix::Result<[bool; 2]> {
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    let timeout = timeout.map_or(PollTimeout::NONE, |timeout| {
        PollTimeout::try_from(timeout).unwrap_or(PollTimeout::MAX)
    });
    let mut fds = fds.map(|fd| PollFd::new(fd, PollFlags::POLLIN));
    poll(&mut fds, timeout)?;
    Ok(fds.map(|fd| fd.any() == Some(true)))
}

/// The same with `select`: on macOS, `poll` returns POLLNVAL for a terminal device.
#[cfg(target_os = "macos")]
fn readable(fds: [BorrowedFd<'_>; 2], timeout: Option<Duration>) -> nix::Result<[bool; 2]> {
    use nix::sys::select::{FdSet, select};
    use nix::sys::time::{TimeVal, TimeValLike};
    let mut ready = FdSet::new();
    for fd in fds {
        ready.insert(fd);
    }
    let mut timeout = timeout.map(|timeout| TimeVal::microseconds(timeout.as_micros() as i64));
    select(None, &mut ready, None, None, &mut timeout)?;
    Ok(fds.map(|fd| ready.contains(fd)))
}
