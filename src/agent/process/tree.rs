//! Kills a process tree in any case: SIGTERM to all, a grace period, then SIGKILL level by level
//! until the kernel reports no children.
//!
//! Knows nothing of commands or channels. Both the supervisor (for everything below it) and tiller
//! itself (for what it adopted from a killed supervisor) use it; [`Descendants`] is the difference.
//! It doesn't stop the processes first: on Linux a subreaper adopts every orphan, so killing one
//! level brings the next within reach.

use std::collections::{HashMap, HashSet};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::{Pid, getpgid, getpgrp};

use super::table::{self, Entry};
use super::wire::Order;

/// Time after which killing is given up (no permission to signal a process, a hung disk).
pub(super) const GIVE_UP: Duration = Duration::from_secs(5);

/// Limit for one listing, so that a pass reaches its kills even if the tree grows fast.
const LIST_LIMIT: Duration = Duration::from_millis(5);
/// How recently a member must have been seen to kill its process group. Ids are reused (within
/// seconds under a fork bomb, if there are only 32,768): an old one may be another process's.
const GROUP_FRESH: Duration = Duration::from_millis(250);

/// The processes to end.
pub(super) trait Descendants {
    /// Reaps zombies for a few milliseconds, and reports what remains.
    fn reap(&mut self) -> Remaining;

    /// The direct children, zombies included.
    fn children(&mut self) -> Vec<Pid>;
}

/// The members left after reaping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remaining {
    /// Certainly no process.
    Nothing,
    /// Possibly processes; the next one to end sends a signal.
    Processes,
    /// Zombies, for lack of time; no signal announces them again.
    Zombies,
}

/// Ends all `descendants` and returns survivors, normally none. `pause` waits for at most the given
/// time and returns the current order: an order to kill ends the grace period.
pub(super) fn stop(
    descendants: &mut impl Descendants,
    order: Order,
    pause: impl FnMut(Duration) -> Order,
) -> Vec<Entry> {
    let mut signalled = HashSet::new();
    let groups = terminate(descendants, order.grace(), pause, &mut signalled);
    let left = groups.map_or_else(Vec::new, |groups| kill_all(descendants, groups));
    if cfg!(not(target_os = "linux")) {
        // Without a subreaper an orphan is no longer a descendant.
        for (pid, started) in signalled {
            signal(pid, started, &[Signal::SIGKILL]);
        }
    }
    left
}

/// Sends SIGTERM to every process, including new ones, until none is left or the grace period is
/// over. Returns the groups with recently seen members. Also continues stopped processes, which
/// otherwise don't die of SIGTERM.
fn terminate(
    descendants: &mut impl Descendants,
    grace: Duration,
    mut pause: impl FnMut(Duration) -> Order,
    signalled: &mut HashSet<(Pid, u64)>,
) -> Option<Vec<Pid>> {
    let began = Instant::now();
    let mut groups: HashMap<Pid, Instant> = HashMap::new();
    let mut wait = Duration::from_millis(1);
    loop {
        if descendants.reap() == Remaining::Nothing {
            return None;
        }
        for entry in table::tree(descendants.children(), LIST_LIMIT) {
            groups.insert(entry.group, Instant::now());
            if !grace.is_zero() && signalled.insert((entry.pid, entry.started)) {
                signal(
                    entry.pid,
                    entry.started,
                    &[Signal::SIGTERM, Signal::SIGCONT],
                );
            }
        }
        let left = grace.saturating_sub(began.elapsed());
        if left.is_zero() || pause(wait.min(left)) == Order::Kill {
            groups.retain(|_, seen| seen.elapsed() < GROUP_FRESH);
            return Some(groups.into_keys().collect());
        }
        wait = (wait * 2).min(Duration::from_millis(20));
    }
}

/// Sends `signals` unless the id now belongs to another process. Uses a pidfd, so that it can't
/// change after the check either.
#[cfg(target_os = "linux")]
fn signal(pid: Pid, started: u64, signals: &[Signal]) {
    use rustix::process as pidfd;

    let Some(id) = pidfd::Pid::from_raw(pid.as_raw()) else {
        return;
    };
    match pidfd::pidfd_open(id, pidfd::PidfdFlags::empty()) {
        Ok(process) if is_still(pid, started) => {
            for signal in signals
                .iter()
                .filter_map(|signal| pidfd::Signal::from_named_raw(*signal as i32))
            {
                let _ = pidfd::pidfd_send_signal(&process, signal);
            }
        }
        // Linux before 5.3.
        Err(rustix::io::Errno::NOSYS) => signal_by_id(pid, started, signals),
        _ => {}
    }
}

#[cfg(not(target_os = "linux"))]
use signal_by_id as signal;

fn signal_by_id(pid: Pid, started: u64, signals: &[Signal]) {
    if is_still(pid, started) {
        for signal in signals {
            let _ = kill(pid, *signal);
        }
    }
}

fn is_still(pid: Pid, started: u64) -> bool {
    table::entry(pid).is_some_and(|now| now.started == started)
}

/// SIGKILL until no process is left. Groups first: a whole group dies in one step, so that no
/// member can escape by forking. Then only direct children, whose orphans come to us.
fn kill_all(descendants: &mut impl Descendants, groups: Vec<Pid>) -> Vec<Entry> {
    let began = Instant::now();
    for group in groups {
        kill_group(group);
    }
    let mut known = HashSet::new();
    let mut passes_without_new = 0;
    loop {
        if descendants.reap() == Remaining::Nothing {
            return Vec::new();
        }
        let mut new = false;
        let children = descendants.children();
        for &pid in &children {
            new |= known.insert(pid);
            // The child isn't reaped yet, so its id and group certainly belong to it.
            if let Ok(group) = getpgid(Some(pid)) {
                kill_group(group);
            }
            let _ = kill(pid, Signal::SIGKILL);
        }
        if began.elapsed() > GIVE_UP {
            return table::tree(children, LIST_LIMIT);
        }
        // While new ones appear we race against forks and must not sleep.
        passes_without_new = if new { 0 } else { passes_without_new + 1 };
        if passes_without_new > 20 {
            thread::sleep(Duration::from_micros(500));
        }
    }
}

fn kill_group(group: Pid) {
    if may_kill(group, getpgrp()) {
        let _ = killpg(group, Signal::SIGKILL);
    }
}

/// Not our own group, and not 0 or 1. A process of another pid namespace shows group 0, and these
/// numbers mean our own group and every process.
fn may_kill(group: Pid, own: Pid) -> bool {
    group != own && group.as_raw() > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_groups_of_others_are_killed() {
        let own = Pid::from_raw(50);
        for (group, expected) in [(50, false), (0, false), (1, false), (-1, false), (51, true)] {
            assert_eq!(may_kill(Pid::from_raw(group), own), expected, "{group}");
        }
    }
    #[test]
    fn a_process_that_got_the_id_of_another_gets_no_signal() {
        use std::os::unix::process::ExitStatusExt;
        use std::process::Command;

        for (later, expected) in [(1, 9), (0, 15)] {
            let mut child = Command::new("sleep").arg("60").spawn().unwrap();
            let pid = Pid::from_raw(child.id() as i32);
            let started = table::entry(pid).unwrap().started;
            signal(pid, started + later, &[Signal::SIGTERM]);
            if later > 0 {
                child.kill().unwrap();
            }
            assert_eq!(child.wait().unwrap().signal(), Some(expected));
        }
    }
}
