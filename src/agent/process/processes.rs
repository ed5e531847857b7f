//! The interface for running commands: start one, follow it, end one or a whole scope.
//!
//! Each command starts through a supervisor. `supervisor.rs` is that program; `monitor.rs` is the
//! task that talks to it.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use nix::unistd::Pid;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::process::Command;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::monitor::Monitor;
use super::registry::{Orphans, Registry, Scope, Status, raise};
use super::sandbox::{self, Sandbox, Support};
use super::table;
use super::wire::{self, Order};

/// The commands of one scope. Cheap to clone; clones share the scope.
#[derive(Clone, Debug)]
pub struct Processes {
    registry: Arc<Registry>,
    scope: Arc<Scope>,
}

/// The command to start.
#[derive(Clone, Debug)]
pub struct Spawn {
    /// For `bash -c`; at most 120 KB.
    pub command: String,
    /// The working folder; must exist.
    pub cwd: PathBuf,
    /// The complete environment.
    pub environment: Vec<(OsString, OsString)>,
    /// What it may access; `None` means everything that tiller may. If this machine can't enforce
    /// it, the command doesn't start.
    pub sandbox: Option<Arc<Sandbox>>,
}

/// A running command. Dropping it kills the whole process tree in the background;
/// [`detach`](Self::detach) lets background processes run until the scope ends.
#[derive(Debug)]
pub struct Running {
    output: Option<pipe::Receiver>,
    status: watch::Receiver<Status>,
    orders: Arc<watch::Sender<Order>>,
    supervisor: Pid,
    /// The first process of its namespace sits between supervisor and command.
    has_init: bool,
}

impl Default for Processes {
    fn default() -> Self {
        Self::new()
    }
}

impl Processes {
    /// The program's outermost scope. Call once; create all others with [`scope`](Self::scope). The
    /// running binary serves as the supervisor.
    pub fn new() -> Self {
        // Not the binary's path, which may be replaced by a newer version while we run.
        let own = PathBuf::from("/proc/self/exe");
        let program = if own.exists() {
            own
        } else {
            std::env::current_exe().unwrap_or_else(|_| "tiller".into())
        };
        Self::with_supervisor(program, Orphans::Adopt)
    }

    /// The same for programs other than tiller; the binary `tiller` serves as the supervisor.
    pub fn with_supervisor(tiller: impl Into<PathBuf>, orphans: Orphans) -> Self {
        Self {
            registry: Arc::new(Registry::new(tiller.into(), orphans)),
            scope: Arc::default(),
        }
    }

    /// A new scope within this one. Ending it ends its own commands; ending this one ends both.
    pub fn scope(&self) -> Self {
        Self {
            registry: Arc::clone(&self.registry),
            scope: Arc::new(Scope::within(&self.scope)),
        }
    }

    /// Number of live process trees in the scope.
    pub fn alive(&self) -> usize {
        *self.scope.alive.borrow()
    }

    /// Ends every process tree of the scope: SIGTERM, 2 s, SIGKILL. Returns at once.
    pub fn stop_all(&self) {
        self.registry.order(&self.scope, Order::Stop);
    }

    /// Kills every process tree of the scope with SIGKILL. Returns at once.
    pub fn kill_all(&self) {
        self.registry.order(&self.scope, Order::Kill);
    }

    /// Waits until no process tree of the scope is alive.
    pub async fn empty(&self) {
        let mut alive = self.scope.alive.subscribe();
        // Fails only without the sender, which we hold.
        let _ = alive.wait_for(|alive| *alive == 0).await;
    }

    /// What sandboxes can enforce on this machine. Tested once per program in a separate process,
    /// which blocks for some milliseconds.
    pub fn sandbox_support(&self) -> &Support {
        self.registry.sandbox_support()
    }

    /// The command's supervisor: this program, started by `bwrap` if only that can sandbox.
    fn supervisor(&self, sandbox: Option<&Sandbox>, cwd: &Path) -> io::Result<Command> {
        let program = &self.registry.program;
        let by_bwrap = sandbox.and_then(|sandbox| Some((sandbox, sandbox.bwrap.as_ref()?)));
        let Some((sandbox, bwrap)) = by_bwrap else {
            let mut command = Command::new(program);
            command.arg0("tiller").arg("__supervise");
            return Ok(command);
        };
        let mut command = Command::new(bwrap);
        command
            .args(sandbox::bubblewrap_arguments(sandbox, false, program, cwd)?)
            .args(["__supervise", sandbox::WITHIN]);
        Ok(command)
    }

    /// Starts a command unless it was cancelled. Needs a tokio runtime.
    ///
    /// A command cancelled before its scope ends either doesn't start or ends with the scope.
    pub fn start(&self, spawn: Spawn, cancel: &CancellationToken) -> io::Result<Running> {
        let sandbox = spawn.sandbox.map(|asked| self.registry.possible(&asked));
        let request = wire::request(&spawn.command, sandbox.as_ref())?;
        let (control, theirs) = UnixStream::pair()?;
        control.set_nonblocking(true)?;
        let (output, write) = io::pipe()?;
        let mut command = self.supervisor(sandbox.as_ref(), &spawn.cwd)?;
        command
            .current_dir(&spawn.cwd)
            .env_clear()
            .envs(spawn.environment)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(write.try_clone()?)
            .stderr(write);
        let orders = Arc::new(watch::Sender::new(Order::Run));
        let start = || {
            if cancel.is_cancelled() {
                return Err(io::Error::other("cancelled"));
            }
            command.spawn()
        };
        let (id, supervisor, child) =
            self.registry
                .start(&self.scope, &orders, sandbox.as_ref(), start)?;
        // `command` still holds the write end of the pipe.
        drop(command);

        let has_init = sandbox.as_ref().is_some_and(Sandbox::has_init);
        let sender = watch::Sender::new(Status::default());
        let status = sender.subscribe();
        let monitor = Monitor {
            child,
            pid: supervisor,
            orders: orders.subscribe(),
            status: sender,
            registry: Arc::clone(&self.registry),
            id,
            network: sandbox.and_then(|sandbox| self.registry.network(&sandbox)),
        };
        tokio::spawn(monitor.run(control, request));
        Ok(Running {
            output: Some(pipe::Receiver::from_owned_fd(output.into())?),
            status,
            orders,
            supervisor,
            has_init,
        })
    }
}

impl Running {
    /// Appends the next output to `buffer`; returns 0 at its end. Cancel-safe.
    pub async fn read(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        match &mut self.output {
            Some(output) => output.read_buf(buffer).await,
            None => Ok(0),
        }
    }

    /// Appends output that has already arrived to `buffer`, at most a pipe's capacity.
    pub fn read_ready(&mut self, buffer: &mut Vec<u8>) {
        if let Some(output) = &self.output {
            buffer.reserve(64 * 1024);
            // An error means that there is none.
            let _ = output.try_read_buf(buffer);
        }
    }

    /// The command's status to watch; closes once it is final.
    pub fn status(&self) -> watch::Receiver<Status> {
        self.status.clone()
    }

    /// Ends the process tree: SIGTERM, 2 s, SIGKILL. Returns at once.
    pub fn stop(&self) {
        raise(&self.orders, Order::Stop);
    }

    /// The current processes below the supervisor, as `pid name`.
    pub fn processes(&self) -> Vec<String> {
        if self.status.borrow().gone {
            return Vec::new();
        }
        let mut roots = table::children(self.supervisor);
        if self.has_init {
            roots = roots.into_iter().flat_map(table::children).collect();
        }
        table::tree(roots, Duration::from_millis(20))
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    /// Lets background processes run until the scope ends.
    pub fn detach(mut self) {
        self.discard_output();
    }

    /// Keeps reading and drops the output: a full pipe would block, a closed one would kill.
    fn discard_output(&mut self) {
        let Some(mut output) = self.output.take() else {
            return;
        };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let mut buffer = vec![0; 16 * 1024];
                while matches!(output.read(&mut buffer).await, Ok(1..)) {}
            });
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.output.is_some() {
            self.stop();
            self.discard_output();
        }
    }
}
