//! Which layers work on this machine, and what they enforce.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::spec::{Layer, Network, Sandbox};

/// The Landlock version that controls truncating files (Linux 6.2).
const TRUNCATES: u32 = 3;
/// The Landlock version that confines signals and abstract sockets (Linux 6.12).
pub(super) const SCOPES: u32 = 6;

/// Which layers work on this machine, tested live, with reasons for those that don't.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Support {
    /// User, mount, network, IPC and UTS namespaces.
    pub namespaces: Result<(), String>,
    /// The program that creates them if tiller can't.
    pub bwrap: Option<PathBuf>,
    /// A pid namespace with its own `/proc`.
    pub processes: Result<(), String>,
    /// The Landlock version.
    pub landlock: Result<u32, String>,
    /// The system call filter.
    pub seccomp: Result<(), String>,
    /// The macOS profiles, which enforce everything on their own.
    pub profile: Result<(), String>,
}

/// Kernel settings against user namespaces: the file, the denying value, the command to change it.
const SWITCHES: [(&str, &str, &str); 3] = [
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ),
    (
        "/proc/sys/kernel/unprivileged_userns_clone",
        "0",
        "sudo sysctl -w kernel.unprivileged_userns_clone=1",
    ),
    (
        "/proc/sys/user/max_user_namespaces",
        "0",
        "sudo sysctl -w user.max_user_namespaces=15000",
    ),
];

/// One limit of a sandbox, which this machine can enforce or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Promise {
    /// Its subject.
    pub name: &'static str,
    /// Whether this machine enforces it.
    pub kept: bool,
    /// Whether a command must not run without it.
    pub needed: bool,
    /// The risk without it.
    pub else_what: &'static str,
}

impl Support {
    /// Nothing works, for this one reason.
    pub fn none(reason: &str) -> Self {
        Self {
            namespaces: Err(reason.to_owned()),
            bwrap: None,
            processes: Err(reason.to_owned()),
            landlock: Err(reason.to_owned()),
            seccomp: Err(reason.to_owned()),
            profile: Err(reason.to_owned()),
        }
    }

    /// Whether this is a container, which can't change what the machine allows.
    pub fn is_in_container() -> bool {
        let marks = ["/.dockerenv", "/run/.containerenv"];
        marks.iter().any(|mark| std::path::Path::new(mark).exists())
    }

    /// The command that enables user namespaces here, if a setting denies them.
    pub fn remedy(&self) -> Option<&'static str> {
        self.namespaces.as_ref().err()?;
        if Self::is_in_container() {
            return None;
        }
        let is = |file: &str, value: &str| {
            std::fs::read_to_string(file).is_ok_and(|text| text.trim() == value)
        };
        let switch = SWITCHES.iter().find(|(file, value, _)| is(file, value));
        switch.map(|(_, _, command)| *command)
    }

    /// The layers that don't work.
    pub fn broken(&self) -> Vec<Layer> {
        [
            (Layer::Namespaces, self.namespaces.is_err()),
            (Layer::Processes, self.processes.is_err()),
            (Layer::Landlock, self.landlock.is_err()),
            (Layer::Seccomp, self.seccomp.is_err()),
        ]
        .into_iter()
        .filter_map(|(layer, broken)| broken.then_some(layer))
        .collect()
    }

    /// The limits of `sandbox` that this machine can't enforce, in words; may be empty.
    pub fn missing(&self, sandbox: &Sandbox) -> Vec<String> {
        let promises = self.promises(sandbox).into_iter();
        let broken = promises.filter(|promise| promise.needed && !promise.kept);
        broken.map(|promise| promise.else_what.to_owned()).collect()
    }

    /// The limits of `sandbox`, each with whether this machine enforces it.
    pub fn promises(&self, sandbox: &Sandbox) -> Vec<Promise> {
        let profile = self.profile.is_ok();
        let namespaces = self.namespaces.is_ok();
        let landlock = *self.landlock.as_ref().unwrap_or(&0);
        let seccomp = self.seccomp.is_ok();
        let inside = |paths: &[PathBuf]| {
            let within = |path: &PathBuf| {
                sandbox
                    .writable
                    .iter()
                    .any(|folder| path.starts_with(folder))
            };
            paths.iter().any(within)
        };
        let own_network = sandbox.network != Network::Host;
        let promise = |name, kept: bool, else_what| Promise {
            name,
            kept: profile || kept,
            needed: true,
            else_what,
        };
        vec![
            promise(
                "files",
                namespaces || landlock >= TRUNCATES,
                "commands could change files outside the writable folders",
            ),
            promise(
                "read-only files",
                namespaces || !inside(&sandbox.read_only),
                "commands could change read-only files inside the writable folders",
            ),
            promise(
                "hidden files",
                namespaces || (landlock > 0 && !inside(&sandbox.hidden)),
                "commands could read hidden files",
            ),
            promise(
                "network",
                !own_network || namespaces || seccomp,
                "commands could use the network",
            ),
            promise(
                "processes",
                self.processes.is_ok() || landlock >= SCOPES,
                "commands could send signals to other processes",
            ),
            promise(
                "sockets",
                seccomp || (namespaces && (own_network || landlock >= SCOPES)),
                "commands could connect to sockets of other programs",
            ),
            Promise {
                // The namespaces lock the host's mounts, so nothing can be undone there.
                needed: !namespaces,
                ..promise(
                    "system calls",
                    seccomp,
                    "commands could use rarely needed parts of the kernel",
                )
            },
        ]
    }

    /// The reasons for everything that doesn't work.
    pub fn reasons(&self) -> Vec<String> {
        if cfg!(not(target_os = "linux")) {
            return self.profile.as_ref().err().cloned().into_iter().collect();
        }
        let namespaces = self.namespaces.as_ref().err();
        let seccomp = self.seccomp.as_ref().err();
        let processes = self.processes.as_ref().err();
        let processes = processes.filter(|reason| Some(*reason) != namespaces);
        let landlock = match &self.landlock {
            Err(reason) => Some(reason.clone()),
            Ok(version @ ..SCOPES) if self.processes.is_err() => Some(format!(
                "Landlock has version {version}; blocking signals needs {SCOPES} (Linux 6.12)"
            )),
            Ok(_) => None,
        };
        namespaces
            .cloned()
            .into_iter()
            .chain(processes.cloned())
            .chain(landlock)
            .chain(seccomp.cloned())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The limits that a full sandbox lacks with these layers.
    fn missing(layers: [bool; 3], landlock: u32, network: Network) -> Vec<String> {
        let works = |works: bool| works.then_some(()).ok_or_else(String::new);
        let [namespaces, processes, seccomp] = layers;
        let support = Support {
            namespaces: works(namespaces),
            bwrap: None,
            processes: works(processes),
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
        support.missing(&sandbox)
    }

    #[test]
    fn each_promise_needs_its_layers() {
        let signals = "commands could send signals to other processes";
        let read_only = "commands could change read-only files inside the writable folders";
        for (layers, landlock, network, expected) in [
            ([true, true, true], 7, Network::Loopback, vec![]),
            // Namespaces are enough, even without Landlock and seccomp.
            ([true, true, true], 0, Network::Loopback, vec![]),
            ([true, true, false], 0, Network::Loopback, vec![]),
            ([true, true, true], 0, Network::Host, vec![]),
            (
                [true, true, false],
                0,
                Network::Host,
                vec!["commands could connect to sockets of other programs"],
            ),
            // No namespace for processes.
            ([true, false, true], 6, Network::Loopback, vec![]),
            ([true, false, true], 5, Network::Loopback, vec![signals]),
            // No namespaces at all.
            ([false, false, true], 7, Network::Loopback, vec![read_only]),
            (
                [false, false, true],
                2,
                Network::Loopback,
                vec![
                    "commands could change files outside the writable folders",
                    read_only,
                    signals,
                ],
            ),
        ] {
            let got = missing(layers, landlock, network);
            assert_eq!(got, expected, "{layers:?} {landlock} {network:?}");
        }
        assert_eq!(missing([false; 3], 0, Network::Loopback).len(), 7);
    }
}
