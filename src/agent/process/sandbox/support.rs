//! Which layers work on this machine, and what is promised with them.

use serde::{Deserialize, Serialize};

use super::spec::{Layer, Network, Sandbox};

/// Landlock rules for truncating files came with this version (Linux 6.2).
const TRUNCATES: u32 = 3;
/// Landlock keeps signals and abstract sockets in since this version (Linux 6.12).
pub(super) const SCOPES: u32 = 6;

/// Which layers work on this machine, by a live trial; for each that does not, why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Support {
    /// User, mount, network and IPC namespaces.
    pub namespaces: Result<(), String>,
    /// The version of Landlock.
    pub landlock: Result<u32, String>,
    /// The filter of system calls.
    pub seccomp: Result<(), String>,
    /// The profiles of macOS, which keep everything alone.
    pub profile: Result<(), String>,
}

impl Support {
    /// Nothing works, for this one reason.
    pub fn none(reason: &str) -> Self {
        Self {
            namespaces: Err(reason.to_owned()),
            landlock: Err(reason.to_owned()),
            seccomp: Err(reason.to_owned()),
            profile: Err(reason.to_owned()),
        }
    }

    /// The layers that do not work.
    pub fn broken(&self) -> Vec<Layer> {
        [
            (Layer::Namespaces, self.namespaces.is_err()),
            (Layer::Landlock, self.landlock.is_err()),
            (Layer::Seccomp, self.seccomp.is_err()),
        ]
        .into_iter()
        .filter_map(|(layer, broken)| broken.then_some(layer))
        .collect()
    }

    /// What `sandbox` asks and this machine cannot keep, in words; nothing when all is kept.
    pub fn missing(&self, sandbox: &Sandbox) -> Vec<String> {
        if self.profile.is_ok() {
            return Vec::new();
        }
        let namespaces = self.namespaces.is_ok();
        let landlock = *self.landlock.as_ref().unwrap_or(&0);
        let seccomp = self.seccomp.is_ok();
        let inside = |paths: &[std::path::PathBuf]| {
            let within = |path: &std::path::PathBuf| {
                sandbox
                    .writable
                    .iter()
                    .any(|folder| path.starts_with(folder))
            };
            paths.iter().any(within)
        };
        let own_network = sandbox.network != Network::Host;
        let promises = [
            (
                namespaces || landlock >= TRUNCATES,
                "files outside the writable folders could be changed",
            ),
            (
                namespaces || !inside(&sandbox.read_only),
                "read-only files within the writable folders could be changed",
            ),
            (
                namespaces || (landlock > 0 && !inside(&sandbox.hidden)),
                "hidden files could be read",
            ),
            (!own_network || seccomp, "the network could be reached"),
            (landlock >= SCOPES, "other processes could be signalled"),
            (
                seccomp || (namespaces && (own_network || landlock >= SCOPES)),
                "sockets of other programs could be reached",
            ),
            (seccomp, "the other layers could be undone"),
        ];
        let missing = promises.into_iter().filter(|(kept, _)| !kept);
        missing.map(|(_, what)| what.to_owned()).collect()
    }

    /// The reasons of all that does not work.
    pub fn reasons(&self) -> Vec<String> {
        if cfg!(not(target_os = "linux")) {
            return self.profile.as_ref().err().cloned().into_iter().collect();
        }
        let namespaces = self.namespaces.as_ref().err();
        let seccomp = self.seccomp.as_ref().err();
        let landlock = match &self.landlock {
            Err(reason) => Some(reason.clone()),
            Ok(version @ ..SCOPES) => Some(format!(
                "Landlock has version {version}, signals need {SCOPES} (Linux 6.12)"
            )),
            Ok(_) => None,
        };
        namespaces
            .cloned()
            .into_iter()
            .chain(landlock)
            .chain(seccomp.cloned())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is missing for a sandbox that asks for everything, with these layers.
    fn missing(namespaces: bool, landlock: u32, seccomp: bool, network: Network) -> usize {
        let works = |works: bool| works.then_some(()).ok_or_else(String::new);
        let support = Support {
            namespaces: works(namespaces),
            landlock: works(landlock > 0).map(|()| landlock),
            seccomp: works(seccomp),
            profile: Err(String::new()),
        };
        let sandbox = Sandbox {
            writable: vec!["/ws".into()],
            read_only: vec!["/ws/.git/config".into()],
            hidden: vec!["/home/.ssh".into()],
            network,
            ..Sandbox::default()
        };
        support.missing(&sandbox).len()
    }

    #[test]
    fn each_promise_needs_its_layers() {
        for (namespaces, landlock, seccomp, network, expected) in [
            (true, 7, true, Network::Loopback, 0),
            (true, 7, true, Network::Host, 0),
            // Signals.
            (true, 5, true, Network::Loopback, 1),
            (true, 0, true, Network::Loopback, 1),
            // Read-only files in the workspace.
            (false, 7, true, Network::Loopback, 1),
            // And truncating, and signals.
            (false, 2, true, Network::Loopback, 3),
            // The network, and the rest of the kernel.
            (true, 7, false, Network::Loopback, 2),
            (true, 7, false, Network::Host, 1),
            (false, 0, false, Network::Loopback, 7),
        ] {
            let got = missing(namespaces, landlock, seccomp, network);
            assert_eq!(
                got, expected,
                "{namespaces} {landlock} {seccomp} {network:?}"
            );
        }
    }
}
