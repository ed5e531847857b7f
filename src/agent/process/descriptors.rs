//! File descriptors that tiller inherited.
//!
//! tiller's own descriptors are close-on-exec. Those that its parent left open aren't, and could
//! give a command access to files that its sandbox hides.

use std::fs;
use std::os::fd::RawFd;

/// The open descriptors above stderr. Call before this process opens anything.
pub(super) fn inherited() -> Vec<RawFd> {
    let listed = fs::read_dir("/dev/fd").into_iter().flatten().flatten();
    let numbers = listed.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let numbers: Vec<RawFd> = numbers.filter(|number| *number > 2).collect();
    // Except the descriptor used to read the list.
    let open = |number: &RawFd| fs::symlink_metadata(format!("/dev/fd/{number}")).is_ok();
    numbers.into_iter().filter(open).collect()
}
