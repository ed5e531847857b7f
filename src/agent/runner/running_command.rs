//! Counts the commands that may leave something in the project.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use tokio::runtime::Handle;

use crate::lock::lock;
use crate::workspace::Repositories;

/// A command that may be running: from before its start until it ends or this is dropped.
pub(super) struct RunningCommand {
    repositories: Arc<Mutex<Repositories>>,
    is_counted: AtomicBool,
    has_returned: AtomicBool,
}

impl RunningCommand {
    pub fn count(repositories: Arc<Mutex<Repositories>>, known: &mut Repositories) -> Arc<Self> {
        known.another_command();
        Arc::new(Self {
            repositories,
            is_counted: AtomicBool::new(true),
            has_returned: AtomicBool::new(false),
        })
    }

    /// Notes that its call has returned. `is_over` means that no process of it is left.
    pub fn returned(&self, repositories: &mut Repositories, is_over: bool) {
        if !self.has_returned.swap(true, Ordering::Relaxed) {
            repositories.call_returned();
        }
        if is_over && self.is_counted.swap(false, Ordering::Relaxed) {
            repositories.command_ended();
        }
    }
}

impl Drop for RunningCommand {
    fn drop(&mut self) {
        if !self.is_counted.swap(false, Ordering::Relaxed) {
            return;
        }
        let repositories = Arc::clone(&self.repositories);
        let in_foreground = !self.has_returned.swap(true, Ordering::Relaxed);
        let end = move || {
            let mut known = lock(&repositories);
            if in_foreground {
                known.call_returned();
            }
            known.command_ended();
        };
        // A look may take time, and nothing waits for this one.
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(end)),
            Err(_) => end(),
        }
    }
}
