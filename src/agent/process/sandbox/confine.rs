//! The order in which a supervisor confines itself.
//!
//! Namespaces come first, because they need what Landlock and the filter take away; the rights
//! within them are given up as soon as the mounts stand.

use std::collections::BTreeSet;

use nix::sys::prctl::{set_dumpable, set_pdeathsig};
use nix::sys::signal::Signal;
use rustix::thread::set_no_new_privs;

use super::shared::{Namespaces, Share};
use super::spec::{Layer, Network, Sandbox};
use super::support::{SCOPES, Support};
use super::{mounts, namespaces, rules, sockets, system_calls};

const NO_PROFILE: &str = "only on macOS";

/// Confines this process, which must have one thread, and all that it starts from now on. The
/// working directory stays the same, seen through the new mounts. Gives the namespaces that it made
/// for others to join.
///
/// # Errors
/// In words, what cannot be kept of what is asked, or which step failed.
pub(in crate::agent::process) fn confine(
    sandbox: &Sandbox,
    share: Share,
) -> Result<Option<Namespaces>, String> {
    let (support, made) = apply(sandbox, share)?;
    let missing = support.missing(sandbox);
    if missing.is_empty() || sandbox.best_effort {
        return Ok(made);
    }
    Err(format!(
        "The sandbox cannot be kept here: {} ({})",
        missing.join(", "),
        support.reasons().join("; ")
    ))
}

/// Tries every layer on this process and says which work. The process is of no use afterwards.
pub(super) fn trial(without: BTreeSet<Layer>) -> Support {
    let mut sandbox = Sandbox {
        writable: vec![std::env::temp_dir()],
        best_effort: true,
        without,
        ..Sandbox::default()
    };
    let support = Support {
        namespaces: use_layer(&sandbox, Layer::Namespaces, || {
            enter(&sandbox, Share::Alone).map(drop)
        }),
        landlock: Ok(0),
        seccomp: Ok(()),
        profile: Err(NO_PROFILE.to_owned()),
    };
    if support.namespaces.is_err() {
        sandbox.without.insert(Layer::Namespaces);
    }
    restrict(&sandbox, support, false)
}

fn apply(sandbox: &Sandbox, share: Share) -> Result<(Support, Option<Namespaces>), String> {
    let shares = !matches!(share, Share::Alone);
    let (namespaces, made) = match use_layer(sandbox, Layer::Namespaces, || enter(sandbox, share)) {
        Ok(made) => (Ok(()), made),
        Err(reason) => (Err(reason), None),
    };
    if let (Err(reason), false) = (&namespaces, sandbox.without.contains(&Layer::Namespaces)) {
        // Half of the mounts are made; nothing can be built on that.
        return Err(reason.clone());
    }
    let support = Support {
        namespaces,
        landlock: Ok(0),
        seccomp: Ok(()),
        profile: Err(NO_PROFILE.to_owned()),
    };
    Ok((restrict(sandbox, support, shares), made))
}

/// All but the namespaces. `shares`: other commands are in the same user namespace.
fn restrict(sandbox: &Sandbox, mut support: Support, shares: bool) -> Support {
    let namespaces = support.namespaces.is_ok();
    // Else the command could trace its supervisor and speak for it; so could one that shares the user
    // namespace, from when the capabilities are gone.
    let _ = set_dumpable(false);
    if !sandbox.without.contains(&Layer::Privileges) {
        namespaces::drop_capabilities();
        let _ = set_no_new_privs(true);
    }
    // A new user namespace takes it away: without it, one that its command keeps stopped would not see
    // that tiller has ended.
    let _ = set_pdeathsig(Signal::SIGCONT);
    support.landlock = use_layer(sandbox, Layer::Landlock, || {
        rules::restrict(sandbox, namespaces)
    });
    // What the filter allows depends on what else keeps the command in.
    let host_network = sandbox.network == Network::Host;
    let scopes = support
        .landlock
        .as_ref()
        .is_ok_and(|version| *version >= SCOPES);
    let kept = system_calls::Kept {
        tracing: (namespaces && !shares) || support.landlock.is_ok(),
        network: namespaces || host_network,
        sockets: namespaces && (scopes || !host_network),
    };
    support.seccomp = use_layer(sandbox, Layer::Seccomp, || system_calls::refuse(kept));
    support
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

fn enter(sandbox: &Sandbox, share: Share) -> Result<Option<Namespaces>, String> {
    let cwd = std::env::current_dir().unwrap_or_else(|_| "/".into());
    // Of this network, so before leaving it.
    let sockets = sockets::bound();
    let made = namespaces::enter(sandbox.network, share)?;
    mounts::arrange(sandbox, &sockets)?;
    std::env::set_current_dir(&cwd).map_err(|error| mounts::failed("enter", &cwd, error))?;
    Ok(made)
}
