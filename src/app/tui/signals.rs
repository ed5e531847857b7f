//! Signals, as one stream. Taken by tokio, never by a mask or `SIG_IGN`: children would inherit
//! those.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// A signal that means something to the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caught {
    /// The size of the terminal changed.
    Resize,
    /// Somebody asks us to interrupt.
    Interrupt,
    /// Somebody asks us to end: the signal's number.
    End(i32),
    /// Somebody asks us to stop.
    Stop,
    /// We were continued.
    Continue,
}

/// All of them.
#[derive(Debug)]
pub struct Signals {
    resize: Signal,
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
    quit: Signal,
    stop: Signal,
    proceed: Signal,
}

impl Signals {
    /// Begins to catch. Must be called within a tokio runtime.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            resize: signal(SignalKind::window_change())?,
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            quit: signal(SignalKind::quit())?,
            stop: signal(SignalKind::from_raw(nix::sys::signal::SIGTSTP as i32))?,
            proceed: signal(SignalKind::from_raw(nix::sys::signal::SIGCONT as i32))?,
        })
    }

    /// The next one. Loses nothing when dropped before it is there.
    pub async fn next(&mut self) -> Caught {
        tokio::select! {
            biased;
            _ = self.terminate.recv() => Caught::End(15),
            _ = self.hang_up.recv() => Caught::End(1),
            _ = self.quit.recv() => Caught::End(3),
            _ = self.interrupt.recv() => Caught::Interrupt,
            _ = self.proceed.recv() => Caught::Continue,
            _ = self.stop.recv() => Caught::Stop,
            _ = self.resize.recv() => Caught::Resize,
        }
    }
}
