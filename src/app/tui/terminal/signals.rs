//! The signals that the screen catches.

use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use nix::sys::signal::Signal as Number;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::app::signals::Signals;
use crate::app::steer::{ScreenUpdate, to_line};

/// Signals that would end the program without restoring the terminal. Signals raised by a bug in
/// the program (an abort, a stack overflow) can't be handled this way: they would return to the
/// fault.
const ENDING: &[Number] = &[
    Number::SIGTERM,
    Number::SIGHUP,
    Number::SIGQUIT,
    Number::SIGUSR2,
    Number::SIGALRM,
    Number::SIGVTALRM,
    Number::SIGPROF,
    Number::SIGXCPU,
    Number::SIGABRT,
    Number::SIGTRAP,
    Number::SIGSYS,
    Number::SIGIO,
    #[cfg(target_os = "linux")]
    Number::SIGPWR,
    #[cfg(target_os = "linux")]
    Number::SIGSTKFLT,
];

/// Signals that would also end the program. Hardly anybody sends them, and there are so many that
/// catching them would delay the first frame.
#[cfg(target_os = "linux")]
fn real_time() -> impl Iterator<Item = i32> {
    nix::libc::SIGRTMIN()..=nix::libc::SIGRTMAX()
}

#[cfg(not(target_os = "linux"))]
fn real_time() -> impl Iterator<Item = i32> {
    std::iter::empty()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalEvent {
    Resize,
    Interrupt,
    /// The number of a signal that ends the program.
    End(i32),
    Stop,
    Continue,
    /// The client has taken its terminal back.
    TakenBack,
}

/// Where the screen's signals come from.
pub enum Source {
    /// This process.
    Own(Signals<SignalEvent>),
    /// The client in whose terminal the screen is.
    Client(ClientSignals),
}

/// What happens to a client.
pub struct ClientSignals {
    /// Its signals, and `None` for a ping.
    pub received: UnboundedReceiver<Option<SignalEvent>>,
    /// The connection, for the answers to pings.
    pub client: Arc<UnixStream>,
}

impl ClientSignals {
    /// Waits for the next signal and answers pings. Cancel-safe.
    async fn next(&mut self) -> SignalEvent {
        loop {
            match self.received.recv().await {
                Some(Some(signal)) => return signal,
                // The screen's loop runs, and if this task does, so does the agent's runtime.
                Some(None) => {
                    let client = Arc::clone(&self.client);
                    tokio::spawn(async move {
                        let _ = (&*client).write_all(&to_line(&ScreenUpdate::Alive));
                    });
                }
                None => return SignalEvent::End(Number::SIGHUP as i32),
            }
        }
    }
}

impl Source {
    /// Waits for the next signal. Cancel-safe.
    pub async fn next(&mut self) -> SignalEvent {
        match self {
            Self::Own(signals) => signals.next().await,
            Self::Client(signals) => signals.next().await,
        }
    }
}

/// All but the real-time signals, most urgent first. Must be called within a tokio runtime.
pub fn catch() -> io::Result<Signals<SignalEvent>> {
    let others = [
        (Number::SIGINT, SignalEvent::Interrupt),
        (Number::SIGCONT, SignalEvent::Continue),
        (Number::SIGTSTP, SignalEvent::Stop),
        (Number::SIGWINCH, SignalEvent::Resize),
    ];
    let others = others.map(|(number, meaning)| (number as i32, meaning));
    let ending = ENDING.iter().map(|number| *number as i32);
    let ending = ending.map(|number| (number, SignalEvent::End(number)));
    Signals::new(ending.chain(others))
}

/// Catches the real-time signals too.
pub fn catch_rest(signals: &mut Source) -> io::Result<()> {
    let Source::Own(signals) = signals else {
        return Ok(());
    };
    signals.also(real_time().map(|number| (number, SignalEvent::End(number))))
}
