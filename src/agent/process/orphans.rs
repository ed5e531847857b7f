//! What is left when a command kills its supervisor (`kill -9 $PPID`): its processes come to
//! tiller, which is a subreaper too, and are ended here.
//!
//! Never `waitpid(-1)`: it would take exit codes away from tokio. What is adopted is told from
//! tiller's own children by its session: a supervisor begins a new one, so nothing below it can
//! be in ours. A child that tiller starts itself must therefore stay in tiller's session.

use std::time::Duration;

use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::{Pid, getsid};

use super::processes::Shared;
use super::table::{self, Entry, State};
use super::tree::{self, Brood, Haste, Rest};

/// Makes orphaned descendants come to this process instead of to init. Linux only; elsewhere
/// what a killed supervisor leaves behind is out of reach.
pub(super) fn adopt() {
    set_subreaper(true);
}

/// Lets orphans go to init again. While no command runs they can only be helpers of ours that
/// went to the background by themselves (a clipboard), and nobody here would collect their dead.
pub(super) fn release() {
    set_subreaper(false);
}

#[cfg(target_os = "linux")]
fn set_subreaper(on: bool) {
    if let Err(error) = nix::sys::prctl::set_child_subreaper(on) {
        tracing::warn!(%error, on, "cannot set who inherits orphans");
    }
}

#[cfg(not(target_os = "linux"))]
fn set_subreaper(_on: bool) {}

/// Ends what was adopted from a supervisor that started at `since`. Blocks, for seconds where
/// SIGTERM is ignored. Returns who could not be ended.
pub(super) fn end(shared: &Shared, since: u64, hurry: impl Fn() -> Haste) -> Vec<Entry> {
    let Ok(own_session) = getsid(None) else {
        return Vec::new();
    };
    let mut adopted = Adopted {
        shared,
        own_session,
        since,
    };
    tree::stop(&mut adopted, tree::GRACE, |time| {
        // Short steps: another abort may come while we wait.
        std::thread::sleep(time.min(Duration::from_millis(20)));
        hurry()
    })
}

struct Adopted<'a> {
    shared: &'a Shared,
    own_session: Pid,
    since: u64,
}

impl Adopted<'_> {
    /// Children that came from a killed supervisor. Under the lock of the registry: a supervisor
    /// that is being started is in it before it can have a session of its own.
    fn list(&self) -> Vec<Entry> {
        self.shared.with_supervisors(|supervisors| {
            table::children(Pid::this())
                .into_iter()
                .filter(|pid| !supervisors.contains(pid))
                .filter_map(table::entry)
                .filter(|entry| entry.session != self.own_session && entry.started >= self.since)
                .collect()
        })
    }
}

impl Brood for Adopted<'_> {
    fn reap(&mut self) -> Rest {
        // Only we collect these, so a dead parent stays listed until its children are listed
        // too; two empty listings in a row mean that nobody is left.
        for _ in 0..2 {
            let found = self.list();
            for entry in &found {
                if entry.state == State::Dead {
                    let _ = waitpid(entry.pid, Some(WaitPidFlag::WNOHANG));
                }
            }
            if !found.is_empty() {
                return Rest::Somebody;
            }
        }
        Rest::Nobody
    }

    fn children(&mut self) -> Vec<Pid> {
        self.list().into_iter().map(|entry| entry.pid).collect()
    }
}
