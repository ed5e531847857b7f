//! How a process tree is made to end, whatever it does against it: SIGTERM to everyone, a time of
//! grace, then SIGKILL level by level until the kernel says that no child is left.
//!
//! Knows nothing of commands or channels. The same steps serve the supervisor (everything below
//! it) and tiller itself (what it adopted from a supervisor that was killed); [`Brood`] is the
//! difference. Nobody is frozen first: on Linux a subreaper inherits whatever loses its parent,
//! so each pass has the next level in hand.

use std::collections::{HashMap, HashSet};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::{Pid, getpgid, getpgrp};

use super::table::{self, Entry};

/// Time between SIGTERM and SIGKILL.
pub(super) const GRACE: Duration = Duration::from_secs(2);
/// Time after which killing is given up (a process that may not be signalled, a dead disk).
pub(super) const GIVE_UP: Duration = Duration::from_secs(5);

/// A listing never takes longer: a pass must come to its kills, however fast the tree grows.
const LIST_LIMIT: Duration = Duration::from_millis(5);
/// A group counts as ours while a member was seen this recently. Ids are used again, with 32,768
/// of them within seconds under a fork bomb, and a stale one would hit a stranger.
const GROUP_FRESH: Duration = Duration::from_millis(250);

/// The processes to end, and how their dead are collected.
pub(super) trait Brood {
    /// Collects the dead, for a few milliseconds at most, and says whether anyone may be left.
    fn reap(&mut self) -> Rest;

    /// The direct children, the dead not yet collected included.
    fn children(&mut self) -> Vec<Pid>;
}

/// Whether anyone is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// Certainly nobody.
    Nobody,
    /// Somebody, perhaps.
    Somebody,
}

/// How much patience the one who waits has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Haste {
    /// The grace may run out.
    None,
    /// Kill now.
    Now,
}

/// Ends everyone of `brood` and returns who is left, normally nobody. `pause` waits for the given
/// time or less and says whether to go on without grace.
pub(super) fn stop(
    brood: &mut impl Brood,
    grace: Duration,
    pause: impl FnMut(Duration) -> Haste,
) -> Vec<Entry> {
    let mut told = HashSet::new();
    let left = match ask(brood, grace, pause, &mut told) {
        Asked::Gone => Vec::new(),
        Asked::Groups(groups) => kill_all(brood, groups),
    };
    if cfg!(not(target_os = "linux")) {
        kill_out_of_sight(&told);
    }
    left
}

/// Without a subreaper an orphan is out of sight, so that nobody seems to be left. What was told
/// to end and still lives is killed by its id.
fn kill_out_of_sight(told: &HashSet<(Pid, u64)>) {
    for &(pid, started) in told {
        if table::entry(pid).is_some_and(|entry| entry.started == started) {
            let _ = kill(pid, Signal::SIGKILL);
        }
    }
}

enum Asked {
    Gone,
    Groups(Vec<Pid>),
}

/// SIGTERM to everyone, newcomers too, until nobody is left or the grace is over.
fn ask(
    brood: &mut impl Brood,
    grace: Duration,
    mut pause: impl FnMut(Duration) -> Haste,
    told: &mut HashSet<(Pid, u64)>,
) -> Asked {
    let began = Instant::now();
    let own = getpgrp();
    let mut groups: HashMap<Pid, Instant> = HashMap::new();
    let mut wait = Duration::from_millis(1);
    loop {
        if brood.reap() == Rest::Nobody {
            return Asked::Gone;
        }
        for entry in table::tree(brood.children(), LIST_LIMIT) {
            if entry.group != own {
                groups.insert(entry.group, Instant::now());
            }
            if !grace.is_zero() && told.insert((entry.pid, entry.started)) {
                let _ = kill(entry.pid, Signal::SIGTERM);
                // A stopped process dies of SIGTERM only when it goes on.
                let _ = kill(entry.pid, Signal::SIGCONT);
            }
        }
        let left = grace.saturating_sub(began.elapsed());
        if left.is_zero() || pause(wait.min(left)) == Haste::Now {
            groups.retain(|_, seen| seen.elapsed() < GROUP_FRESH);
            return Asked::Groups(groups.into_keys().collect());
        }
        wait = (wait * 2).min(Duration::from_millis(20));
    }
}

/// SIGKILL until nobody is left. Groups first: a whole group dies in one step, so that a member
/// cannot get away by forking. Then only direct children: what they leave comes to us.
fn kill_all(brood: &mut impl Brood, groups: Vec<Pid>) -> Vec<Entry> {
    let began = Instant::now();
    let own = getpgrp();
    for group in groups {
        let _ = killpg(group, Signal::SIGKILL);
    }
    let mut known = HashSet::new();
    let mut stale_passes = 0;
    loop {
        if brood.reap() == Rest::Nobody {
            return Vec::new();
        }
        let mut fresh = false;
        let children = brood.children();
        for &pid in &children {
            fresh |= known.insert(pid);
            // The child is not collected yet, so its id and its group are certainly its own.
            if let Ok(group) = getpgid(Some(pid))
                && group != own
            {
                let _ = killpg(group, Signal::SIGKILL);
            }
            let _ = kill(pid, Signal::SIGKILL);
        }
        if began.elapsed() > GIVE_UP {
            return table::tree(children, LIST_LIMIT);
        }
        // While new ones turn up we race against forks and must not sleep.
        stale_passes = if fresh { 0 } else { stale_passes + 1 };
        if stale_passes > 20 {
            thread::sleep(Duration::from_micros(500));
        }
    }
}
