//! The commands under way, seen from tiller: start one, watch it, end one or all.
//!
//! A command is started through a supervisor; what the supervisor does is in `supervisor.rs`,
//! how tiller talks with it in `tend.rs`. Here is only what others hold in their hands.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nix::unistd::Pid;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::process::Command;
use tokio::sync::watch;

use super::tend::{self, Seat};
use super::wire::{self, Order};
use super::{orphans, table};

/// The commands under way. Cheap to clone; all clones speak of the same commands.
#[derive(Clone, Debug)]
pub struct Processes(Arc<Shared>);

/// What all clones share.
#[derive(Debug)]
pub(super) struct Shared {
    program: PathBuf,
    orphans: Orphans,
    trees: Mutex<Trees>,
    count: watch::Sender<usize>,
}

/// What becomes of processes whose supervisor was killed by their command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orphans {
    /// While there are commands this process inherits them and ends them. Children that it starts
    /// itself must stay in its session, or they are taken for orphans.
    Adopt,
    /// They go to init, out of reach. For programs with children of their own kind, such as tests.
    Leave,
}

#[derive(Debug, Default)]
struct Trees {
    last_id: u64,
    by_id: HashMap<u64, Entry>,
}

#[derive(Debug)]
struct Entry {
    supervisor: Pid,
    orders: Arc<watch::Sender<Order>>,
}

/// What to start.
#[derive(Clone, Debug)]
pub struct Launch {
    /// For `bash -c`.
    pub command: String,
    /// Where; must be a folder.
    pub cwd: PathBuf,
    /// The whole environment.
    pub environment: Vec<(OsString, OsString)>,
}

/// How far a command has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fate {
    /// How the shell ended; none while it runs.
    pub shell: Option<ShellEnd>,
    /// Whether nobody is left of the whole tree (or nothing more can be done about it).
    pub gone: bool,
    /// Processes that could not be ended, as `pid name`.
    pub left: Vec<String>,
}

/// How a shell ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShellEnd {
    /// With this code.
    Exited(i32),
    /// By this signal.
    Killed(i32),
    /// It never began.
    NotStarted(String),
    /// Its supervisor was killed, by this signal when known, so nobody saw it end.
    Unseen(Option<i32>),
}

/// A command under way: its output and its fate. Dropping it ends the whole tree, in the
/// background; [`leave`](Self::leave) lets what outlived the shell go on until `stop_all`.
#[derive(Debug)]
pub struct Running {
    output: Option<pipe::Receiver>,
    fate: watch::Receiver<Fate>,
    orders: Arc<watch::Sender<Order>>,
    supervisor: Pid,
}

impl Default for Processes {
    fn default() -> Self {
        Self::new()
    }
}

impl Processes {
    /// None yet. For tiller itself: the running binary plays the supervisor.
    pub fn new() -> Self {
        // Not the path of the binary: that may be replaced by a newer one while we run.
        let own = PathBuf::from("/proc/self/exe");
        let program = if own.exists() {
            own
        } else {
            std::env::current_exe().unwrap_or_else(|_| "tiller".into())
        };
        Self::with_supervisor(program, Orphans::Adopt)
    }

    /// None yet; the binary `tiller` plays the supervisor. For programs that are not tiller.
    pub fn with_supervisor(tiller: impl Into<PathBuf>, orphans: Orphans) -> Self {
        Self(Arc::new(Shared {
            program: tiller.into(),
            orphans,
            trees: Mutex::default(),
            count: watch::Sender::new(0),
        }))
    }

    /// How many process trees started here are still alive.
    pub fn alive(&self) -> usize {
        *self.0.count.borrow()
    }

    /// Tells every tree to die: SIGTERM, 2 s, SIGKILL. Returns at once.
    pub fn stop_all(&self) {
        self.0.order_all(Order::Stop);
    }

    /// Kills every tree now. Returns at once.
    pub fn kill_all(&self) {
        self.0.order_all(Order::Kill);
    }

    /// Returns when no process started here is alive.
    pub async fn empty(&self) {
        let mut count = self.0.count.subscribe();
        // Fails only when the sender is gone, and we hold it.
        let _ = count.wait_for(|count| *count == 0).await;
    }

    /// Starts a command. Needs a tokio runtime.
    pub fn start(&self, launch: Launch) -> io::Result<Running> {
        let (control, theirs) = UnixStream::pair()?;
        control.set_nonblocking(true)?;
        let (output, write) = io::pipe()?;
        let mut command = Command::new(&self.0.program);
        command
            .arg0("tiller")
            .arg("__supervise")
            .current_dir(&launch.cwd)
            .env_clear()
            .envs(launch.environment)
            .stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs)))
            .stdout(write.try_clone()?)
            .stderr(write);
        let orders = Arc::new(watch::Sender::new(Order::Run));
        let fate = watch::Sender::new(Fate::default());
        let watcher = fate.subscribe();

        // Started and entered under one lock; `orphans` says why.
        let mut trees = self.0.trees();
        if trees.by_id.is_empty() && self.0.orphans == Orphans::Adopt {
            orphans::adopt();
        }
        let child = command.spawn()?;
        // `command` still holds the write end, and with it the end of the output.
        drop(command);
        let id = child.id().ok_or(io::ErrorKind::NotFound)?;
        let supervisor = Pid::from_raw(id as i32);
        trees.last_id += 1;
        let id = trees.last_id;
        let entry = Entry {
            supervisor,
            orders: Arc::clone(&orders),
        };
        trees.by_id.insert(id, entry);
        self.0.count.send_replace(trees.by_id.len());
        drop(trees);

        tokio::spawn(tend::tend(Seat {
            child,
            pid: supervisor,
            started: table::entry(supervisor).map_or(0, |entry| entry.started),
            control,
            request: wire::request(&launch.command),
            orders: orders.subscribe(),
            fate,
            shared: Arc::clone(&self.0),
            id,
        }));
        Ok(Running {
            output: Some(pipe::Receiver::from_owned_fd(output.into())?),
            fate: watcher,
            orders,
            supervisor,
        })
    }
}

impl Shared {
    /// Runs `look` with the supervisors now alive, while none can be started.
    pub(super) fn with_supervisors<T>(&self, look: impl FnOnce(&[Pid]) -> T) -> T {
        let trees = self.trees();
        let pids: Vec<Pid> = trees.by_id.values().map(|entry| entry.supervisor).collect();
        look(&pids)
    }

    /// Forgets a tree. Its supervisor must have been collected already: the registry is what
    /// keeps `orphans` from collecting it.
    pub(super) fn remove(&self, id: u64) {
        let mut trees = self.trees();
        trees.by_id.remove(&id);
        if trees.by_id.is_empty() && self.orphans == Orphans::Adopt {
            orphans::release();
        }
        self.count.send_replace(trees.by_id.len());
    }

    fn order_all(&self, order: Order) {
        for entry in self.trees().by_id.values() {
            give(&entry.orders, order);
        }
    }

    fn trees(&self) -> MutexGuard<'_, Trees> {
        self.trees.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Running {
    /// Appends the next output to `buffer`; 0 at its end. Cancel safe.
    pub async fn read(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        match &mut self.output {
            Some(output) => output.read_buf(buffer).await,
            None => Ok(0),
        }
    }

    /// What becomes of the command, to be watched; closed once it is final.
    pub fn fate(&self) -> watch::Receiver<Fate> {
        self.fate.clone()
    }

    /// Tells the tree to die: SIGTERM, 2 s, SIGKILL. Returns at once.
    pub fn stop(&self) {
        give(&self.orders, Order::Stop);
    }

    /// Who lives below the supervisor now, as `pid name`.
    pub fn processes(&self) -> Vec<String> {
        if self.fate.borrow().gone {
            return Vec::new();
        }
        table::tree(table::children(self.supervisor), Duration::from_millis(20))
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    /// Lets what outlived the shell go on until [`Processes::stop_all`].
    pub fn leave(mut self) {
        self.drain();
    }

    /// Reads on to nowhere, so that nobody who is still alive is stuck on a full pipe or dies of
    /// a closed one before its time.
    fn drain(&mut self) {
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
            self.drain();
        }
    }
}

/// Raises the order; one that was given is never taken back.
fn give(orders: &watch::Sender<Order>, order: Order) {
    orders.send_if_modified(|now| {
        let stricter = order > *now;
        *now = order.max(*now);
        stricter
    });
}
