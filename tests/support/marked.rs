//! Finds every process a test started by a unique mark, wherever it hides, and lists those that
//! survived.
//!
//! The mark is a number of seconds, so that it can be the argument of `sleep`, which shows even
//! under `env -i`. Other processes carry it as the value of an environment variable.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fmt::Write;
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Generous, so that no test fails on a loaded machine.
pub const DEADLINE: Duration = Duration::from_mins(2);

/// The processes that carry one mark.
#[derive(Clone, Debug)]
pub struct MarkedProcesses {
    mark: String,
}

/// What `/proc` says about a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessInfo {
    pub pid: i32,
    pub state: char,
    pub parent: i32,
    pub group: i32,
    pub session: i32,
    pub command: String,
}

impl MarkedProcesses {
    /// A mark that no other process has.
    pub fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap()
            .subsec_nanos();
        Self {
            mark: format!("9876.{}{count:04}{now:09}", std::process::id()),
        }
    }

    /// A mark made elsewhere.
    pub fn of(mark: &str) -> Self {
        Self {
            mark: mark.to_owned(),
        }
    }

    /// The mark itself, usable as an argument of `sleep`.
    pub fn mark(&self) -> &str {
        &self.mark
    }

    /// Replaces `SLEEP` in `script` by a sleep of hours, and `MARK` by the mark. Everything the
    /// script starts inherits the mark in its environment, unless it clears that.
    pub fn script(&self, script: &str) -> String {
        let script = script
            .replace("SLEEP", &format!("sleep {}", self.mark))
            .replace("MARK", &self.mark);
        format!("export TILLER_CENSUS={}\n{script}", self.mark)
    }

    /// Every living process with the mark. A zombie is dead.
    pub fn living(&self) -> Vec<ProcessInfo> {
        let mark = self.mark.as_bytes();
        let has_mark = |file: String| {
            fs::read(file).is_ok_and(|bytes| bytes.windows(mark.len()).any(|part| part == mark))
        };
        pids()
            .into_iter()
            .filter(|pid| *pid != std::process::id() as i32)
            .filter(|pid| {
                has_mark(format!("/proc/{pid}/cmdline")) || has_mark(format!("/proc/{pid}/environ"))
            })
            .filter_map(process_info)
            .filter(|process| process.state != 'Z')
            .collect()
    }

    /// Waits until at least `count` of them are alive.
    pub async fn wait_for(&self, count: usize) {
        self.wait_until(|living| living.len() >= count, &format!("{count} live"))
            .await;
    }

    /// Waits until one is alive whose command begins with `start`.
    pub async fn wait_for_command(&self, start: &str) {
        let has_started = |living: &[ProcessInfo]| {
            let mut commands = living.iter().map(|process| &process.command);
            commands.any(|command| command.starts_with(start))
        };
        self.wait_until(has_started, &format!("{start} lives"))
            .await;
    }

    async fn wait_until(&self, holds: impl Fn(&[ProcessInfo]) -> bool, what: &str) {
        let deadline = Instant::now() + DEADLINE;
        loop {
            let living = self.living();
            if holds(&living) {
                return;
            }
            let late = Instant::now() >= deadline;
            assert!(!late, "timed out waiting until {what}:\n{}", list(&living));
            tokio::time::sleep(Duration::from_millis(5)).await; // poll
        }
    }

    /// Waits until none is alive. One empty count proves little while processes fork and exit, so
    /// it counts several times.
    pub async fn wait_for_none(&self) {
        let deadline = Instant::now() + DEADLINE;
        let mut empty = 0;
        loop {
            let living = self.living();
            if living.is_empty() {
                empty += 1;
                if empty == 5 {
                    return;
                }
            } else {
                empty = 0;
                assert!(Instant::now() < deadline, "survivors:\n{}", list(&living));
            }
            tokio::time::sleep(Duration::from_millis(5)).await; // poll
        }
    }

    /// Asserts that none is alive, now and a moment later.
    pub async fn assert_none(&self) {
        for _ in 0..3 {
            let living = self.living();
            assert!(living.is_empty(), "survivors:\n{}", list(&living));
            tokio::time::sleep(Duration::from_millis(5)).await; // poll
        }
    }
}

/// The dead children of `parent` that it hasn't waited for.
pub fn zombies_of(parent: i32) -> Vec<ProcessInfo> {
    pids()
        .into_iter()
        .filter_map(process_info)
        .filter(|process| process.parent == parent && process.state == 'Z')
        .collect()
}

/// What `/proc` says about `pid`.
pub fn process_info(pid: i32) -> Option<ProcessInfo> {
    let stat = String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/stat")).ok()?).into_owned();
    let fields: Vec<&str> = stat[stat.rfind(')')? + 1..].split_whitespace().collect();
    let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let command = String::from_utf8_lossy(&command).replace(['\0', '\n'], " ");
    Some(ProcessInfo {
        pid,
        state: fields.first()?.chars().next()?,
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
        command: command.chars().take(120).collect(),
    })
}

fn pids() -> Vec<i32> {
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

fn list(processes: &[ProcessInfo]) -> String {
    let mut text = String::new();
    for ProcessInfo {
        pid,
        state,
        parent,
        group,
        session,
        command,
    } in processes
    {
        writeln!(
            text,
            "{pid} {state} parent {parent} group {group} session {session}: {command}"
        )
        .unwrap();
    }
    text
}
