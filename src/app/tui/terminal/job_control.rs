//! Suspending (Ctrl+Z), if a shell can continue the program.
//!
//! Without one the process group is orphaned (`ssh -t host tiller`, `docker exec -it c tiller`,
//! `alacritty -e tiller`). The kernel ignores SIGTSTP there, but not SIGSTOP.

use nix::sys::signal::{Signal, kill, raise};
use nix::unistd::{Pid, getpgid, getpgrp, getpid, getsid};

/// Whether a shell that can continue us with `fg` is an ancestor in our session.
pub(crate) fn is_possible() -> bool {
    let (group, session) = (getpgrp(), getsid(None).ok());
    let mut pid = getpid();
    // Skip members of the job, such as `cargo run`.
    while let Some(parent) = parent_of(pid) {
        match getpgid(Some(parent)) {
            Ok(other) if other == group => pid = parent,
            Ok(_) => return session.is_some() && getsid(Some(parent)).ok() == session,
            Err(_) => return false,
        }
    }
    false
}

/// Suspends the whole job (including parents such as `cargo run`). Returns when it continues.
pub(crate) fn stop() {
    if getpgrp() != getpid() {
        let _ = kill(Pid::from_raw(0), Signal::SIGTSTP);
    }
    let _ = raise(Signal::SIGSTOP);
}

/// The parent of a process; `None` for the first. Outside Linux it knows only our own.
fn parent_of(pid: Pid) -> Option<Pid> {
    let parent = if pid == getpid() {
        nix::unistd::getppid()
    } else {
        // `pid (name) state ppid ...`; the name may hold blanks and parentheses.
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (_, rest) = stat.rsplit_once(')')?;
        Pid::from_raw(rest.split_ascii_whitespace().nth(1)?.parse().ok()?)
    };
    (parent.as_raw() > 0).then_some(parent)
}
