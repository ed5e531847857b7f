//! The delay before keys answer a question that came by itself. A key pressed just after it appeared was
//! meant for what was there before.

/// How long after its appearance a question takes no answer, in milliseconds.
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

    /// For a question that the user has just asked for: nothing else can be meant.
    pub fn over(now: i64) -> Self {
        Self { end: now }
    }

    pub fn is_over(self, now: i64) -> bool {
        now >= self.end
    }

    /// Begins anew: who is typing goes on typing.
    pub fn restart(&mut self, now: i64) {
        *self = Self::starting(now);
    }

    /// When keys begin to be answers (Unix ms), if they are none yet.
    pub fn next_wake(self, now: i64) -> Option<i64> {
        (!self.is_over(now)).then_some(self.end)
    }
}
