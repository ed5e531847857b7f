//! The process table: parents, states and names of processes.
//!
//! Reads only; it never signals. On Linux it reads /proc, preferring the short list of children
//! the kernel keeps per thread (20 µs) to a walk over all processes (650 µs and more). Elsewhere
//! it asks `ps`, which is slower and can miss a process that is being started.

use std::fmt;
use std::time::{Duration, Instant};

use nix::unistd::Pid;

/// One process at the moment of reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub pid: Pid,
    pub parent: Pid,
    pub group: Pid,
    pub session: Pid,
    /// When it started, in clock ticks since boot; with `pid` it identifies a process for good.
    pub started: u64,
    pub state: State,
    /// Its short name (at most 15 bytes on Linux).
    pub name: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Runs, sleeps or waits for a disk.
    Alive,
    /// Stopped by a signal or a tracer.
    Stopped,
    /// A zombie: ended, not yet reaped by its parent.
    Dead,
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.pid, self.name)
    }
}

/// `roots` and all their descendants, parents before children, without zombies. Stops after
/// `limit`: a tree may grow as fast as it is read.
pub(super) fn tree(roots: Vec<Pid>, limit: Duration) -> Vec<Entry> {
    let deadline = Instant::now() + limit;
    let mut lister = source::Lister::default();
    let mut found = Vec::new();
    let mut todo = std::collections::VecDeque::from(roots);
    while let Some(pid) = todo.pop_front() {
        if let Some(entry) = lister.entry(pid)
            && entry.state != State::Dead
        {
            found.push(entry);
        }
        todo.extend(lister.children(pid));
        if Instant::now() >= deadline {
            break;
        }
    }
    found
}

/// The children of `pid`, zombies included.
pub(super) fn children(pid: Pid) -> Vec<Pid> {
    source::Lister::default().children(pid)
}

pub(super) fn entry(pid: Pid) -> Option<Entry> {
    source::Lister::default().entry(pid)
}

#[cfg(target_os = "linux")]
mod source {
    use std::fs;

    use nix::unistd::Pid;

    use super::{Entry, State};

    /// Reads /proc. Walks it at most once, and only on a kernel without lists of children.
    #[derive(Default)]
    pub(super) struct Lister {
        walk: Option<Vec<(Pid, Pid)>>,
    }

    impl Lister {
        #[expect(clippy::unused_self, reason = "the other source needs it")]
        pub(super) fn entry(&self, pid: Pid) -> Option<Entry> {
            // Bytes: a process may call itself anything, also something that is not UTF-8.
            let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
            parse_stat(pid, &String::from_utf8_lossy(&stat))
        }

        pub(super) fn children(&mut self, pid: Pid) -> Vec<Pid> {
            if self.walk.is_none() {
                let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else {
                    return Vec::new();
                };
                let mut pids = Vec::new();
                let mut lists = false;
                for thread in threads.flatten() {
                    if let Ok(list) = fs::read_to_string(thread.path().join("children")) {
                        lists = true;
                        pids.extend(
                            list.split_ascii_whitespace()
                                .filter_map(|pid| pid.parse().ok().map(Pid::from_raw)),
                        );
                    }
                }
                // A thread that ended between the two reads looks like a kernel without lists;
                // the file of a process that is certain to be there tells them apart.
                if lists || fs::exists("/proc/thread-self/children").unwrap_or(false) {
                    return pids;
                }
            }
            let walk = self.walk.get_or_insert_with(walk);
            walk.iter()
                .filter(|(_, parent)| *parent == pid)
                .map(|(child, _)| *child)
                .collect()
        }
    }

    fn walk() -> Vec<(Pid, Pid)> {
        let lister = Lister::default();
        fs::read_dir("/proc")
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|folder| folder.file_name().to_str()?.parse().ok())
            .filter_map(|pid| lister.entry(Pid::from_raw(pid)))
            .map(|entry| (entry.pid, entry.parent))
            .collect()
    }

    /// `pid (name) state ppid pgrp session ...`; the name may hold blanks and parentheses.
    pub(super) fn parse_stat(pid: Pid, stat: &str) -> Option<Entry> {
        let open = stat.find('(')?;
        let close = stat.rfind(')')?;
        // A process may call itself anything, also something with a line end.
        let name = stat.get(open + 1..close)?.replace(char::is_control, "?");
        let fields: Vec<&str> = stat.get(close + 1..)?.split_ascii_whitespace().collect();
        let id = |index: usize| fields.get(index)?.parse().ok().map(Pid::from_raw);
        Some(Entry {
            pid,
            parent: id(1)?,
            group: id(2)?,
            session: id(3)?,
            started: fields.get(19)?.parse().ok()?,
            state: match *fields.first()? {
                "Z" | "X" | "x" => State::Dead,
                "T" | "t" => State::Stopped,
                _ => State::Alive,
            },
            name,
        })
    }
}

#[cfg(not(target_os = "linux"))]
mod source {
    use std::process::{Command, Stdio};

    use nix::unistd::Pid;

    use super::{Entry, State};

    /// Asks `ps` once and answers from what it said.
    #[derive(Default)]
    pub(super) struct Lister {
        table: Option<Vec<Entry>>,
    }

    impl Lister {
        pub(super) fn entry(&mut self, pid: Pid) -> Option<Entry> {
            let table = self.table.get_or_insert_with(ps);
            table.iter().find(|entry| entry.pid == pid).cloned()
        }

        pub(super) fn children(&mut self, pid: Pid) -> Vec<Pid> {
            let table = self.table.get_or_insert_with(ps);
            table
                .iter()
                .filter(|entry| entry.parent == pid)
                .map(|entry| entry.pid)
                .collect()
        }
    }

    fn ps() -> Vec<Entry> {
        Command::new("ps")
            .args(["-A", "-o", "pid=,ppid=,pgid=,stat=,comm="])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .map(|output| {
                String::from_utf8_lossy(&output.stdout)
                    .lines()
                    .filter_map(parse)
                    .collect()
            })
            .unwrap_or_default()
    }

    fn parse(line: &str) -> Option<Entry> {
        let mut words = line.split_ascii_whitespace();
        let mut id = || words.next()?.parse().ok().map(Pid::from_raw);
        let (pid, parent, group) = (id()?, id()?, id()?);
        let state = match words.next()?.chars().next()? {
            'Z' => State::Dead,
            'T' => State::Stopped,
            _ => State::Alive,
        };
        let path = words.collect::<Vec<_>>().join(" ");
        Some(Entry {
            pid,
            parent,
            group,
            session: nix::unistd::getsid(Some(pid)).unwrap_or(group),
            started: 0,
            state,
            name: path.rsplit('/').next().unwrap_or(&path).to_owned(),
        })
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn names_with_parentheses_and_blanks_do_not_shift_the_fields() {
        let rest = "S 7 8 9 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 4242 100 200";
        let got = source::parse_stat(Pid::from_raw(5), &format!("5 (a) R 1 (b\n) {rest}")).unwrap();
        assert_eq!(got.name, "a) R 1 (b?");
        assert_eq!(
            (got.parent, got.group),
            (Pid::from_raw(7), Pid::from_raw(8))
        );
        assert_eq!((got.session, got.started), (Pid::from_raw(9), 4242));
        assert_eq!(got.state, State::Alive);
        assert_eq!(source::parse_stat(Pid::from_raw(5), "5 (a) S"), None);
    }

    #[test]
    fn a_child_is_listed_below_its_parent() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let pid = Pid::from_raw(child.id() as i32);
        assert!(children(Pid::this()).contains(&pid));
        let listed = tree(vec![Pid::this()], Duration::from_secs(5));
        assert!(
            listed
                .iter()
                .any(|entry| entry.pid == pid && entry.parent == Pid::this())
        );
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(entry(pid), None);
    }
}
