//! The delay before an unasked question accepts keys. A key pressed just after it appeared was
//! meant for something else.

/// How long a new question ignores keys, in milliseconds.
const DELAY_MS: i64 = 400;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerDelay {
    /// Unix ms.
    end: i64,
}

impl AnswerDelay {
    pub fn starting(now: i64) -> Self {
        let end = now + DELAY_MS;
        Self { end }
    }

    /// No delay: the user has just asked for the question.
    pub fn over(now: i64) -> Self {
        Self { end: now }
    }

    pub fn is_over(self, now: i64) -> bool {
        now >= self.end
    }

    /// Restarts the delay: the user is still typing.
    pub fn restart(&mut self, now: i64) {
        *self = Self::starting(now);
    }

    /// When keys will count as answers (Unix ms), if they don't yet.
    pub fn next_wake(self, now: i64) -> Option<i64> {
        (!self.is_over(now)).then_some(self.end)
    }
}
