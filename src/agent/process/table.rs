//! The process table: parents, states and names of processes.
//!
//! Reads only; never signals. On Linux it reads /proc, preferably the kernel's short per-thread
//! lists of children (20 µs) to a walk over all processes (650 µs and more). Elsewhere it runs
//! `ps`, which is slower and can miss a starting process.

use std::collections::VecDeque;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{fmt, fs};

use nix::unistd::{Pid, getsid};

/// Most ancestors to check, because ids may be reused meanwhile.
const MAX_DEPTH: usize = 10_000;

/// One process at the moment of reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub pid: Pid,
    pub parent: Pid,
    pub group: Pid,
    pub session: Pid,
    /// Start time in clock ticks since boot; with `pid` it identifies a process uniquely.
    pub started: u64,
    pub state: State,
    /// Its short name (at most 15 bytes on Linux).
    pub name: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Running, sleeping or waiting for a disk.
    Alive,
    /// Stopped by a signal or a tracer.
    Stopped,
    /// A zombie: ended, not yet reaped by its parent.
    Dead,
}

impl State {
    /// From the first letter of the state in `stat` and `ps`.
    fn from_letter(state: &str) -> Self {
        match state.bytes().next() {
            Some(b'Z' | b'X' | b'x') => Self::Dead,
            Some(b'T' | b't') => Self::Stopped,
            _ => Self::Alive,
        }
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.pid, self.name)
    }
}

/// `roots` and all their descendants, parents before children, without zombies. Stops after
/// `limit`, because a tree may grow as fast as it is read.
pub(super) fn tree(roots: Vec<Pid>, limit: Duration) -> Vec<Entry> {
    let deadline = Instant::now() + limit;
    let mut table = Table::default();
    let mut found = Vec::new();
    let mut todo = VecDeque::from(roots);
    while let Some(pid) = todo.pop_front() {
        let entry = table.entry(pid);
        found.extend(entry.filter(|entry| entry.state != State::Dead));
        todo.extend(table.children(pid));
        if Instant::now() >= deadline {
            break;
        }
    }
    found
}

/// The children of `pid`, zombies included.
pub(super) fn children(pid: Pid) -> Vec<Pid> {
    Table::default().children(pid)
}

pub(super) fn entry(pid: Pid) -> Option<Entry> {
    Table::default().entry(pid)
}

/// Whether `pid` descends from a command of this program. `None` if it or one above it has ended. Blocks.
pub fn is_from_command(pid: i32) -> Option<bool> {
    let mut table = Table::default();
    let mut pid = Pid::from_raw(pid);
    for _ in 0..MAX_DEPTH {
        let parent = table.entry(pid)?.parent;
        if parent == Pid::this() {
            return Some(true);
        }
        if parent.as_raw() == 0 {
            return Some(false);
        }
        pid = parent;
    }
    None
}

/// Reads single processes if the system can, else all of them, once.
#[derive(Default)]
struct Table {
    all: Option<Vec<Entry>>,
}

impl Table {
    fn entry(&mut self, pid: Pid) -> Option<Entry> {
        if cfg!(target_os = "linux") {
            return read_stat(pid);
        }
        self.all().iter().find(|entry| entry.pid == pid).cloned()
    }

    fn children(&mut self, pid: Pid) -> Vec<Pid> {
        if let (None, Some(children)) = (&self.all, read_children(pid)) {
            return children;
        }
        let children = self.all().iter().filter(|entry| entry.parent == pid);
        children.map(|entry| entry.pid).collect()
    }

    fn all(&mut self) -> &[Entry] {
        self.all.get_or_insert_with(|| {
            if cfg!(target_os = "linux") {
                let folders = fs::read_dir("/proc").into_iter().flatten().flatten();
                folders
                    .filter_map(|folder| folder.file_name().to_str()?.parse().ok())
                    .filter_map(|pid| read_stat(Pid::from_raw(pid)))
                    .collect()
            } else {
                ask_ps()
            }
        })
    }
}

/// The kernel's list of children; `None` on systems and kernels without it.
fn read_children(pid: Pid) -> Option<Vec<Pid>> {
    let mut pids = Vec::new();
    let mut lists = false;
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter();
    for thread in threads.flatten().flatten() {
        if let Ok(list) = fs::read_to_string(thread.path().join("children")) {
            lists = true;
            let words = list.split_ascii_whitespace();
            pids.extend(words.filter_map(|pid| pid.parse().ok().map(Pid::from_raw)));
        }
    }
    // A process that just ended looks like a kernel without lists. The file of a process that
    // certainly exists tells them apart.
    (lists || fs::exists("/proc/thread-self/children").unwrap_or(false)).then_some(pids)
}

fn read_stat(pid: Pid) -> Option<Entry> {
    // Bytes, because the name may be anything, even invalid UTF-8.
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse_stat(pid, &String::from_utf8_lossy(&stat))
}

/// `pid (name) state ppid pgrp session ...`; the name may contain blanks and parentheses.
fn parse_stat(pid: Pid, stat: &str) -> Option<Entry> {
    let (_, rest) = stat.split_once('(')?;
    let (name, rest) = rest.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let id = |index: usize| fields.get(index)?.parse().ok().map(Pid::from_raw);
    Some(Entry {
        pid,
        parent: id(1)?,
        group: id(2)?,
        session: id(3)?,
        started: fields.get(19)?.parse().ok()?,
        state: State::from_letter(fields.first()?),
        name: name.replace(char::is_control, "?"),
    })
}

/// For systems without /proc.
fn ask_ps() -> Vec<Entry> {
    let output = Command::new("ps")
        .args(["-A", "-o", "pid=,ppid=,pgid=,stat=,comm="])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let text = output.map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&text)
        .lines()
        .filter_map(parse_ps)
        .collect()
}

fn parse_ps(line: &str) -> Option<Entry> {
    let mut words = line.split_ascii_whitespace();
    let mut id = || words.next()?.parse().ok().map(Pid::from_raw);
    let (pid, parent, group) = (id()?, id()?, id()?);
    let state = State::from_letter(words.next()?);
    let path = words.collect::<Vec<_>>().join(" ");
    Some(Entry {
        pid,
        parent,
        group,
        session: getsid(Some(pid)).unwrap_or(group),
        started: 0,
        state,
        name: path
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .replace(char::is_control, "?"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_ps_is_an_entry() {
        let got = parse_ps(" 999999998  7 8 Ss+ /Applications/A B/a b").unwrap();
        assert_eq!(got.to_string(), "999999998 a b");
        assert_eq!(
            (got.parent, got.group, got.session, got.state),
            (
                Pid::from_raw(7),
                Pid::from_raw(8),
                Pid::from_raw(8),
                State::Alive
            )
        );
        assert_eq!(parse_ps("1 0 1 Z").unwrap().state, State::Dead);
        assert_eq!(parse_ps("1 0"), None);
    }
}
