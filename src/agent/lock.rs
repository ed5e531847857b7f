//! Locks that stay usable when whoever held one has panicked: what they guard is whole at every moment.

use std::sync::{Mutex, MutexGuard, PoisonError};

pub(in crate::agent) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
