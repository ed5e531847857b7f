//! What a command may access, and how tiller enforces it.
//!
//! [`Sandbox`] describes the limits. The command's supervisor confines itself, and thereby the
//! command it then starts, in three layers. Each enforces most limits on its own:
//!
//! - **namespaces** (user, mount, network, IPC, UTS, pid): mounts everything read-only except
//!   writable folders, and covers hidden folders with empty ones. The command gets its own `/dev`,
//!   `/run` and `/tmp`. The only network is a loopback, shared by all commands with the same
//!   rights. Outside processes are invisible and can't be signalled.
//! - **Landlock**, if the kernel has it: limits writing, signals and tracing; without namespaces,
//!   also reading.
//! - **seccomp**: blocks system calls that could undo the other two (mounts, new namespaces,
//!   io_uring), that reach rare parts of the kernel, or that inject terminal input.
//!
//! If only `bwrap` may create namespaces, it does. [`Support`] tells in advance which layers are
//! missing on a machine. A supervisor that can't enforce the limits starts nothing. No `unsafe`.
//!
//! Not limited: time, memory and disk space.

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
pub use signs::{Confined, files_git_left, protected_place, signs_of_confinement};
pub use spec::{Layer, Network, Sandbox};
pub use support::{Promise, Support};
