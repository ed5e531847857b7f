//! The screen's clock: wall-clock time, as in the agent's events, that never runs backwards.

use std::future::pending;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::{Instant, sleep_until};

/// Time between frames not caused by a key.
pub(super) const FRAME: Duration = Duration::from_millis(16);
/// The same while each frame replaces nearly the whole screen, faster than anyone can read.
pub(super) const HEAVY_FRAME: Duration = Duration::from_millis(36);
/// The same for users who want less motion.
pub(super) const CALM_FRAME: Duration = Duration::from_millis(125);
/// Time per turn of an idle loop for measuring unseen cells.
pub(super) const REFINE: Duration = Duration::from_millis(2);
/// Time for input that came together before the next turn of the loop.
pub(super) const MOST_INPUT: Duration = Duration::from_millis(20);

/// Unix time in milliseconds that never runs backwards. The wall clock alone may be set back; the
/// monotonic clock alone stops while the machine sleeps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    start: Instant,
    /// Unix time at `start`; moved forward when the wall clock jumps ahead.
    unix: i64,
}

impl Clock {
    pub(super) fn start() -> Self {
        Self {
            start: Instant::now(),
            unix: wall_clock(),
        }
    }

    pub(super) fn now(&mut self) -> i64 {
        self.at(self.start.elapsed(), wall_clock())
    }

    pub(super) fn until(&mut self, at: i64) -> Duration {
        Duration::from_millis(at.saturating_sub(self.now()).max(0) as u64)
    }

    fn at(&mut self, elapsed: Duration, wall: i64) -> i64 {
        let elapsed = elapsed.as_millis() as i64;
        self.unix = self.unix.max(wall - elapsed);
        self.unix + elapsed
    }
}

/// Waits until `at`, or forever without one. Returns at once if `at` has passed: a timer would
/// round up to the next millisecond.
pub(super) async fn reached(at: Option<Instant>) {
    match at {
        Some(at) if at <= Instant::now() => {}
        Some(at) => sleep_until(at).await,
        None => pending().await,
    }
}

fn wall_clock() -> i64 {
    let unix = SystemTime::now().duration_since(UNIX_EPOCH);
    unix.unwrap_or_default().as_millis() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_follows_a_jump_ahead_and_never_runs_backwards() {
        let mut clock = Clock::start();
        clock.unix = 1_000_000;
        let hour = 3_600_000;
        for (elapsed, wall, wanted) in [
            (0, 1_000_000, 1_000_000),
            (10, 1_000_010, 1_000_010),
            // The machine slept, so the monotonic clock stopped.
            (20, 1_000_020 + 8 * hour, 1_000_020 + 8 * hour),
            (30, 1_000_030 + 8 * hour, 1_000_030 + 8 * hour),
            // The wall clock was set back by an hour.
            (40, 1_000_040 + 7 * hour, 1_000_040 + 8 * hour),
            (50, 1_000_050 + 7 * hour, 1_000_050 + 8 * hour),
        ] {
            let now = clock.at(Duration::from_millis(elapsed), wall);
            assert_eq!(now, wanted, "{elapsed} {wall}");
        }
    }
}
