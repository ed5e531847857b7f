//! What Linux says about a process and its descendants.

use std::fs;

/// Milliseconds of CPU per tick of /proc/PID/stat, on every current Linux.
const TICK: f64 = 10.0;

/// A process and its descendants.
pub fn tree(root: u32) -> Vec<u32> {
    let mut found = vec![root];
    let mut next = 0;
    while let Some(pid) = found.get(next) {
        for thread in entries(&format!("/proc/{pid}/task")) {
            let children = fs::read_to_string(thread.join("children")).unwrap_or_default();
            found.extend(
                children
                    .split_whitespace()
                    .filter_map(|pid| pid.parse::<u32>().ok()),
            );
        }
        next += 1;
    }
    found
}

/// Their memory in megabytes. A shared page is divided among the processes that share it.
pub fn memory(root: u32) -> f64 {
    let pss = |pid: u32| -> Option<f64> {
        let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
        let line = text.lines().find(|line| line.starts_with("Pss:"))?;
        line.split_whitespace().nth(1)?.parse().ok()
    };
    tree(root).into_iter().filter_map(pss).sum::<f64>() / 1024.0
}

/// Milliseconds of CPU so far, with those of children that have exited.
pub fn cpu(root: u32) -> f64 {
    tree(root).into_iter().map(of_one).sum()
}

/// How often any of their threads has woken so far.
pub fn wakes(root: u32) -> f64 {
    let of_thread = |thread: std::path::PathBuf| -> Option<f64> {
        let text = fs::read_to_string(thread.join("status")).ok()?;
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
        line.trim().parse().ok()
    };
    tree(root)
        .into_iter()
        .flat_map(|pid| entries(&format!("/proc/{pid}/task")).collect::<Vec<_>>())
        .filter_map(of_thread)
        .sum()
}

fn of_one(pid: u32) -> f64 {
    // Exact, but misses threads that have exited.
    let living: f64 = entries(&format!("/proc/{pid}/task"))
        .filter_map(|thread| fs::read_to_string(thread.join("schedstat")).ok())
        .filter_map(|text| text.split_whitespace().next()?.parse::<f64>().ok())
        .sum::<f64>()
        / 1e6;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The program's name may contain anything. The figures follow its closing bracket.
    let ticks: Vec<f64> = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .skip(11)
        .take(4)
        .filter_map(|ticks| ticks.parse().ok())
        .collect();
    let [user, system, children_user, children_system] = ticks[..] else {
        return living;
    };
    living.max((user + system) * TICK) + (children_user + children_system) * TICK
}

fn entries(folder: &str) -> impl Iterator<Item = std::path::PathBuf> {
    fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
}
