//! Kills the processes of a command that killed its supervisor (`kill -9 $PPID`). They become
//! children of tiller, which is also a subreaper.
//!
//! Never calls `waitpid(-1)`, which would steal exit codes from tokio. Adopted processes differ
//! from tiller's own children by session: a supervisor starts a new one, so no process below it is
//! in tiller's. Any child that tiller starts itself must therefore stay in tiller's session.

use std::time::Duration;

use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::{Pid, getsid};

use super::registry::Registry;
use super::table::{self, Entry, State};
use super::tree::{self, Descendants, Remaining};
use super::wire::Order;

/// Kills what was adopted from a supervisor started at `since`. Blocks, for seconds if SIGTERM is
/// ignored. Returns the processes that survived.
pub(super) fn end(registry: &Registry, since: u64, order: impl Fn() -> Order) -> Vec<Entry> {
    let Ok(own_session) = getsid(None) else {
        return Vec::new();
    };
    let mut adopted = Adopted {
        registry,
        own_session,
        since,
    };
    tree::stop(&mut adopted, Order::Stop, |time| {
        // In short steps, because the order to kill may arrive meanwhile.
        std::thread::sleep(time.min(Duration::from_millis(20)));
        order()
    })
}

struct Adopted<'a> {
    registry: &'a Registry,
    own_session: Pid,
    since: u64,
}

impl Adopted<'_> {
    /// Children adopted from a killed supervisor. Holds the registry's lock, because a starting
    /// supervisor is registered before it can have its own session.
    fn list(&self) -> Vec<Entry> {
        self.registry.with_supervisors(|supervisors| {
            table::children(Pid::this())
                .into_iter()
                .filter(|pid| !supervisors.contains(pid))
                .filter_map(table::entry)
                .filter(|entry| entry.session != self.own_session && entry.started >= self.since)
                .collect()
        })
    }
}

impl Descendants for Adopted<'_> {
    fn reap(&mut self) -> Remaining {
        // A dead parent stays listed until it is reaped here, and then its children are listed. Two
        // empty listings in a row mean that no process is left.
        for _ in 0..2 {
            let found = self.list();
            for entry in &found {
                if entry.state == State::Dead {
                    let _ = waitpid(entry.pid, Some(WaitPidFlag::WNOHANG));
                }
            }
            if !found.is_empty() {
                return Remaining::Processes;
            }
        }
        Remaining::Nothing
    }

    fn children(&mut self) -> Vec<Pid> {
        self.list().into_iter().map(|entry| entry.pid).collect()
    }
}
