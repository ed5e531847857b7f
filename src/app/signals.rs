//! Signals as one stream. tokio catches them: children would inherit a mask or `SIG_IGN`.

use std::future::poll_fn;
use std::io;
use std::task::Poll;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Signals and their meanings, the most urgent first.
#[derive(Debug)]
pub(crate) struct Signals<T>(Vec<(Signal, T)>);

impl<T: Copy> Signals<T> {
    /// Starts catching these signals. Call within a tokio runtime.
    pub fn new(meanings: impl IntoIterator<Item = (i32, T)>) -> io::Result<Self> {
        let catch = |(number, meaning)| Ok((signal(SignalKind::from_raw(number))?, meaning));
        let caught: io::Result<Vec<_>> = meanings.into_iter().map(catch).collect();
        Ok(Self(caught?))
    }

    /// Catches these too, as the least urgent.
    pub fn also(&mut self, meanings: impl IntoIterator<Item = (i32, T)>) -> io::Result<()> {
        self.0.extend(Self::new(meanings)?.0);
        Ok(())
    }

    /// Waits for the next signal. Cancel-safe.
    pub async fn next(&mut self) -> T {
        poll_fn(|context| {
            for (signal, meaning) in &mut self.0 {
                if signal.poll_recv(context).is_ready() {
                    return Poll::Ready(*meaning);
                }
            }
            Poll::Pending
        })
        .await
    }
}
