//! A file or folder that stays locked as long as somebody holds this.

use std::fs::File;

#[derive(Debug)]
pub(super) struct FileLock(pub File);

impl Drop for FileLock {
    fn drop(&mut self) {
        // A program that is just being started still has a copy of the descriptor.
        let _ = self.0.unlock();
    }
}
