//! The signals that the screen catches, and what they mean to it.

use std::io;

use nix::sys::signal::Signal as Number;

use crate::app::signals::Signals;

/// Signals that would end the program without giving the terminal back.
const ENDING: [Number; 8] = [
    Number::SIGTERM,
    Number::SIGHUP,
    Number::SIGQUIT,
    Number::SIGUSR2,
    Number::SIGALRM,
    Number::SIGVTALRM,
    Number::SIGPROF,
    Number::SIGXCPU,
];

/// A signal that means something to the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalEvent {
    Resize,
    Interrupt,
    /// The number of a signal that would end the program.
    End(i32),
    Stop,
    Continue,
}

/// All of them, the most urgent first. Must be called within a tokio runtime.
pub fn catch() -> io::Result<Signals<SignalEvent>> {
    let end = |number| (number, SignalEvent::End(number as i32));
    let others = [
        (Number::SIGINT, SignalEvent::Interrupt),
        (Number::SIGCONT, SignalEvent::Continue),
        (Number::SIGTSTP, SignalEvent::Stop),
        (Number::SIGWINCH, SignalEvent::Resize),
    ];
    Signals::new(ENDING.into_iter().map(end).chain(others))
}
