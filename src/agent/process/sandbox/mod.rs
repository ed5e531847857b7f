//! What a command may touch, and how it is held to it.
//!
//! [`Sandbox`] says what is asked; the supervisor of the command confines itself (and so the
//! command, which it starts afterwards) in three layers, each of which is enough for most of the
//! promises:
//!
//! - **namespaces** (user, mount, network, IPC, UTS, process ids): everything is mounted read-only
//!   but the writable folders, hidden folders are covered by empty ones, `/dev`, `/run` and `/tmp`
//!   are its own, the only network is a loopback, one for all commands with the same rights, and
//!   processes outside can be neither seen nor signalled;
//! - **Landlock**, where the kernel has it: the same for writing, and for signals and tracing; where
//!   there are no namespaces, also for reading;
//! - **seccomp**: no system call that could undo the other two (mounts, new namespaces, io_uring),
//!   that reaches the kernel's rarer parts, or that types into a terminal.
//!
//! Where only `bwrap` may make namespaces, it makes them. A layer that is not to be had on a machine is told before ([`Support`]); a supervisor that
//! cannot keep what is asked starts nothing. No `unsafe`.
//!
//! Not promised: limits on time, memory and disk space.

mod spec;
mod support;
mod probe;
mod shared;
mod signs;
mod profile;
#[cfg(target_os = "linux")]
mod confine;
#[cfg(target_os = "linux")]
mod namespaces;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(target_os = "linux")]
mod bubblewrap;
#[cfg(target_os = "linux")]
mod mount_table;
#[cfg(target_os = "linux")]
mod sockets;
#[cfg(target_os = "linux")]
mod rules;
#[cfg(target_os = "linux")]
mod system_calls;
#[cfg(not(target_os = "linux"))]
mod elsewhere;

#[cfg(target_os = "linux")]
pub(super) use bubblewrap::arguments as bubblewrap_arguments;
#[cfg(target_os = "linux")]
pub(super) use confine::{Entered, enter};
#[cfg(not(target_os = "linux"))]
pub(super) use elsewhere::{Entered, Side, bubblewrap_arguments, enter};
#[cfg(target_os = "linux")]
pub(super) use namespaces::Side;
pub(super) use probe::{TRIAL, WITHIN, answer_trial, is_within, probe};
#[cfg(target_os = "macos")]
pub(super) use profile::{PROGRAM, profile};
pub(super) use shared::{Namespaces, Networks, Share, Slot, receive};
pub use signs::{Confined, files_git_left, signs_of_confinement};
pub use spec::{Layer, Network, Sandbox};
pub use support::{Promise, Support};
