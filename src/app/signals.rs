//! Signals, as one stream. Taken by tokio, never by a mask or `SIG_IGN`: children would inherit
//! those.

use std::future::poll_fn;
use std::io;
use std::task::Poll;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Some signals with what each means, the most urgent first.
#[derive(Debug)]
pub(crate) struct Signals<T>(Vec<(Signal, T)>);

impl<T: Copy> Signals<T> {
    /// Begins to catch those with these numbers. Must be called within a tokio runtime.
    pub fn new(meanings: impl IntoIterator<Item = (i32, T)>) -> io::Result<Self> {
        let catch = |(number, meaning)| Ok((signal(SignalKind::from_raw(number))?, meaning));
        let caught: io::Result<Vec<_>> = meanings.into_iter().map(catch).collect();
        Ok(Self(caught?))
    }

    /// The next one. Loses nothing when dropped before it is there.
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
