//! A workspace and its surroundings, with commands that run in a sandbox over them.

use std::fs;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::PathBuf;
use std::sync::Arc;

use tempfile::TempDir;
use tiller::agent::process::sandbox::{Layer, Network, Sandbox};
use tiller::agent::process::{ExitStatus, Orphans, Processes, Spawn, run_captured};
use tiller::agent::workspace::{Places, PrivateFolders, Repositories, Workspace};

use crate::support::marked::DEADLINE;
use crate::support::sandbox::may_run;

/// A user's folders: a workspace with a repository, a home with secrets, a temporary folder.
pub struct Place {
    _sockets: (UnixListener, UnixDatagram, UnixListener),
    root: TempDir,
    pub processes: Processes,
}

/// The outcome of a command.
#[derive(Debug)]
pub struct Ran {
    pub output: String,
    pub exit: Option<ExitStatus>,
}

impl Place {
    pub fn new() -> Self {
        let root = tempfile::Builder::new()
            .prefix("place")
            .tempdir_in(places())
            .unwrap();
        let tiller = env!("CARGO_BIN_EXE_tiller");
        fs::create_dir_all(root.path().join("outside/empty")).unwrap();
        fs::create_dir_all(root.path().join("ws")).unwrap();
        let place = Self {
            _sockets: (
                UnixListener::bind(root.path().join("outside/docker.sock")).unwrap(),
                UnixDatagram::bind(root.path().join("outside/log.sock")).unwrap(),
                UnixListener::bind(root.path().join("ws/theirs.sock")).unwrap(),
            ),
            processes: Processes::with_supervisor(tiller, Orphans::Leave),
            root,
        };
        for folder in [
            "ws/.git/hooks",
            "ws/.tiller",
            "ws/sub",
            "home/.ssh",
            "outside",
        ] {
            fs::create_dir_all(place.path(folder)).unwrap();
        }
        for (file, text) in [
            ("ws/.git/config", "[core]\n"),
            ("ws/.tiller/config.toml", ""),
            ("ws/file", "workspace\n"),
            ("home/.ssh/id", "hush\n"),
            ("home/.netrc", "hush\n"),
            ("home/.bashrc", "# start\n"),
            ("outside/file", "outside\n"),
        ] {
            fs::write(place.path(file), text).unwrap();
        }
        place
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(path)
    }

    /// The sandbox that tiller uses in `auto`: the workspace and private temporary folders are
    /// writable.
    pub fn auto(&self) -> Sandbox {
        self.sandbox(true)
    }

    /// The sandbox that tiller uses in `plan`: only temporary folders are writable.
    pub fn plan(&self) -> Sandbox {
        self.sandbox(false)
    }

    pub fn workspace(&self) -> Workspace {
        let session = self.path("session");
        fs::create_dir_all(&session).unwrap();
        Workspace::new(Places {
            cwd: self.path("ws"),
            home: Some(self.path("home")),
            private: Some(PrivateFolders::make(&session).unwrap()),
            ..Places::default()
        })
    }

    fn sandbox(&self, writes: bool) -> Sandbox {
        let mut repositories = Repositories::default();
        self.workspace()
            .sandbox(&mut repositories, writes, Network::Loopback)
    }

    /// Runs `command` in the workspace.
    pub async fn run(&self, sandbox: Sandbox, command: &str) -> Ran {
        let spawn = Spawn {
            command: command.to_owned(),
            cwd: self.path("ws"),
            environment: std::env::vars_os().collect(),
            sandbox: Some(Arc::new(sandbox)),
        };
        let captured = run_captured(&self.processes, spawn, DEADLINE, 1 << 20)
            .await
            .unwrap();
        Ran {
            output: String::from_utf8_lossy(&captured.output).into_owned(),
            exit: captured.exit,
        }
    }

    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_default()
    }
}

/// A sandbox without these layers that starts anyway.
pub fn without(sandbox: Sandbox, layers: &[Layer]) -> Sandbox {
    Sandbox {
        without: layers.iter().copied().collect(),
        best_effort: true,
        ..sandbox
    }
}

/// Next to the program under test, because a sandbox has its own `/tmp`. A user who can't write
/// there gets another folder.
fn places() -> PathBuf {
    std::env::var_os("TILLER_TEST_PLACES").map_or_else(outside_tmp, PathBuf::from)
}

/// True if all layers work here. If not, the test fails unless `TILLER_TEST_NO_SANDBOX` says to
/// skip it.
pub fn machine_has_all_layers() -> bool {
    let place = Place::new();
    let support = place.processes.sandbox_support();
    let mut reasons = support.reasons();
    if support.landlock.as_ref().is_ok_and(|version| *version < 6) {
        reasons.push("Landlock keeps no signals in before version 6".to_owned());
    }
    may_run(&reasons)
}

/// A folder outside /tmp, because commands see their own /tmp.
fn outside_tmp() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    if folder.starts_with("/tmp") {
        return PathBuf::from("/var/tmp");
    }
    folder
}
