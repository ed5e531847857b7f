//! Locks in memory and on files.

use std::fs::File;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, even if a holder panicked: what these protect is valid at every moment.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A lock on a file or folder, released when it is dropped.
#[derive(Debug)]
pub(super) struct FileLock(pub File);

impl Drop for FileLock {
    fn drop(&mut self) {
        // Dropping isn't enough: a program that is just starting may hold a copy of the descriptor.
        let _ = self.0.unlock();
    }
}
