//! Tasks that threads share until all are done. A task can add more.

use std::sync::{Condvar, Mutex, PoisonError};

use crate::lock::lock;

/// Tasks to do. The newest comes first, so that it stays short.
pub struct Queue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    tasks: Vec<T>,
    /// Threads at work, which may add tasks.
    busy: usize,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self {
            state: Mutex::new(State {
                tasks: Vec::new(),
                busy: 0,
            }),
            changed: Condvar::new(),
        }
    }
}

impl<T> Queue<T> {
    pub fn push(&self, tasks: Vec<T>) {
        if !tasks.is_empty() {
            lock(&self.state).tasks.extend(tasks);
            self.changed.notify_all();
        }
    }

    /// Waits for a task. None when all are done.
    pub fn next(&self) -> Option<(T, Busy<'_, T>)> {
        let mut state = lock(&self.state);
        loop {
            if let Some(task) = state.tasks.pop() {
                state.busy += 1;
                return Some((task, Busy(self)));
            }
            if state.busy == 0 {
                return None;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Marks a thread as busy while it lives, even if the thread panics.
pub struct Busy<'q, T>(&'q Queue<T>);

impl<T> Drop for Busy<'_, T> {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        state.busy -= 1;
        if state.busy == 0 && state.tasks.is_empty() {
            self.0.changed.notify_all();
        }
    }
}
