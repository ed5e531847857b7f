//! The order in which a supervisor confines itself.
//!
//! Namespaces come first, because they need what Landlock and the filter take away; the rights
//! within them are given up as soon as the mounts stand.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use nix::sys::prctl::{set_dumpable, set_pdeathsig};
use nix::sys::signal::Signal;
use nix::sys::wait::waitpid;
use rustix::thread::set_no_new_privs;

use super::namespaces::Side;
use super::shared::{Namespaces, Share};
use super::spec::{Layer, Network, Sandbox};
use super::support::{SCOPES, Support};
use super::{mounts, namespaces, rules, sockets, system_calls};

const NO_PROFILE: &str = "only on macOS";

/// A process in its new namespaces, which is not confined yet.
pub(in crate::agent::process) struct Entered {
    namespaces: Result<(), String>,
    processes: Result<(), String>,
    /// Everything is mounted already.
    is_mounted: bool,
    /// Other commands are in the same user namespace.
    shares: bool,
    cwd: PathBuf,
    /// Of other programs.
    sockets: BTreeSet<PathBuf>,
    /// The namespaces that it made for others to join.
    pub made: Option<Namespaces>,
}

/// Moves this process, which must have one thread, to namespaces of its own.
pub(in crate::agent::process) fn enter(sandbox: &Sandbox, share: Share) -> Result<Entered, String> {
    let entered = try_to_enter(sandbox, share);
    match &entered.namespaces {
        Err(reason) if !sandbox.without.contains(&Layer::Namespaces) => Err(reason.clone()),
        _ => Ok(entered),
    }
}

impl Entered {
    /// This process is the first one of namespaces that `bwrap` has made.
    pub fn by_bwrap(sandbox: &Sandbox) -> Self {
        Self {
            namespaces: Ok(()),
            processes: use_layer(sandbox, Layer::Processes, || Ok(())),
            is_mounted: true,
            shares: false,
            cwd: current_dir(),
            sockets: BTreeSet::new(),
            made: None,
        }
    }
}

fn current_dir() -> PathBuf {
    std::env::current_dir().unwrap_or_else(|_| "/".into())
}

fn try_to_enter(sandbox: &Sandbox, share: Share) -> Entered {
    let cwd = current_dir();
    // Of this network, so before leaving it.
    let sockets = sockets::bound();
    let shares = !matches!(share, Share::Alone);
    let entered = use_layer(sandbox, Layer::Namespaces, || {
        use_layer(sandbox, Layer::OwnNamespaces, || {
            namespaces::enter(sandbox.network, sandbox.has_init(), share)
        })
    });
    let (namespaces, made) = match entered {
        Ok(made) => (Ok(()), made),
        Err(reason) => (Err(reason), None),
    };
    let processes = match &namespaces {
        Ok(()) => use_layer(sandbox, Layer::Processes, || Ok(())),
        Err(reason) => Err(reason.clone()),
    };
    Entered {
        namespaces,
        processes,
        is_mounted: false,
        shares,
        cwd,
        sockets,
        made,
    }
}

impl Entered {
    /// Goes on in a child where process ids are its own: only children are in such a namespace.
    pub fn split(&self) -> Result<Side, String> {
        match &self.processes {
            Ok(()) => namespaces::fork(),
            Err(_) => Ok(Side::Inside),
        }
    }

    /// Confines this process and all that it starts from now on. The working directory stays the
    /// same, seen through the new mounts.
    ///
    /// # Errors
    /// In words, what cannot be kept of what is asked, or which step failed.
    pub fn confine(self, sandbox: &Sandbox) -> Result<(), String> {
        if self.namespaces.is_ok() && !self.is_mounted {
            // When half of the mounts are made, nothing can be built on that.
            mounts::arrange(sandbox, &self.sockets)?;
        }
        if self.processes.is_ok() && !self.is_mounted {
            mounts::fresh_proc()?;
        }
        let support = self.restrict(sandbox)?;
        let missing = support.missing(sandbox);
        if missing.is_empty() || sandbox.best_effort {
            return Ok(());
        }
        Err(format!(
            "The sandbox can't work here: {} ({})",
            missing.join(", "),
            support.reasons().join("; ")
        ))
    }

    /// All but the mounts.
    fn restrict(self, sandbox: &Sandbox) -> Result<Support, String> {
        let (namespaces, processes) = (self.namespaces.is_ok(), self.processes.is_ok());
        if namespaces {
            std::env::set_current_dir(&self.cwd)
                .map_err(|error| mounts::failed("enter", &self.cwd, error))?;
        }
        // Else the command could trace its supervisor and speak for it; so could one that shares the
        // user namespace, from when the capabilities are gone.
        let _ = set_dumpable(false);
        if !sandbox.without.contains(&Layer::Privileges) {
            namespaces::drop_capabilities();
            let _ = set_no_new_privs(true);
        }
        // A new user namespace takes it away. The kernel kills the whole namespace with its first
        // process; without one, a supervisor that its command keeps stopped must see that tiller ends.
        let _ = set_pdeathsig(if processes {
            Signal::SIGKILL
        } else {
            Signal::SIGCONT
        });
        let landlock = use_layer(sandbox, Layer::Landlock, || {
            rules::restrict(sandbox, namespaces)
        });
        // What the filter allows depends on what else keeps the command in.
        let host_network = sandbox.network == Network::Host;
        let scopes = landlock.as_ref().is_ok_and(|version| *version >= SCOPES);
        let kept = system_calls::Kept {
            tracing: processes || (namespaces && !self.shares) || landlock.is_ok(),
            network: namespaces || host_network,
            sockets: namespaces && (scopes || !host_network),
        };
        let seccomp = use_layer(sandbox, Layer::Seccomp, || system_calls::refuse(kept));
        Ok(Support {
            namespaces: self.namespaces,
            processes: self.processes,
            landlock,
            seccomp,
            ..Support::none(NO_PROFILE)
        })
    }
}

/// Tries every layer on this process and says in `answer` which work. The process is of no use
/// afterwards.
pub(super) fn trial(
    within: bool,
    answer: impl FnOnce(&Support) -> io::Result<()>,
) -> io::Result<()> {
    let mut sandbox = Sandbox::for_trial();
    if within {
        let entered = Entered::by_bwrap(&sandbox);
        return answer(&entered.restrict(&sandbox).map_err(io::Error::other)?);
    }
    let mut entered = try_to_enter(&sandbox, Share::Alone);
    match entered.split() {
        Ok(Side::Outside(child)) => {
            waitpid(child, None)?;
            return Ok(());
        }
        Ok(Side::Inside) => {}
        Err(reason) => entered.processes = Err(reason),
    }
    if entered.namespaces.is_ok() {
        entered.namespaces = mounts::arrange(&sandbox, &entered.sockets);
    }
    if entered.processes.is_ok() {
        entered.processes = mounts::fresh_proc();
    }
    if entered.namespaces.is_err() {
        entered.processes.clone_from(&entered.namespaces);
        sandbox.without.insert(Layer::Namespaces);
    }
    answer(&entered.restrict(&sandbox).map_err(io::Error::other)?)
}

fn use_layer<T>(
    sandbox: &Sandbox,
    layer: Layer,
    apply: impl FnOnce() -> Result<T, String>,
) -> Result<T, String> {
    if sandbox.without.contains(&layer) {
        return Err(format!("{layer} left out"));
    }
    apply()
}
