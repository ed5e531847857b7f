//! The thread that decodes and scales pictures: a large one takes longer than a frame.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use super::head::Fault;
use super::layout::Protocol;
use super::scale::{Scaled, scale};
use super::source::Picture;

/// Identifies a scaled picture: everything its pixels depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    pub id: u64,
    /// Columns and rows.
    pub cells: (u16, u16),
    pub pixels: (u32, u32),
    pub protocol: Protocol,
}

/// A picture to decode and scale.
#[derive(Debug)]
pub struct Job {
    pub key: Key,
    pub picture: Picture,
}

pub type Done = (Key, Result<Scaled, Fault>);

/// The thread calls it whenever something is done.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// The thread. It ends when this is dropped.
#[derive(Debug)]
pub struct PictureWorker {
    jobs: Sender<Job>,
    done: Receiver<Done>,
}

impl PictureWorker {
    pub fn start(wake: Wake) -> Self {
        let (jobs, inbox) = channel::<Job>();
        let (outbox, done) = channel();
        let work = move || {
            while let Ok(job) = inbox.recv() {
                let Key {
                    pixels, protocol, ..
                } = job.key;
                let scale = || scale(job.picture.base64(), pixels, protocol);
                // The bytes are untrusted, and decoders have bugs.
                let scaled = catch_unwind(AssertUnwindSafe(scale));
                let scaled = scaled.unwrap_or(Err(Fault::Damaged));
                if outbox.send((job.key, scaled)).is_err() {
                    return;
                }
                wake();
            }
        };
        // Without a thread, pictures stay blank: no reason to fail.
        let _ = thread::Builder::new()
            .name("pictures".to_owned())
            .spawn(work);
        Self { jobs, done }
    }

    pub fn send(&self, job: Job) {
        let _ = self.jobs.send(job);
    }

    /// The next finished picture, if one is done within `wait`.
    pub fn receive(&self, wait: Duration) -> Option<Done> {
        self.done.recv_timeout(wait).ok()
    }
}
