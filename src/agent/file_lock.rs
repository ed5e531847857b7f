//! A lock on a file or folder, released when it is dropped.

use std::fs::File;

#[derive(Debug)]
pub(super) struct FileLock(pub File);

impl Drop for FileLock {
    fn drop(&mut self) {
        // Dropping isn't enough: a program that is just starting may hold a copy of the descriptor.
        let _ = self.0.unlock();
    }
}
