//! All commands of this program.
//!
//! There is one registry per program, because it holds process-wide state: which children are
//! supervisors, and whether this process adopts orphans. Each command belongs to a scope. Scopes
//! nest, and ending one ends its commands and those of its inner scopes.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use nix::unistd::Pid;
use tokio::process::Child;
use tokio::sync::watch;

use super::forbidden;
use super::sandbox::{self, Networks, Sandbox, Slot, Support};
use super::wire::{ExitStatus, Order};
use crate::lock::lock;

/// What happens to processes whose command killed their supervisor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orphans {
    /// While commands run, this process adopts and kills them. Its own children must stay in its
    /// session, or they look like orphans.
    Adopt,
    /// They go to init, out of reach. For programs with other children, such as tests.
    Leave,
}

/// The progress of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// How the shell ended; `None` while it runs.
    pub shell: Option<ExitStatus>,
    /// Whether the whole process tree has ended, or can't be ended.
    pub gone: bool,
    /// Processes that couldn't be ended, as `pid name`.
    pub left: Vec<String>,
    /// Forbidden files it created, in sentences.
    pub refused: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Registry {
    /// The binary to start as supervisor.
    pub program: PathBuf,
    orphans: Orphans,
    commands: Mutex<Commands>,
    support: OnceLock<Support>,
    networks: Mutex<Networks>,
}

#[derive(Debug, Default)]
struct Commands {
    last_id: u64,
    by_id: HashMap<u64, Command>,
    /// Empty placeholder folders, where no running command may create anything.
    held: Vec<PathBuf>,
}

#[derive(Debug)]
struct Command {
    supervisor: Pid,
    scope: Arc<Scope>,
    orders: Arc<watch::Sender<Order>>,
    /// Forbidden files it created.
    forbidden: Vec<PathBuf>,
    /// All its processes have ended.
    is_over: bool,
}

/// The commands of one owner.
#[derive(Debug, Default)]
pub(super) struct Scope {
    /// Number of live commands in it and its inner scopes.
    pub alive: watch::Sender<usize>,
    parent: Option<Arc<Self>>,
}

impl Registry {
    pub(super) fn new(program: PathBuf, orphans: Orphans) -> Self {
        Self {
            program,
            orphans,
            commands: Mutex::default(),
            support: OnceLock::new(),
            networks: Mutex::default(),
        }
    }

    /// See [`Processes::sandbox_support`](super::Processes::sandbox_support).
    pub(super) fn sandbox_support(&self) -> &Support {
        self.support.get_or_init(|| sandbox::probe(&self.program))
    }

    /// `asked` without the layers known not to work here.
    pub(super) fn possible(&self, asked: &Sandbox) -> Sandbox {
        asked.on(self.support.get())
    }

    /// The slot for the network that a command in `sandbox` shares with others.
    pub(super) fn network(&self, sandbox: &Sandbox) -> Option<Slot> {
        let mut networks = lock(&self.networks);
        networks.of(sandbox)
    }

    /// Starts and registers a supervisor under one lock, so that an orphan sweep never sees an
    /// unregistered supervisor. Returns its id here and its process id.
    pub(super) fn start(
        &self,
        scope: &Arc<Scope>,
        orders: &Arc<watch::Sender<Order>>,
        sandbox: Option<&Sandbox>,
        spawn: impl FnOnce() -> io::Result<Child>,
    ) -> io::Result<(u64, Pid, Child)> {
        let mut commands = self.lock();
        self.set_subreaper(true);
        commands.hold(sandbox);
        let child = spawn().inspect_err(|_| {
            self.set_subreaper(!commands.by_id.is_empty());
            commands.let_go();
        })?;
        let supervisor = Pid::from_raw(child.id().unwrap_or_default() as i32);
        commands.last_id += 1;
        let id = commands.last_id;
        let command = Command {
            supervisor,
            scope: Arc::clone(scope),
            orders: Arc::clone(orders),
            forbidden: sandbox.into_iter().flat_map(forbidden::of).collect(),
            is_over: false,
        };
        commands.by_id.insert(id, command);
        scope.count(|alive| alive + 1);
        Ok((id, supervisor, child))
    }

    /// A command's supervisor reports that all has ended. Don't wait for its exit: the kernel takes
    /// 10 to 20 ms to release its watches.
    pub(super) fn over(&self, id: u64) {
        self.lock().over(id);
    }

    /// Removes a command. Its supervisor must already be reaped; until then, registration protects
    /// it from the orphan sweep.
    pub(super) fn remove(&self, id: u64) {
        let mut commands = self.lock();
        let lost = commands.by_id.get(&id).filter(|command| !command.is_over);
        // A stopped or killed supervisor hasn't done it.
        for refused in lost.map_or_else(Vec::new, |lost| forbidden::refuse(&lost.forbidden)) {
            tracing::warn!("{refused}");
        }
        commands.over(id);
        commands.by_id.remove(&id);
        self.set_subreaper(!commands.by_id.is_empty());
    }

    /// Raises the order for every command in `scope`.
    pub(super) fn order(&self, scope: &Arc<Scope>, order: Order) {
        for command in self.lock().by_id.values() {
            if command.scope.is_within(scope) {
                raise(&command.orders, order);
            }
        }
    }

    /// True if this process adopts orphans and must kill them.
    pub(super) fn adopts(&self) -> bool {
        self.orphans == Orphans::Adopt
    }

    /// Calls `look` with the live supervisors while no new one can start.
    pub(super) fn with_supervisors<T>(&self, look: impl FnOnce(&[Pid]) -> T) -> T {
        let commands = self.lock();
        let supervisors: Vec<Pid> = commands.by_id.values().map(|one| one.supervisor).collect();
        look(&supervisors)
    }

    /// Makes this process adopt orphans instead of init. Only while commands run. At other times,
    /// orphans can only be our own helpers in the background (a clipboard program), which we
    /// wouldn't reap. Linux only; elsewhere a killed supervisor's processes are out of reach.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(unused_variables, clippy::unused_self)
    )]
    fn set_subreaper(&self, on: bool) {
        #[cfg(target_os = "linux")]
        if self.adopts()
            && let Err(error) = nix::sys::prctl::set_child_subreaper(on)
        {
            tracing::warn!(%error, on, "can't set the child subreaper attribute");
        }
    }

    fn lock(&self) -> MutexGuard<'_, Commands> {
        lock(&self.commands)
    }
}

impl Commands {
    fn hold(&mut self, sandbox: Option<&Sandbox>) {
        for path in sandbox.into_iter().flat_map(Sandbox::to_be_held) {
            if std::fs::create_dir(path).is_ok() {
                self.held.push(path.to_owned());
            }
        }
    }

    fn over(&mut self, id: u64) {
        let running = self.by_id.get_mut(&id).filter(|command| !command.is_over);
        if let Some(command) = running {
            command.is_over = true;
            let scope = Arc::clone(&command.scope);
            self.let_go();
            scope.count(|alive| alive - 1);
        }
    }

    /// Removes the folders once no command runs; earlier, it would unprotect the place.
    fn let_go(&mut self) {
        if self.by_id.values().all(|command| command.is_over) {
            for folder in self.held.drain(..) {
                // A non-empty folder belongs to someone.
                let _ = std::fs::remove_dir(folder);
            }
        }
    }
}

impl Scope {
    pub(super) fn within(parent: &Arc<Self>) -> Self {
        Self {
            parent: Some(Arc::clone(parent)),
            ..Self::default()
        }
    }

    fn ancestors(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |scope| scope.parent.as_deref())
    }

    fn is_within(&self, other: &Arc<Self>) -> bool {
        self.ancestors()
            .any(|scope| std::ptr::eq(scope, Arc::as_ptr(other)))
    }

    fn count(&self, change: impl Fn(usize) -> usize) {
        for scope in self.ancestors() {
            scope.alive.send_modify(|alive| *alive = change(*alive));
        }
    }
}

/// Raises the order; never lowers it.
pub(super) fn raise(orders: &watch::Sender<Order>, order: Order) {
    orders.send_if_modified(|now| {
        let stricter = order > *now;
        *now = order.max(*now);
        stricter
    });
}
