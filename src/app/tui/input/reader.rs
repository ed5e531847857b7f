//! The thread that reads the terminal, and the handle that stops it for a while.
//!
//! Reading is a thread of its own so that nothing the screen does can delay or lose a byte. It
//! reads only after `poll` said there is something, so that [`Input::pause`] never waits for a
//! key, and after it returned no byte is taken that belongs to another program.

use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use super::decoder::{Decoder, Escape};
use super::event::InputEvent;

/// Bytes taken from the terminal at once.
const READ_SIZE: usize = 64 * 1024;

/// Ctrl+C, alone in a read, in all its forms: nobody pastes that.
const INTERRUPTS: [&[u8]; 3] = [b"\x03", b"\x1b[99;5u", b"\x1b[27;5;99~"];
/// Bytes of the longest key; a read with more is part of a paste.
const MAX_KEY_BYTES: usize = 16;
/// A paste that brings nothing but single keys for so long has ended.
const KEYS_IN_PASTE: Duration = Duration::from_millis(500);
/// Keys that somebody can type in that time.
const MAX_TYPED_KEYS: usize = 25;

/// The reading of the terminal. Ends when dropped.
#[derive(Debug)]
pub struct Input {
    shared: Arc<Shared>,
    wake: PipeWriter,
    thread: Option<JoinHandle<()>>,
}

impl Input {
    /// Reads standard input, or the controlling terminal where standard input is something else.
    pub fn start() -> io::Result<(Self, UnboundedReceiver<InputEvent>)> {
        let stdin = io::stdin();
        let source = if stdin.is_terminal() {
            stdin.as_fd().try_clone_to_owned()?
        } else {
            File::open("/dev/tty")?.into()
        };
        Self::start_on(source)
    }

    /// Reads any file descriptor that can be polled.
    pub fn start_on(source: OwnedFd) -> io::Result<(Self, UnboundedReceiver<InputEvent>)> {
        let (wake_reader, wake) = io::pipe()?;
        let (events, receiver) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared::default());
        let reader = Reader {
            source: source.into(),
            wake: wake_reader,
            shared: shared.clone(),
            events,
            decoder: Decoder::default(),
            pasting: Pasting::default(),
        };
        let thread = thread::Builder::new()
            .name("input".into())
            .spawn(move || reader.run())?;
        let input = Self {
            shared,
            wake,
            thread: Some(thread),
        };
        Ok((input, receiver))
    }

    /// Stops reading, for as long as another program owns the terminal. When this returns no read
    /// is under way and none begins before [`Input::resume`]. Takes well below a millisecond.
    pub fn pause(&self) {
        let mut state = self.shared.lock();
        state.wanted = Wanted::Paused;
        self.wake();
        while state.actual == Actual::Reading {
            state = self.shared.wait(state);
        }
    }

    /// Reads again.
    pub fn resume(&self) {
        let mut state = self.shared.lock();
        if state.wanted == Wanted::Paused {
            state.wanted = Wanted::Reading;
            self.shared.changed.notify_all();
        }
    }

    /// Whether the terminal's answer confirmed the kitty keyboard protocol: then the Esc key has a
    /// sequence of its own, and a lone ESC byte is always the start of one.
    pub fn confirm_kitty(&self, confirmed: bool) {
        self.shared.lock().escape = if confirmed {
            Escape::Sequence
        } else {
            Escape::Ambiguous
        };
    }

    fn wake(&self) {
        // A byte that cannot be written finds the pipe full or the thread gone: both are fine.
        let _ = (&self.wake).write(&[0]);
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        self.shared.lock().wanted = Wanted::Stopped;
        self.shared.changed.notify_all();
        self.wake();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What handle and thread both see.
#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    wanted: Wanted,
    actual: Actual,
    escape: Escape,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Wanted {
    #[default]
    Reading,
    Paused,
    Stopped,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Actual {
    #[default]
    Reading,
    /// Paused, or ended.
    Still,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed
            .wait(state)
            .unwrap_or_else(PoisonError::into_inner)
    }
}

struct Reader {
    source: File,
    wake: PipeReader,
    shared: Arc<Shared>,
    events: UnboundedSender<InputEvent>,
    decoder: Decoder,
    pasting: Pasting,
}

/// Looks for a paste whose end never comes (a connection that broke in it): what the user types
/// would be swallowed, also the Ctrl+C that stops a run.
#[derive(Debug, Default)]
struct Pasting {
    /// Since when there was nothing but single keys, and how many; none while more comes.
    keys: Option<(Instant, usize)>,
}

impl Pasting {
    /// Takes note of what was read while a paste is open. True when the paste has ended there.
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

    /// How long the paste may go on if nothing else comes.
    fn timeout(&self, otherwise: Option<Duration>) -> Option<Duration> {
        match self.keys {
            Some((since, _)) => Some(KEYS_IN_PASTE.saturating_sub(since.elapsed())),
            None => otherwise,
        }
    }

    /// Whether a paste over a slow line explains what came better than somebody who types.
    fn is_only_slow(&mut self) -> bool {
        matches!(self.keys.take(), Some((_, count)) if count > MAX_TYPED_KEYS)
    }
}

/// What ended a wait.
enum Woken {
    Bytes,
    ByHandle,
    TimeOut,
}

impl Reader {
    fn run(mut self) {
        self.read_until_closed();
        self.shared.lock().actual = Actual::Still;
        self.shared.changed.notify_all();
    }

    fn read_until_closed(&mut self) {
        let mut buffer = vec![0; READ_SIZE];
        while let Some(escape) = self.go_on() {
            let mut timeout = self.decoder.timeout(escape);
            if self.decoder.is_in_paste() {
                timeout = self.pasting.timeout(timeout);
            } else {
                self.pasting = Pasting::default();
            }
            let Ok(woken) = self.wait(timeout) else {
                return self.close();
            };
            let mut out = Vec::new();
            match woken {
                Woken::ByHandle => continue,
                Woken::TimeOut if self.pasting.is_only_slow() => {}
                Woken::TimeOut => self.decoder.expire(&mut out),
                Woken::Bytes => match self.source.read(&mut buffer) {
                    Ok(0) => return self.close(),
                    Ok(n) => {
                        let bytes = &buffer[..n];
                        if self.decoder.is_in_paste() && self.pasting.is_ended_by(bytes) {
                            self.decoder.expire(&mut out);
                        }
                        self.decoder.feed(bytes, &mut out);
                    }
                    Err(error) if is_passing(&error) => continue,
                    Err(_) => return self.close(),
                },
            }
            self.send(out);
        }
    }

    /// Waits out a pause. The meaning of a lone ESC, or `None` to stop.
    fn go_on(&mut self) -> Option<Escape> {
        let shared = self.shared.clone();
        let mut state = shared.lock();
        while state.wanted == Wanted::Paused {
            if state.actual == Actual::Reading {
                // What was held back belongs to the time before the pause.
                let mut out = Vec::new();
                self.decoder.expire(&mut out);
                self.send(out);
                state.actual = Actual::Still;
                shared.changed.notify_all();
            }
            state = shared.wait(state);
        }
        state.actual = Actual::Reading;
        (state.wanted == Wanted::Reading).then_some(state.escape)
    }

    fn wait(&mut self, timeout: Option<Duration>) -> io::Result<Woken> {
        let [woken, bytes] = match readable([self.wake.as_fd(), self.source.as_fd()], timeout) {
            Ok(ready) => ready,
            // As if woken: the state is looked at again, then the wait starts over.
            Err(Errno::EINTR) => return Ok(Woken::ByHandle),
            Err(error) => return Err(error.into()),
        };
        if woken {
            let mut bytes = [0; 64];
            let _ = self.wake.read(&mut bytes)?;
            return Ok(Woken::ByHandle);
        }
        Ok(if bytes { Woken::Bytes } else { Woken::TimeOut })
    }

    fn close(&mut self) {
        let mut out = Vec::new();
        self.decoder.expire(&mut out);
        out.push(InputEvent::Closed);
        self.send(out);
    }

    fn send(&self, events: Vec<InputEvent>) {
        for event in events {
            // The receiver is gone only while the program ends.
            let _ = self.events.send(event);
        }
    }
}

/// Waits until one of the descriptors can be read; which ones can. None can when time ran out.
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

/// The same by `select`: `poll` of macOS answers POLLNVAL for a terminal device.
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

/// Whether a read that failed this way may succeed later.
fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock)
}
