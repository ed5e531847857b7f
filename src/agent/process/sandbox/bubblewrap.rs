//! Sandboxes with `bwrap` (bubblewrap), for machines where only that program may create namespaces.
//! It is set-user-id there, or a security module permits it.
//!
//! `bwrap` makes the mounts of [`super::mounts`] and starts the supervisor as the first process of
//! the new namespaces. The supervisor then adds Landlock and the system call filter as usual. Each
//! command has its own network.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::mounts::{KEPT_OF_RUN, SOCKET_FOLDERS, outermost, private_folders};
use super::sockets;
use super::spec::{Network, Sandbox, between};

/// System paths. Not from `PATH`, which may lead into the project.
const PLACES: [&str; 3] = [
    "/usr/bin/bwrap",
    "/usr/local/bin/bwrap",
    "/run/current-system/sw/bin/bwrap",
];
/// Where the supervisor finds its program inside, wherever it is outside.
const PROGRAM: &str = "/run/tiller";

/// The program, if installed.
pub(super) fn find() -> Option<PathBuf> {
    let places = PLACES.iter().map(PathBuf::from);
    places.into_iter().find(|place| place.is_file())
}

/// Arguments of `bwrap` that start `program` in `cwd` inside the sandbox, followed by the program's
/// own. Fails if `program` no longer exists.
pub(in crate::process) fn arguments(
    sandbox: &Sandbox,
    is_trial: bool,
    program: &Path,
    cwd: &Path,
) -> io::Result<Vec<OsString>> {
    // The sandbox may cover the program's own path.
    let program = program.canonicalize().map_err(|_| {
        io::Error::other("the tiller program was replaced while it runs; restart it (tiller -c)")
    })?;
    let mut arguments = Arguments::default();
    let own = ["user", "pid", "ipc", "uts"].map(|name| format!("--unshare-{name}"));
    arguments.all.extend(own.map(OsString::from));
    if sandbox.network != Network::Host {
        arguments.all.push("--unshare-net".into());
    }
    arguments.all.push("--as-pid-1".into());
    // Hides nothing during a probe, because a path removed meanwhile would make it fail.
    let sockets = if is_trial {
        BTreeSet::new()
    } else {
        sockets::bound()
    };
    arguments.mount(sandbox, &sockets);
    arguments.add("--ro-bind", [program.as_path(), Path::new(PROGRAM)]);
    for sealed in ["/run", "/dev", "/proc"] {
        arguments.add("--remount-ro", [sealed]);
    }
    arguments.add("--chdir", [cwd]);
    arguments.add("--", [PROGRAM]);
    Ok(arguments.all)
}

#[derive(Default)]
struct Arguments {
    all: Vec<OsString>,
    /// Folders that are already mounts; a second mount would cover those inside.
    pinned: BTreeSet<PathBuf>,
}

impl Arguments {
    fn add<T: AsRef<OsStr>>(&mut self, option: &str, values: impl IntoIterator<Item = T>) {
        self.all.push(option.into());
        let values = values.into_iter();
        self.all
            .extend(values.map(|value| value.as_ref().to_owned()));
    }

    /// Sources are host paths, even after earlier mounts.
    fn bind(&mut self, option: &str, path: &Path) {
        self.add(option, [path, path]);
    }

    fn mount(&mut self, sandbox: &Sandbox, sockets: &BTreeSet<PathBuf>) {
        self.bind("--ro-bind", Path::new("/"));
        self.add("--dev", ["/dev"]);
        match &sandbox.shm {
            Some(shm) => self.add("--bind", [shm.as_path(), Path::new("/dev/shm")]),
            None => self.add("--tmpfs", ["/dev/shm"]),
        }
        self.add("--proc", ["/proc"]);
        self.add("--tmpfs", ["/run"]);
        for kept in KEPT_OF_RUN.map(Path::new) {
            if kept.exists() {
                self.bind("--ro-bind", kept);
            }
        }
        self.cover_temporary_folders(sandbox);
        let writable = outermost(&sandbox.writable);
        for folder in &writable {
            self.bind("--bind", folder);
        }
        for path in sandbox.read_only.iter().filter(|path| path.exists()) {
            self.pin(path, &writable, sandbox);
            self.bind("--ro-bind", path);
        }
        let mut covered: Vec<&Path> = ["/run", "/dev"].map(Path::new).into();
        covered.extend(sandbox.tmp.as_ref().map(|_| Path::new("/tmp")));
        covered.extend(sandbox.var_tmp.as_ref().map(|_| Path::new("/var/tmp")));
        let shown = writable.iter().chain(&sandbox.visible);
        let shown: Vec<_> = shown.chain(&sandbox.readable).collect();
        let depth = |path: &Path| path.components().count();
        // The innermost folder decides; shown paths are mounted after covered ones.
        let is_seen = |path: &Path, hidden: &[PathBuf]| {
            let shows = shown.iter().filter(|it| path.starts_with(it));
            let shows = shows.map(|it| depth(it)).max();
            let mut covers = covered.iter().filter(|it| path.starts_with(it));
            let mut hides = hidden.iter().filter(|it| path.starts_with(it));
            covers.all(|it| shows >= Some(depth(it))) && hides.all(|it| shows > Some(depth(it)))
        };
        for (before, path) in sandbox.hidden.iter().enumerate() {
            if is_seen(path, &sandbox.hidden[..before]) {
                self.pin(path, &writable, sandbox);
                self.hide(path, &sandbox.readable);
            }
        }
        for path in sockets {
            // A path removed before it is hidden would make the sandbox fail.
            if is_seen(path, &sandbox.hidden) {
                self.pin(path, &writable, sandbox);
                self.hide(path, &[]);
            }
        }
        for folder in SOCKET_FOLDERS.map(Path::new) {
            if sandbox.tmp.is_none() {
                self.hide(folder, &[]);
            }
        }
    }

    fn cover_temporary_folders(&mut self, sandbox: &Sandbox) {
        for (place, folder) in private_folders(sandbox) {
            self.add("--bind", [folder, place]);
            let mut visible: Vec<_> = sandbox.visible.iter().chain(&sandbox.readable).collect();
            visible.sort();
            for path in visible {
                if path.starts_with(place) && path.exists() {
                    self.bind("--ro-bind", path);
                }
            }
        }
    }

    /// See [`super::mounts`]. A bind here comes from the host: it would reopen read-only or hidden
    /// paths, and no command can rename those.
    fn pin(&mut self, path: &Path, writable: &[PathBuf], sandbox: &Sandbox) {
        let folder = writable.iter().find(|folder| path.starts_with(folder));
        if let Some(folder) = folder.filter(|_| path.exists()) {
            for path in between(path, folder) {
                let mut sealed = sandbox.read_only.iter().chain(&sandbox.hidden);
                let is_sealed = sealed.any(|sealed| path.starts_with(sealed));
                if !is_sealed && self.pinned.insert(path.to_owned()) {
                    self.bind("--bind", path);
                }
            }
        }
    }

    fn hide(&mut self, path: &Path, readable: &[PathBuf]) {
        let Ok(kind) = fs::symlink_metadata(path).map(|data| data.file_type()) else {
            return;
        };
        if kind.is_dir() {
            let shown: Vec<_> = readable
                .iter()
                .filter(|shown| shown.starts_with(path) && shown.exists())
                .collect();
            let mode = if shown.is_empty() { "0000" } else { "0755" };
            self.add("--perms", [mode]);
            self.add("--tmpfs", [path]);
            for shown in shown {
                self.bind("--ro-bind", shown);
            }
            self.add("--remount-ro", [path]);
        } else if !kind.is_symlink() {
            self.add("--dev-bind", [Path::new("/dev/null"), path]);
        }
    }
}
