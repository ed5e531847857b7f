//! A workspace and what lies around it, with commands that run in sandboxes over them.

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

/// Folders of a user: a workspace with a repository, a home with secrets, a temporary folder.
pub struct Place {
    _sockets: (UnixListener, UnixDatagram, UnixListener),
    root: TempDir,
    pub processes: Processes,
}

/// What came of a command.
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

    /// As the program has it in `auto`: the workspace and temporary folders of its own are writable.
    pub fn auto(&self) -> Sandbox {
        self.sandbox(true)
    }

    /// As the program has it in `plan`: only temporary folders are writable.
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

/// A sandbox without these layers, started all the same.
pub fn without(sandbox: Sandbox, layers: &[Layer]) -> Sandbox {
    Sandbox {
        without: layers.iter().copied().collect(),
        best_effort: true,
        ..sandbox
    }
}

/// Beside the program under test: the sandboxes have a `/tmp` of their own. Another folder for a
/// user who may not write there.
fn places() -> PathBuf {
    std::env::var_os("TILLER_TEST_PLACES").map_or_else(outside_tmp, PathBuf::from)
}

/// Whether all layers work here. Where they do not, the test fails unless `TILLER_TEST_NO_SANDBOX` says
/// that it is to be skipped.
pub fn machine_has_all_layers() -> bool {
    let place = Place::new();
    let support = place.processes.sandbox_support();
    let mut reasons = support.reasons();
    if support.landlock.as_ref().is_ok_and(|version| *version < 6) {
        reasons.push("Landlock keeps no signals in before version 6".to_owned());
    }
    may_run(&reasons)
}

/// A folder that is not below /tmp, in whose place commands see one of their own.
fn outside_tmp() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    if folder.starts_with("/tmp") {
        return PathBuf::from("/var/tmp");
    }
    folder
}
