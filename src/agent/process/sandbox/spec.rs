//! The limits of a sandbox, as plain data for the supervisor.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::support::Support;
use crate::word_list::WordList;

/// An environment variable that turns layers off, for tests: `landlock,seccomp`.
const WITHOUT: &str = "TILLER_SANDBOX_WITHOUT";

/// What a command may access. It may read everything except `hidden`, and write only `writable`.
///
/// All paths are absolute and without symbolic links. Missing paths are ignored, except `read_only`
/// and `hidden` ones in a writable folder. The command could create those, so an empty folder
/// blocks them while commands run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sandbox {
    /// Writable files and folders, with everything in them.
    #[serde(with = "paths")]
    pub writable: Vec<PathBuf>,
    /// Read-only paths within them.
    #[serde(with = "paths")]
    pub read_only: Vec<PathBuf>,
    /// Paths that can't be read or changed.
    #[serde(with = "paths")]
    pub hidden: Vec<PathBuf>,
    /// Readable exceptions within hidden paths.
    #[serde(with = "paths")]
    pub readable: Vec<PathBuf>,
    /// Forbidden paths within writable folders. tiller moves such a file away, and ends the command
    /// if git would use it at once.
    #[serde(with = "paths")]
    pub forbidden: Vec<PathBuf>,
    /// The command's writable `/tmp`. If `None`, it sees the system's, usually read-only.
    pub tmp: Option<PathBuf>,
    /// The same for `/var/tmp`.
    pub var_tmp: Option<PathBuf>,
    /// The same for `/dev/shm`. If `None`, it is empty and private.
    pub shm: Option<PathBuf>,
    /// Paths to keep visible although one of these covers them.
    #[serde(with = "paths")]
    pub visible: Vec<PathBuf>,
    /// Its network access.
    pub network: Network,
    /// Start even if this machine can't enforce everything.
    pub best_effort: bool,
    /// The `bwrap` that creates namespaces and mounts if tiller can't.
    pub bwrap: Option<PathBuf>,
    /// Layers to leave out, because they don't work here or for a test.
    pub without: BTreeSet<Layer>,
}

/// A command's network access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// A loopback for commands with the same rights; nothing if the machine has no namespaces.
    #[default]
    Loopback,
    /// Everything that tiller can reach.
    Host,
}

/// A part of the sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// User, mount, network, IPC and UTS namespaces.
    Namespaces,
    /// Namespaces that tiller creates without `bwrap`.
    OwnNamespaces,
    /// A pid namespace with a private `/proc`. Needs the other namespaces.
    Processes,
    /// Landlock rules.
    Landlock,
    /// The system call filter.
    Seccomp,
    /// Closing inherited descriptors.
    Descriptors,
    /// Dropping all capabilities for good.
    Privileges,
}

impl Layer {
    /// Every layer.
    pub const ALL: [Self; 7] = [
        Self::Namespaces,
        Self::OwnNamespaces,
        Self::Processes,
        Self::Landlock,
        Self::Seccomp,
        Self::Descriptors,
        Self::Privileges,
    ];

    /// The layers that tiller's environment turns off.
    pub(super) fn switched_off() -> BTreeSet<Self> {
        let names = std::env::var(WITHOUT).unwrap_or_default();
        let layers = names.split(',').filter_map(|name| name.parse().ok());
        layers.collect()
    }
}

impl FromStr for Layer {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let layer = serde_json::from_value(name.trim().into());
        layer.map_err(|_| format!("no layer of the sandbox: {name}"))
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl Sandbox {
    /// Missing paths that need an empty folder so that no command creates something there.
    pub(in crate::process) fn to_be_held(&self) -> impl Iterator<Item = &Path> {
        let kept = self.read_only.iter().chain(&self.hidden);
        kept.map(PathBuf::as_path).filter(|path| {
            let stands_in = path.parent().is_some_and(Path::is_dir);
            let inside = self.writable.iter().any(|folder| path.starts_with(folder));
            inside && stands_in && path.symlink_metadata().is_err()
        })
    }

    /// A sandbox for probing the layers.
    #[cfg(target_os = "linux")]
    pub(super) fn for_trial() -> Self {
        Self {
            writable: vec![std::env::temp_dir()],
            best_effort: true,
            without: Layer::switched_off(),
            ..Self::default()
        }
    }

    /// True if its command has a pid namespace, with this program as init.
    pub(in crate::process) fn has_init(&self) -> bool {
        let left_out = |layer| self.without.contains(&layer);
        cfg!(target_os = "linux") && !left_out(Layer::Namespaces) && !left_out(Layer::Processes)
    }

    /// The version for the supervisor, by what works on this machine.
    pub(in crate::process) fn on(&self, machine: Option<&Support>) -> Self {
        let mut sandbox = self.clone();
        sandbox.without.extend(Layer::switched_off());
        if let Some(support) = machine {
            sandbox.without.extend(support.broken());
            sandbox.bwrap.clone_from(&support.bwrap);
        }
        if sandbox.without.contains(&Layer::Namespaces) {
            sandbox.bwrap = None;
        }
        sandbox
    }
}

/// The folders between `folder` and `path`, outermost first.
pub(super) fn between<'p>(path: &'p Path, folder: &Path) -> Vec<&'p Path> {
    let above = path.ancestors().skip(1);
    let mut between: Vec<_> = above.take_while(|it| *it != folder).collect();
    between.reverse();
    between
}

/// Variables that point to sockets and terminals a command can't see.
const LEADING_OUT: WordList = WordList(
    "XDG_RUNTIME_DIR SSH_AUTH_SOCK SSH_AGENT_PID GPG_AGENT_INFO DBUS_SESSION_BUS_ADDRESS DISPLAY \
     WAYLAND_DISPLAY TMUX STY VSCODE_IPC_HOOK_CLI",
);

/// Keeps programs from trying to connect for a minute. tiller asks the user once they failed.
const NO_RETRIES: [&str; 4] = [
    "npm_config_fetch_retries",
    "PIP_RETRIES",
    "CARGO_NET_RETRY",
    "UV_HTTP_RETRIES",
];

impl Sandbox {
    /// Changes to the command's environment; the value `None` removes a variable.
    pub(in crate::process) fn environment(
        &self,
    ) -> impl Iterator<Item = (&'static str, Option<&Path>)> {
        let tmp = self.tmp.as_deref().map(|folder| {
            if self.without.contains(&Layer::Namespaces) {
                folder
            } else {
                Path::new("/tmp")
            }
        });
        let removed = LEADING_OUT.words().map(|name| (name, None));
        let retries = NO_RETRIES.map(|name| (name, Some(Path::new("0"))));
        let retries = retries
            .into_iter()
            .filter(|_| self.network != Network::Host);
        removed
            .chain(retries)
            .chain(tmp.map(|tmp| ("TMPDIR", Some(tmp))))
    }
}

/// Paths may not be UTF-8, and encoding them as text is much smaller than as numbers.
mod paths {
    use std::ffi::OsString;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::path::PathBuf;

    use base64::{Engine, prelude::BASE64_STANDARD};
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(paths: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
        let names = paths.iter().map(|path| path.as_os_str().as_bytes());
        to.collect_seq(names.map(|name| BASE64_STANDARD.encode(name)))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<PathBuf>, D::Error> {
        let names = Vec::<String>::deserialize(from)?.into_iter();
        let names = names.map(|name| BASE64_STANDARD.decode(name).map_err(de::Error::custom));
        names
            .map(|name| Ok(OsString::from_vec(name?).into()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn a_sandbox_with_any_path_survives_the_wire() {
        let sandbox = Sandbox {
            writable: vec![PathBuf::from(OsStr::from_bytes(b"/a/\xff b"))],
            tmp: Some("/t".into()),
            without: BTreeSet::from([Layer::Landlock]),
            ..Sandbox::default()
        };
        let text = serde_json::to_string(&sandbox).unwrap();
        assert_eq!(serde_json::from_str::<Sandbox>(&text).unwrap(), sandbox);
    }

    #[test]
    fn layers_have_the_names_they_are_switched_off_by() {
        for layer in Layer::ALL {
            let name = layer.to_string();
            assert_eq!(name.parse(), Ok(layer));
            assert_eq!(serde_json::to_value(layer).unwrap(), name);
        }
        assert!("".parse::<Layer>().is_err());
    }
}
