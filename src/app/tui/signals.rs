//! Signals, as one stream. Taken by tokio, never by a mask or `SIG_IGN`: children would inherit
//! those.

use std::future::poll_fn;
use std::io;
use std::task::Poll;

use nix::sys::signal::Signal as Number;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Signals that would end the program without giving the terminal back.
const ENDING: [Number; 9] = [
    Number::SIGTERM,
    Number::SIGHUP,
    Number::SIGQUIT,
    Number::SIGUSR1,
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

/// The signals, the most urgent first.
#[derive(Debug)]
pub struct Signals(Vec<(Signal, SignalEvent)>);

impl Signals {
    /// Begins to catch. Must be called within a tokio runtime.
    pub fn new() -> io::Result<Self> {
        let end = |number| (number, SignalEvent::End(number as i32));
        let others = [
            (Number::SIGINT, SignalEvent::Interrupt),
            (Number::SIGCONT, SignalEvent::Continue),
            (Number::SIGTSTP, SignalEvent::Stop),
            (Number::SIGWINCH, SignalEvent::Resize),
        ];
        let all = ENDING.into_iter().map(end).chain(others);
        let caught =
            all.map(|(number, event)| Ok((signal(SignalKind::from_raw(number as i32))?, event)));
        Ok(Self(caught.collect::<io::Result<_>>()?))
    }

    /// The next one. Loses nothing when dropped before it is there.
    pub async fn next(&mut self) -> SignalEvent {
        poll_fn(|context| {
            for (signal, event) in &mut self.0 {
                if signal.poll_recv(context).is_ready() {
                    return Poll::Ready(*event);
                }
            }
            Poll::Pending
        })
        .await
    }
}
