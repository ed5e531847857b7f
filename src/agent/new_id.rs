//! Ids of sessions and turns. They sort by time.

use std::time::SystemTime;

use uuid::{NoContext, Timestamp, Uuid};

/// Returns a new id. If the clock is before 1970, which ids can't represent, it is one of 1970.
pub fn new_id() -> Uuid {
    at(SystemTime::now())
}

fn at(now: SystemTime) -> Uuid {
    if now < SystemTime::UNIX_EPOCH {
        Uuid::new_v7(Timestamp::from_unix(NoContext, 0, 0))
    } else {
        Uuid::now_v7()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_clock_before_1970_still_produces_ids() {
        let before = SystemTime::UNIX_EPOCH - Duration::from_hours(24);
        let (one, other) = (at(before), at(before));
        assert!(one != other && one < new_id() && other < new_id());
    }
}
