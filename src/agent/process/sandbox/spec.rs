//! What is asked of the sandbox. Plain data: it goes to the supervisor with the command.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::support::Support;
use crate::agent::word_list::WordList;

/// The variable of tiller's own environment that switches layers off, for tests: `landlock,seccomp`.
const WITHOUT: &str = "TILLER_SANDBOX_WITHOUT";

/// What a command may touch. Everything may be read but `hidden`, nothing written but `writable`.
///
/// All paths are absolute and without symbolic links. One that does not exist is passed over, but
/// for `read_only` and `hidden` ones in a folder that may be changed, for else the command could
/// make them: while commands run, an empty folder stands there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sandbox {
    /// Files and folders that may be changed, with all that is in them.
    #[serde(with = "paths")]
    pub writable: Vec<PathBuf>,
    /// What may not be changed within them.
    #[serde(with = "paths")]
    pub read_only: Vec<PathBuf>,
    /// What may neither be read nor changed.
    #[serde(with = "paths")]
    pub hidden: Vec<PathBuf>,
    /// What of that may be read all the same.
    #[serde(with = "paths")]
    pub readable: Vec<PathBuf>,
    /// What must not be made within them: it is moved out of the way, and if git would follow it at
    /// once, the command is ended.
    #[serde(with = "paths")]
    pub forbidden: Vec<PathBuf>,
    /// A folder that is `/tmp` for the command, and writable. Without one `/tmp` is the system's,
    /// and read-only unless it is in `writable`.
    pub tmp: Option<PathBuf>,
    /// The same for `/var/tmp`.
    pub var_tmp: Option<PathBuf>,
    /// The same for `/dev/shm`. Without one it is empty, and the command's own.
    pub shm: Option<PathBuf>,
    /// What is seen at its place although one of these covers it.
    #[serde(with = "paths")]
    pub visible: Vec<PathBuf>,
    /// What it may reach over the network.
    pub network: Network,
    /// Start it also when this machine cannot keep all of that.
    pub best_effort: bool,
    /// The `bwrap` that makes the namespaces and mounts, where tiller may not.
    pub bwrap: Option<PathBuf>,
    /// Layers to leave out: they do not work here, or a test wants to see what then gets through.
    pub without: BTreeSet<Layer>,
}

/// What a command reaches over the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// A loopback, on which it can talk with itself and with other commands that have the same
    /// rights; nothing where the machine has no namespaces.
    #[default]
    Loopback,
    /// Whatever tiller reaches.
    Host,
}

/// A part of the machinery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// User, mount, network, IPC and UTS namespaces.
    Namespaces,
    /// Those that tiller makes itself, without the help of `bwrap`.
    OwnNamespaces,
    /// A namespace for process ids with a `/proc` that shows no other processes. Needs the others.
    Processes,
    /// Landlock rules.
    Landlock,
    /// The filter of system calls.
    Seccomp,
    /// Closing the descriptors that tiller was started with.
    Descriptors,
    /// Giving up every capability, and the way to get new ones.
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

    /// The layers that tiller's environment switches off.
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
    /// Paths where an empty folder must stand so that no command makes something there.
    pub(in crate::agent::process) fn to_be_held(&self) -> impl Iterator<Item = &Path> {
        let kept = self.read_only.iter().chain(&self.hidden);
        kept.map(PathBuf::as_path).filter(|path| {
            let stands_in = path.parent().is_some_and(Path::is_dir);
            let inside = self.writable.iter().any(|folder| path.starts_with(folder));
            inside && stands_in && path.symlink_metadata().is_err()
        })
    }

    /// One in which the layers are tried.
    #[cfg(target_os = "linux")]
    pub(super) fn for_trial() -> Self {
        Self {
            writable: vec![std::env::temp_dir()],
            best_effort: true,
            without: Layer::switched_off(),
            ..Self::default()
        }
    }

    /// Whether its command has process ids of its own, below an init that is this program.
    pub(in crate::agent::process) fn has_init(&self) -> bool {
        let left_out = |layer| self.without.contains(&layer);
        cfg!(target_os = "linux") && !left_out(Layer::Namespaces) && !left_out(Layer::Processes)
    }

    /// What goes to the supervisor, as far as it is known what works on this machine.
    pub(in crate::agent::process) fn on(&self, machine: Option<&Support>) -> Self {
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

/// The folders between `folder` and `path`, from the outermost.
pub(super) fn between<'p>(path: &'p Path, folder: &Path) -> Vec<&'p Path> {
    let above = path.ancestors().skip(1);
    let mut between: Vec<_> = above.take_while(|it| *it != folder).collect();
    between.reverse();
    between
}

/// Variables that lead to sockets and terminals which a command does not see.
const LEADING_OUT: WordList = WordList(
    "XDG_RUNTIME_DIR SSH_AUTH_SOCK SSH_AGENT_PID GPG_AGENT_INFO DBUS_SESSION_BUS_ADDRESS DISPLAY \
     WAYLAND_DISPLAY TMUX STY VSCODE_IPC_HOOK_CLI",
);

/// Programs that would try for a minute to reach what cannot be reached; the user is asked once they
/// have failed.
const NO_RETRIES: [&str; 4] = [
    "npm_config_fetch_retries",
    "PIP_RETRIES",
    "CARGO_NET_RETRY",
    "UV_HTTP_RETRIES",
];

impl Sandbox {
    /// Changes of the command's environment; none as value: removed.
    pub(in crate::agent::process) fn environment(
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

/// Paths need not be UTF-8, and a byte for each of theirs is far less to read than a number.
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
