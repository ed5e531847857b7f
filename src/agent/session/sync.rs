//! Syncs writes to disk on a separate thread, so that nothing waits for it. One sync serves all
//! requests that arrive within moments or while the disk is busy.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;

use crate::lock::lock;

/// How long to collect more lines before a sync, because a prompt or result is several lines.
const GATHER: Duration = Duration::from_millis(5);

/// The channel to the thread. Dropping it ends the thread.
#[derive(Debug)]
pub(super) struct Syncer {
    /// Requests a sync, optionally with a reply when done.
    requests: Sender<Option<oneshot::Sender<()>>>,
    /// True from a request until its sync begins; further requests change nothing.
    is_due: Arc<AtomicBool>,
    failed: Arc<Mutex<Option<io::Error>>>,
}

impl Syncer {
    pub fn spawn(file: Arc<File>) -> io::Result<Self> {
        let (requests, inbox) = mpsc::channel::<Option<oneshot::Sender<()>>>();
        let failed = Arc::<Mutex<Option<io::Error>>>::default();
        let report = Arc::clone(&failed);
        let is_due = Arc::<AtomicBool>::default();
        let due = Arc::clone(&is_due);
        thread::Builder::new()
            .name(String::from("session-sync"))
            .spawn(move || {
                while let Ok(first) = inbox.recv() {
                    let mut waiting = vec![first];
                    // `settle` waits for a reply, so its sync starts at once.
                    if waiting[0].is_none() {
                        waiting.extend(inbox.recv_timeout(GATHER));
                    }
                    due.store(false, Ordering::SeqCst);
                    waiting.extend(inbox.try_iter());
                    if let Err(error) = file.sync_data() {
                        *lock(&report) = Some(error);
                    }
                    for done in waiting.into_iter().flatten() {
                        let _ = done.send(());
                    }
                }
            })?;
        Ok(Self {
            requests,
            is_due,
            failed,
        })
    }

    /// Requests a sync. Returns at once.
    pub fn request(&self) {
        if !self.is_due.swap(true, Ordering::SeqCst) {
            let _ = self.requests.send(None);
        }
    }

    /// The last sync error, reported once.
    pub fn take_error(&self) -> Option<io::Error> {
        lock(&self.failed).take()
    }

    /// Waits until everything written so far is synced.
    pub async fn settle(&self) {
        let (done, wait) = oneshot::channel();
        let _ = self.requests.send(Some(done));
        let _ = wait.await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_sync_that_fails_is_told_once() {
        // A device that cannot be synced.
        let file = File::open("/dev/null").unwrap();
        let syncer = Syncer::spawn(Arc::new(file)).unwrap();
        syncer.request();
        syncer.settle().await;
        assert!(syncer.take_error().is_some());
        assert!(syncer.take_error().is_none());
    }
}
