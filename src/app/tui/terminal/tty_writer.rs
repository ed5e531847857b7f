//! Writes to the terminal without blocking; buffers what the terminal doesn't read at once.
//!
//! A terminal that stops reading (a suspended window, a dead connection) must not stop the loop: no
//! key, signal or abort would get through. It reopens the terminal for that, because the shell
//! shares the inherited descriptor and must not find it non-blocking.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::termios::{FlushArg, tcflush};
use nix::unistd::ttyname;
use tokio::net::unix::pipe::Sender;

#[derive(Debug)]
pub struct TtyWriter {
    file: File,
    /// Bytes that the terminal hasn't read yet.
    rest: Mutex<Vec<u8>>,
}

/// How long to wait for a terminal at exit.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// While it takes nothing.
    pub for_more: Duration,
    /// In total, however much it takes.
    pub in_all: Duration,
}

impl Patience {
    const NONE: Self = Self {
        for_more: Duration::ZERO,
        in_all: Duration::ZERO,
    };
}

impl TtyWriter {
    /// Reopens the terminal of `shared`. If that fails, uses `shared`, and writes may block. `is_stdout` says
    /// that `shared` is this process's.
    pub fn open(shared: BorrowedFd<'_>, is_stdout: bool) -> io::Result<Self> {
        let own = |path: PathBuf| {
            OpenOptions::new()
                .write(true)
                .custom_flags((OFlag::O_NONBLOCK | OFlag::O_NOCTTY).bits())
                .open(path)
        };
        let file = ttyname(shared)
            .map_err(io::Error::from)
            .and_then(own)
            .or_else(|error| {
                let again = is_stdout.then(|| own(Path::new("/proc/self/fd/1").to_owned()));
                again.unwrap_or(Err(error))
            });
        let file = match file {
            Ok(file) => file,
            Err(_) => File::from(shared.try_clone_to_owned()?),
        };
        Ok(Self {
            file,
            rest: Mutex::new(Vec::new()),
        })
    }

    /// Writes `bytes` after those still buffered.
    pub fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let mut rest = self.rest();
        if !rest.is_empty() {
            rest.extend_from_slice(bytes);
            return Ok(());
        }
        let taken = self.push(bytes)?;
        rest.extend_from_slice(&bytes[taken..]);
        Ok(())
    }

    pub fn is_behind(&self) -> bool {
        !self.rest().is_empty()
    }

    /// Waits until everything is written. Cancel-safe.
    pub async fn caught_up(&self) -> io::Result<()> {
        // Registered only now, so that an idle terminal doesn't wake the loop.
        let watched = Sender::from_file_unchecked(self.file.try_clone()?)?;
        while self.is_behind() {
            watched.writable().await?;
            let mut rest = self.rest();
            match watched.try_write(&rest) {
                Ok(taken) => drop(rest.drain(..taken)),
                Err(error) if is_passing(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Writes the buffer and `last`. If the terminal doesn't read, discards the buffer so that at
    /// least `last` arrives. For the end of the program, even by a panic. Returns whether nothing
    /// was discarded.
    pub fn finish(&self, last: &[u8], patience: Patience) -> bool {
        let mut waiting = match self.rest.try_lock() {
            Ok(mut rest) => std::mem::take(&mut *rest),
            Err(TryLockError::Poisoned(poisoned)) => std::mem::take(&mut *poisoned.into_inner()),
            // The holder of the lock is what panicked.
            Err(TryLockError::WouldBlock) => Vec::new(),
        };
        waiting.extend_from_slice(last);
        let is_written = self.write_all(&waiting, patience);
        if !is_written {
            let _ = tcflush(&self.file, FlushArg::TCOFLUSH);
            self.write_all(last, Patience::NONE);
        }
        is_written
    }

    /// Writes last words after [`TtyWriter::finish`], as far as the terminal takes them in time.
    pub fn say(&self, text: &[u8], patience: Patience) {
        self.write_all(text, patience);
    }

    /// Writes as much as possible without waiting.
    fn push(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut taken = 0;
        while taken < bytes.len() {
            match (&self.file).write(&bytes[taken..]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => taken += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if is_passing(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(taken)
    }

    /// Whether all was written in time, or the terminal is gone.
    fn write_all(&self, mut bytes: &[u8], patience: Patience) -> bool {
        let end = Instant::now() + patience.in_all;
        loop {
            match self.push(bytes) {
                Ok(taken) => bytes = &bytes[taken..],
                Err(_) => return true,
            }
            let left = end.saturating_duration_since(Instant::now());
            let left = left.min(patience.for_more);
            if bytes.is_empty() || left.is_zero() {
                return bytes.is_empty();
            }
            let mut fds = [PollFd::new(self.file.as_fd(), PollFlags::POLLOUT)];
            let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
            if poll(&mut fds, timeout) == Ok(0) {
                return false;
            }
        }
    }

    fn rest(&self) -> MutexGuard<'_, Vec<u8>> {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a read or write that failed like this may succeed later.
pub(super) fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock)
}
