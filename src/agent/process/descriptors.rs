//! Descriptors that tiller was started with and knows nothing of.
//!
//! What tiller opens itself is closed in every program that it starts. What its own parent left
//! open is not, and would lead a command to files that its sandbox keeps from it.

use std::fs;
use std::os::fd::RawFd;

/// Those above stderr. To be asked before this process opens anything.
pub(super) fn inherited() -> Vec<RawFd> {
    let listed = fs::read_dir("/dev/fd").into_iter().flatten().flatten();
    let numbers = listed.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let numbers: Vec<RawFd> = numbers.filter(|number| *number > 2).collect();
    // Without the one that the list was read through.
    let open = |number: &RawFd| fs::symlink_metadata(format!("/dev/fd/{number}")).is_ok();
    numbers.into_iter().filter(open).collect()
}
