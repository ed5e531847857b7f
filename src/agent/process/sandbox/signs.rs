//! Whether a command that failed looks as if the sandbox was why.
//!
//! Only a guess from its output: the errors of the sandbox are the ordinary ones of the system.

use crate::agent::process::ExitStatus;

/// What a command seems to have been kept from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confined {
    /// Files or other things that it may not touch.
    Files,
    /// The network.
    Network,
}

/// Of the output, in bytes: errors stand at its end.
const LOOKED_AT: usize = 32 * 1024;
/// The shell found a program that it may not execute: nothing the sandbox does.
const NOT_EXECUTABLE: i32 = 126;

const OF_NETWORK: &[&str] = &[
    "network is unreachable",
    "enetunreach",
    "could not resolve",
    "couldn't resolve",
    "unable to resolve",
    "name resolution",
    "name or service not known",
    "nodename nor servname",
    "no such host",
    "failed to lookup address",
    "getaddrinfo",
    "eai_again",
    "enotfound",
    "dns error",
    "unknownhostexception",
];
const OF_FILES: &[&str] = &[
    "read-only file system",
    "erofs",
    "permission denied",
    "eacces",
    "operation not permitted",
    "eperm",
    "invalid cross-device link",
    // Of git, for its settings.
    "could not write config file",
    "could not lock config file",
];

/// What a command in a sandbox that ended so seems to have been kept from; nothing if it ended
/// well or shows no sign.
pub fn signs_of_confinement(output: &str, exit: &ExitStatus) -> Option<Confined> {
    if matches!(exit, ExitStatus::Exited(0 | NOT_EXECUTABLE)) {
        return None;
    }
    let start = output.ceil_char_boundary(output.len().saturating_sub(LOOKED_AT));
    let end = output[start..].to_lowercase();
    let shows = |signs: &[&str]| signs.iter().any(|sign| end.contains(sign));
    if shows(OF_NETWORK) {
        Some(Confined::Network)
    } else if shows(OF_FILES) {
        Some(Confined::Files)
    } else {
        None
    }
}
