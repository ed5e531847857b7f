//! What a call may do: who decides it, and what it is held to then.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tempfile::TempDir;
use tokio::sync::{OnceCell, watch};
use tokio::task::spawn_blocking;

use crate::agent::options::PermissionOptions;
use crate::agent::permission::{
    Confinement, Decision, PathUse, PermissionMode, Policy, Request, Verdict, decide, folders,
};
use crate::agent::process::Processes;
use crate::agent::process::sandbox::{Network, Sandbox};
use crate::agent::tool::Effects;
use crate::agent::workspace::{
    Access, CommandPlaces, Places, Reach, Repositories, Workspace, Zone,
};

/// What calls of an agent are judged by. Looks at the file system when the first call comes.
#[derive(Clone)]
pub(in crate::agent) struct Permissions {
    policy: watch::Receiver<Arc<Policy>>,
    places: Places,
    caches: Vec<PathBuf>,
    workspace: OnceCell<Arc<Workspace>>,
    repositories: Arc<Mutex<Repositories>>,
    /// The private temporary folder of commands in plan mode; removed at the end.
    scratch: OnceCell<Arc<TempDir>>,
    /// Whether the user was told that no sandbox works.
    told: Arc<AtomicBool>,
}

/// A call that was judged.
pub(super) struct Judged {
    /// Whether it may run.
    pub decision: Decision,
    workspace: Arc<Workspace>,
    /// The mode it was judged in.
    pub mode: PermissionMode,
    paths: Vec<PathUse>,
    /// Why its command cannot be confined.
    no_sandbox: Option<String>,
}

impl Permissions {
    /// Those of an agent that was started with `options`.
    pub fn new(options: &PermissionOptions, policy: watch::Receiver<Arc<Policy>>) -> Self {
        Self {
            policy,
            places: options.places.clone(),
            caches: options.caches.clone(),
            workspace: OnceCell::new(),
            repositories: Arc::default(),
            scratch: OnceCell::new(),
            told: Arc::default(),
        }
    }

    /// The same for calls that work in `cwd`.
    pub fn within(&self, cwd: &Path) -> Self {
        Self {
            policy: self.policy.clone(),
            places: Places {
                cwd: cwd.to_owned(),
                ..self.places.clone()
            },
            caches: self.caches.clone(),
            workspace: OnceCell::new(),
            repositories: Arc::default(),
            scratch: self.scratch.clone(),
            told: Arc::clone(&self.told),
        }
    }

    /// The folders beside its own that were added to the workspace.
    pub(super) fn added_folders(&self) -> Vec<PathBuf> {
        self.places.writable.clone()
    }

    /// Judges a call of `tool`.
    ///
    /// # Errors
    /// Why it could not be judged, and so cannot run.
    pub(super) async fn judge(
        &self,
        tool: &str,
        effects: &Effects,
        cwd: &Path,
        processes: &Processes,
    ) -> Result<Judged, String> {
        let workspace = self.workspace().await?;
        let policy = Arc::clone(&self.policy.borrow());
        if !policy.looks_at_files(tool) {
            let request = Request {
                tool,
                effects,
                paths: Vec::new(),
                root: &workspace.roots()[0],
                home: self.places.home.as_deref(),
                local_remotes: false,
                linked_trees: false,
            };
            return Ok(Judged {
                decision: decide(&policy, &request),
                mode: policy.mode,
                workspace,
                paths: Vec::new(),
                no_sandbox: None,
            });
        }
        let (tool, effects) = (tool.to_owned(), effects.clone());
        let (cwd, home, processes) = (cwd.to_owned(), self.places.home.clone(), processes.clone());
        let repositories = Arc::clone(&self.repositories);
        blocking(move || {
            let paths = places_of(&workspace, &effects, &cwd)?;
            let confines = effects.command.is_some() && policy.mode != PermissionMode::Full;
            let mut policy = Policy::clone(&policy);
            if confines {
                let sandbox = kind_of_sandbox(&workspace, policy.mode);
                let missing = processes.sandbox_support().missing(&sandbox);
                policy.no_sandbox = (!missing.is_empty()).then(|| missing.join(", "));
            }
            let request = Request {
                tool: &tool,
                effects: &effects,
                paths: paths.clone(),
                root: &workspace.roots()[0],
                home: home.as_deref(),
                local_remotes: effects.command.is_some() && workspace.has_local_remotes(),
                linked_trees: effects.command.is_some() && {
                    let known = repositories.lock();
                    let known = known.unwrap_or_else(PoisonError::into_inner);
                    workspace.has_linked_trees(&known)
                },
            };
            let decision = decide(&policy, &request);
            let decision = held_to_project(decision, &policy, &workspace, &effects, &cwd);
            let mode = policy.mode;
            Ok(Judged {
                decision,
                workspace,
                mode,
                paths,
                no_sandbox: policy.no_sandbox,
            })
        })
        .await
    }

    /// What the user is told of a sandbox that does not work, once.
    pub(super) fn notice(&self, judged: &Judged) -> Option<String> {
        let why = judged.no_sandbox.as_ref()?;
        let first = judged.mode == PermissionMode::Auto && !self.told.swap(true, Ordering::Relaxed);
        first.then(|| {
            format!(
                "No sandbox works on this machine, so auto asks before commands, as ask does: {why}\n\
                 tiller doctor shows which parts work"
            )
        })
    }

    /// Whether the model may read these paths without a question.
    ///
    /// # Errors
    /// It could not be judged.
    pub(super) async fn reads_freely(
        &self,
        paths: &[String],
        cwd: &Path,
        processes: &Processes,
    ) -> Result<bool, String> {
        let effects = Effects {
            reads: paths.to_vec(),
            ..Effects::default()
        };
        let judged = self.judge("read", &effects, cwd, processes).await?;
        Ok(matches!(judged.decision.verdict, Verdict::Allow(_)))
    }

    /// What the commands of a call are held to that was judged so.
    ///
    /// # Errors
    /// There is no temporary folder for them.
    pub(super) async fn sandbox(
        &self,
        judged: &Judged,
        confinement: Confinement,
    ) -> Result<Option<Arc<Sandbox>>, String> {
        let Confinement::Sandboxed { network } = confinement else {
            return Ok(None);
        };
        let scratch = match judged.mode {
            PermissionMode::Plan => Some(self.scratch().await?),
            _ => None,
        };
        let (workspace, caches) = (Arc::clone(&judged.workspace), self.caches.clone());
        let (mode, repositories) = (judged.mode, Arc::clone(&self.repositories));
        blocking(move || {
            let scratch = scratch.map(|folder| folder.path().to_owned());
            let mut repositories = repositories.lock().unwrap_or_else(PoisonError::into_inner);
            let places = workspace.for_commands(&mut repositories);
            if mode == PermissionMode::Plan {
                repositories.leaves_nothing();
            }
            let hides = workspace.roots()[0].starts_with("/tmp");
            Ok(Some(Arc::new(sandbox(
                places, hides, &caches, mode, network, scratch,
            ))))
        })
        .await
    }

    /// A command runs a second time with the places that were asked for the first.
    pub(super) fn runs_again(&self) {
        self.repositories().another_command();
    }

    /// Takes out of force what a command in the sandbox has made that would run programs outside of it
    /// later; says what. `over`: it has ended, with all that it started.
    pub(super) async fn after_command(&self, over: bool) -> Vec<String> {
        let Ok(workspace) = self.workspace().await else {
            return Vec::new();
        };
        let repositories = Arc::clone(&self.repositories);
        let said = blocking(move || {
            let mut repositories = repositories.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(workspace.after_command(&mut repositories, over))
        });
        said.await.unwrap_or_default()
    }

    /// Has the next call of a command say these.
    pub(super) fn say_later(&self, said: Vec<String>) {
        if !said.is_empty() {
            self.repositories().say_later(said);
        }
    }

    /// A call that was not confined may have made anything.
    pub(super) async fn look_again(&self) {
        let repositories = Arc::clone(&self.repositories);
        let _ = blocking(move || {
            let repositories = repositories.lock();
            repositories
                .unwrap_or_else(PoisonError::into_inner)
                .look_again();
            Ok(())
        })
        .await;
    }

    /// Whether what a command has made takes longer to find than a command shall.
    pub(super) fn looks_take_time(&self) -> bool {
        // One that goes on now does.
        let repositories = self.repositories.try_lock();
        repositories.map_or(true, |repositories| repositories.take_time())
    }

    /// Does what can be done for a command before it is known: it is about to come.
    pub(super) async fn look_ahead(&self, processes: &Processes) {
        let Ok(workspace) = self.workspace().await else {
            return;
        };
        let (repositories, processes) = (Arc::clone(&self.repositories), processes.clone());
        let policy = Arc::clone(&self.policy.borrow());
        let _ = blocking(move || {
            if policy.mode != PermissionMode::Full {
                processes.sandbox_support();
                let repositories = repositories.lock();
                workspace.look_ahead(&mut repositories.unwrap_or_else(PoisonError::into_inner));
            }
            Ok(())
        })
        .await;
    }

    fn repositories(&self) -> MutexGuard<'_, Repositories> {
        self.repositories
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    async fn workspace(&self) -> Result<Arc<Workspace>, String> {
        let places = self.places.clone();
        let made = self
            .workspace
            .get_or_try_init(|| blocking(move || Ok(Arc::new(Workspace::new(places)))));
        made.await.cloned()
    }

    async fn scratch(&self) -> Result<Arc<TempDir>, String> {
        let made = self.scratch.get_or_try_init(|| {
            blocking(|| {
                let made = tempfile::Builder::new().prefix("tiller-plan-").tempdir();
                made.map(Arc::new)
                    .map_err(|error| format!("no temporary folder: {error}"))
            })
        });
        made.await.cloned()
    }
}

impl Judged {
    /// What the call may touch, once it is allowed.
    pub fn reach(&self) -> Reach {
        let workspace = || Arc::clone(&self.workspace);
        let reach = match self.mode {
            PermissionMode::Full => return Reach::everything(),
            PermissionMode::Auto => Reach::within(workspace(), Zone::Outside, Some(Zone::Inside)),
            // Only what was asked.
            PermissionMode::Ask | PermissionMode::Plan => {
                Reach::within(workspace(), Zone::Outside, None)
            }
        };
        let paths = self.paths.iter();
        paths.fold(reach, |reach, path| {
            reach.and(path.real.clone(), path.access)
        })
    }
}

/// Every place that the paths among the effects lead to.
fn places_of(workspace: &Workspace, effects: &Effects, cwd: &Path) -> Result<Vec<PathUse>, String> {
    let reads = effects.reads.iter().map(|path| (path, Access::Read));
    let writes = effects.writes.iter().map(|path| (path, Access::Write));
    let mut places = Vec::new();
    for (path, access) in reads.chain(writes) {
        let located = workspace.locate(cwd, path, access);
        let located = located.map_err(|error| format!("{path}: {error}"))?;
        places.extend(located.into_iter().map(|it| PathUse {
            real: it.real,
            access,
            zone: it.zone,
        }));
    }
    Ok(places)
}

/// What a rule lets out of the sandbox is asked where it works in a folder outside of the project: git
/// and others take settings from there that name programs, and whose they are is not known.
fn held_to_project(
    decision: Decision,
    policy: &Policy,
    workspace: &Workspace,
    effects: &Effects,
    cwd: &Path,
) -> Decision {
    let (Verdict::Allow(confinement), Some(command)) = (decision.verdict, &effects.command) else {
        return decision;
    };
    let confined = confinement == Confinement::Sandboxed { network: false };
    if confined || policy.mode == PermissionMode::Full || stays(workspace, command, cwd) {
        return decision;
    }
    Decision {
        verdict: Verdict::Ask(confinement),
        reason: String::from("a rule allows it, but not in a folder outside of the project"),
        suggestions: Vec::new(),
        ..decision
    }
}

/// Whether all the folders that a command works in are in the project, in whatever order it goes there.
fn stays(workspace: &Workspace, command: &str, cwd: &Path) -> bool {
    const MOST: usize = 3;
    let Some(folders) = folders(command).filter(|it| it.len() <= MOST) else {
        return false;
    };
    let mut places = vec![cwd.to_owned()];
    for _ in 0..folders.len() {
        let mut next = Vec::new();
        for place in &places {
            for folder in &folders {
                match workspace.locate(place, folder, Access::Read).as_deref() {
                    Ok([one]) if workspace.is_in_project(&one.real) => next.push(one.real.clone()),
                    _ => return false,
                }
            }
        }
        places = next;
    }
    true
}

/// A sandbox that needs of a machine what those of commands in `mode` need.
fn kind_of_sandbox(workspace: &Workspace, mode: PermissionMode) -> Sandbox {
    let roots = workspace.roots().to_vec();
    Sandbox {
        read_only: roots.iter().map(|root| root.join(".git")).collect(),
        writable: if mode == PermissionMode::Plan {
            Vec::new()
        } else {
            roots
        },
        hidden: vec![PathBuf::from("/root")],
        ..Sandbox::default()
    }
}

/// What commands are held to in `mode`. `scratch` is their temporary folder in plan mode; `hides`: the
/// workspace is in /tmp.
fn sandbox(
    mut places: CommandPlaces,
    hides: bool,
    caches: &[PathBuf],
    mode: PermissionMode,
    network: bool,
    scratch: Option<PathBuf>,
) -> Sandbox {
    let caches = caches.iter().filter_map(|cache| cache.canonicalize().ok());
    places.writable.extend(caches);
    let mut tmp = None;
    if mode == PermissionMode::Plan {
        // A folder of one's own in the place of /tmp would hide a project that is in there.
        (places.writable, tmp) = match scratch {
            Some(scratch) if hides => (vec![scratch], None),
            scratch => (Vec::new(), scratch),
        };
    }
    Sandbox {
        writable: places.writable,
        read_only: places.read_only,
        hidden: places.hidden,
        forbidden: places.forbidden,
        tmp,
        network: if network {
            Network::Host
        } else {
            Network::Loopback
        },
        ..Sandbox::default()
    }
}

/// Runs `work` where it may block.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let done = spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(format!("the call could not be judged: {error}")))
}
