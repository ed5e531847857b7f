//! The order in which a supervisor confines itself.
//!
//! Namespaces come first, because they need what Landlock and the filter remove. Capabilities in
//! them are dropped as soon as the mounts are done.

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

/// A process in its new namespaces, not confined yet.
pub(in crate::process) struct Entered {
    namespaces: Result<(), String>,
    processes: Result<(), String>,
    /// Whether everything is already mounted.
    is_mounted: bool,
    /// Whether it shares the user namespace with other commands.
    shares: bool,
    cwd: PathBuf,
    /// Sockets of other programs.
    sockets: BTreeSet<PathBuf>,
    /// The namespaces it created for others to join.
    pub made: Option<Namespaces>,
}

/// Moves this process, which must be single-threaded, into new namespaces.
pub(in crate::process) fn enter(sandbox: &Sandbox, share: Share) -> Result<Entered, String> {
    let entered = try_to_enter(sandbox, share);
    match &entered.namespaces {
        Err(reason) if !sandbox.without.contains(&Layer::Namespaces) => Err(reason.clone()),
        _ => Ok(entered),
    }
}

impl Entered {
    /// This process is the first one in namespaces created by `bwrap`.
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
    // Lists this network's sockets, before leaving it.
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
    /// Continues in a child if there is a pid namespace, because only children enter it.
    pub fn split(&self) -> Result<Side, String> {
        match &self.processes {
            Ok(()) => namespaces::fork(),
            Err(_) => Ok(Side::Inside),
        }
    }

    /// Confines this process and everything it starts. Keeps the working folder, as seen through
    /// the new mounts.
    ///
    /// # Errors
    /// Explains what can't be enforced, or which step failed.
    pub fn confine(self, sandbox: &Sandbox) -> Result<(), String> {
        if self.namespaces.is_ok() && !self.is_mounted {
            // With only half of the mounts, nothing else would be safe.
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

    /// Everything except the mounts.
    fn restrict(self, sandbox: &Sandbox) -> Result<Support, String> {
        let (namespaces, processes) = (self.namespaces.is_ok(), self.processes.is_ok());
        if namespaces {
            std::env::set_current_dir(&self.cwd)
                .map_err(|error| mounts::failed("enter", &self.cwd, error))?;
        }
        // Otherwise the command could trace its supervisor and speak for it. So could a command in
        // the same user namespace, once the capabilities are gone.
        let _ = set_dumpable(false);
        if !sandbox.without.contains(&Layer::Privileges) {
            namespaces::drop_capabilities();
            let _ = set_no_new_privs(true);
        }
        // A new user namespace resets this. With a pid namespace, the kernel kills everything along
        // with the first process. Without one, a supervisor kept stopped by its command must notice
        // tiller's end.
        let _ = set_pdeathsig(if processes {
            Signal::SIGKILL
        } else {
            Signal::SIGCONT
        });
        let landlock = use_layer(sandbox, Layer::Landlock, || {
            rules::restrict(sandbox, namespaces)
        });
        // The filter depends on what else confines the command.
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

/// Tries every layer on this process and reports which work. The process is unusable afterwards.
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
