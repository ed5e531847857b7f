//! Makes what was written survive a power cut, on a thread of its own so that nothing waits for
//! the disk. Requests that pile up while the disk is busy are answered by one more sync.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread;

use tokio::sync::oneshot;

/// The way to the thread; it ends when this is dropped.
#[derive(Debug)]
pub(super) struct Syncer {
    requests: Sender<Request>,
}

enum Request {
    Sync,
    Answer(oneshot::Sender<()>),
}

impl Syncer {
    /// A thread that syncs `file` on request.
    pub fn spawn(file: Arc<File>) -> io::Result<Self> {
        let (requests, inbox) = mpsc::channel();
        thread::Builder::new()
            .name(String::from("session-sync"))
            .spawn(move || {
                while let Ok(first) = inbox.recv() {
                    let waiting: Vec<_> = std::iter::once(first).chain(inbox.try_iter()).collect();
                    if let Err(error) = file.sync_data() {
                        tracing::warn!("session file not synced: {error}");
                    }
                    for request in waiting {
                        if let Request::Answer(done) = request {
                            let _ = done.send(());
                        }
                    }
                }
            })?;
        Ok(Self { requests })
    }

    /// Asks for a sync. Returns at once.
    pub fn request(&self) {
        let _ = self.requests.send(Request::Sync);
    }

    /// Returns when everything written so far is synced.
    pub async fn settle(&self) {
        let (done, wait) = oneshot::channel();
        let _ = self.requests.send(Request::Answer(done));
        let _ = wait.await;
    }
}
