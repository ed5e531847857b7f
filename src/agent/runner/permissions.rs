//! What a call may do: who decides, and which limits apply to it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;

use super::held::{held_outside, held_to_project, remotes, unusual};
use super::ignored::{IgnoredFile, names, removed_by};
use super::live_policy::LivePolicy;
use super::running_command::RunningCommand;
use crate::git::{distrust_programs_in, project_root};
use crate::lock::lock;
use crate::options::PermissionOptions;
use crate::permission::{
    Confinement, Decision, PathUse, PermissionMode, Policy, Request, Verdict, decide, removed,
    suggest_wider,
};
use crate::process::Processes;
use crate::process::sandbox::{Network, Sandbox, Support};
use crate::tool::{Effects, OwnProgram};
use crate::tools::own::Declares;
use crate::workspace::{Access, Places, PrivateFolders, Reach, Repositories, Workspace, Zone};

/// Judges the calls of an agent. Examines the file system at the first call.
#[derive(Clone)]
pub(crate) struct Permissions {
    pub(super) policy: LivePolicy,
    pub(super) places: Places,
    workspace: OnceCell<Arc<Workspace>>,
    repositories: Arc<Mutex<Repositories>>,
    /// Parent of the temporary folders for commands and file tools.
    temporary: Option<PathBuf>,
    pub(super) has_user: bool,
    /// `true` once the user was told that the sandbox doesn't work.
    told: Arc<AtomicBool>,
    /// How many sandboxed MCP servers run that could change files.
    servers: Arc<AtomicUsize>,
}

pub(super) struct Judged {
    pub decision: Decision,
    pub workspace: Arc<Workspace>,
    pub mode: PermissionMode,
    paths: Vec<PathUse>,
    /// What its command removes and git ignores.
    pub ignored: Vec<IgnoredFile>,
    /// Why the call's command can't be sandboxed.
    pub no_sandbox: Option<String>,
    /// How to fix that.
    remedy: Option<&'static str>,
}

/// A sandbox for a command, and the guard that counts it.
type Started = (Arc<Sandbox>, Option<Arc<RunningCommand>>);

impl Permissions {
    /// Notes that a sandboxed MCP server has started, or that it has ended.
    pub(super) fn count_server(&self, has_started: bool) {
        let change = if has_started { 1 } else { usize::MAX };
        self.servers.fetch_add(change, Ordering::Relaxed);
    }

    /// The commands and servers that run and could change files.
    pub(super) fn alive(&self, processes: &Processes) -> usize {
        processes.alive() + self.servers.load(Ordering::Relaxed)
    }

    /// Differs for each session and working folder.
    pub(super) fn identity(&self) -> usize {
        Arc::as_ptr(&self.repositories).addr()
    }

    /// Whether there is a user to ask.
    pub const fn has_user(&self) -> bool {
        self.has_user
    }
}

impl Judged {
    /// Whether a hook may answer the question for the user: nothing but the mode asks, the call stays in
    /// the workspace, and a command in its sandbox without network.
    pub fn may_be_allowed_by_hook(&self, is_command: bool) -> bool {
        let decision = &self.decision;
        let confined = Verdict::Ask(Confinement::Sandboxed { network: false });
        decision.rule.is_none()
            && decision.commands.iter().all(|it| it.rule.is_none())
            && (!is_command || decision.verdict == confined)
            && self.ignored.is_empty()
            && self.paths.iter().all(|used| used.zone == Zone::Inside)
    }
}

impl Permissions {
    /// Creates the permissions of an agent started with `options`. `outputs` are the folders with the
    /// long outputs of its session.
    pub fn new(options: &PermissionOptions, outputs: Vec<PathBuf>, policy: LivePolicy) -> Self {
        let places = &options.places;
        let project = project_root(&places.cwd).to_owned();
        distrust_programs_in(
            (places.writable.iter().chain(&places.caches))
                .chain(&places.temporary)
                .chain([&project]),
        );
        Self {
            policy,
            places: Places {
                readable: outputs,
                ..options.places.clone()
            },
            workspace: OnceCell::new(),
            repositories: Arc::default(),
            temporary: options.temporary.clone(),
            has_user: options.has_user,
            told: Arc::default(),
            servers: Arc::default(),
        }
    }

    pub fn within(&self, cwd: &Path) -> Self {
        self.for_session(cwd, self.places.readable.clone())
    }

    /// Returns the permissions for calls that work in `cwd`, of a session with long outputs in `outputs`.
    pub fn for_session(&self, cwd: &Path, outputs: Vec<PathBuf>) -> Self {
        Self {
            places: Places {
                cwd: cwd.to_owned(),
                readable: outputs,
                ..self.places.clone()
            },
            workspace: OnceCell::new(),
            repositories: Arc::default(),
            ..self.clone()
        }
    }

    pub(super) async fn judge(
        &self,
        tool: &str,
        effects: &Effects,
        cwd: &Path,
        processes: &Processes,
    ) -> Result<Judged, String> {
        let workspace = self.workspace().await?;
        let mut policy = self.policy.get();
        if policy.mode == PermissionMode::Auto && workspace.holds_home() {
            Arc::make_mut(&mut policy).mode = PermissionMode::Ask;
        }
        let removes = |command: &String| !removed(command).is_empty();
        if !policy.looks_at_files(tool) && !effects.command.as_ref().is_some_and(removes) {
            let request = Request {
                tool,
                effects,
                paths: Vec::new(),
                root: &workspace.roots()[0],
                home: self.places.home.as_deref(),
                local_remotes: false,
                remotes: None,
                linked_trees: false,
                ignored: Vec::new(),
            };
            return Ok(Judged {
                decision: decide(&policy, &request),
                mode: policy.mode,
                workspace,
                paths: Vec::new(),
                ignored: Vec::new(),
                no_sandbox: None,
                remedy: None,
            });
        }
        let (tool, effects) = (tool.to_owned(), effects.clone());
        let (cwd, home, processes) = (cwd.to_owned(), self.places.home.clone(), processes.clone());
        let (repositories, has_user) = (Arc::clone(&self.repositories), self.has_user);
        let alive = self.alive(&processes);
        blocking(move || {
            let workspace = if policy.mode == PermissionMode::Full {
                Arc::new(workspace.without_private())
            } else {
                workspace
            };
            let paths = places_of(&workspace, &effects, &cwd)?;
            let confines = effects.command.is_some() && policy.mode != PermissionMode::Full;
            let mut policy = Policy::clone(&policy);
            if confines {
                let sandbox = kind_of_sandbox(&workspace, policy.mode);
                let missing = processes.sandbox_support().missing(&sandbox);
                policy.no_sandbox = (!missing.is_empty()).then(|| missing.join(", "));
            }
            // Only git commands depend on the repository. Other commands get the strictest values.
            let text = effects.command.as_deref().unwrap_or_default();
            let unquoted = text.replace(['\\', '\'', '"', '$', '\n'], "");
            let is_git = unquoted.contains("git");
            let ignored = removed_by(&workspace, text, &cwd);
            let request = Request {
                tool: &tool,
                effects: &effects,
                paths: paths.clone(),
                root: &workspace.roots()[0],
                home: home.as_deref(),
                remotes: is_git
                    .then(|| remotes(&workspace, &effects, &cwd))
                    .flatten(),
                local_remotes: is_git && workspace.has_local_remotes(),
                linked_trees: !is_git || workspace.has_linked_trees(&lock(&repositories)),
                ignored: names(&ignored, &cwd),
            };
            let mut decision = decide(&policy, &request);
            if let (Some(_), false, Some(text)) = (&policy.no_sandbox, has_user, &effects.command) {
                // Without a sandbox only rules with `sandbox = false` apply.
                decision.suggestions = suggest_wider(&tool, text, Confinement::Free);
            }
            let decision = held_to_project(decision, &policy, &workspace, &effects, &cwd);
            let confinement = match decision.verdict {
                Verdict::Allow(confinement) | Verdict::Ask(confinement) => Some(confinement),
                Verdict::Deny => None,
            };
            let decision = if confines
                && policy.no_sandbox.is_none()
                && confinement == Some(Confinement::Free)
            {
                let moved = workspace.before_outside(&mut lock(&repositories));
                let unusual = unusual(alive, moved, &workspace, &effects, &cwd);
                held_outside(decision, &unusual)
            } else {
                decision
            };
            let mode = policy.mode;
            Ok(Judged {
                decision,
                workspace,
                mode,
                paths,
                ignored,
                remedy: (policy.no_sandbox.as_ref())
                    .and_then(|_| processes.sandbox_support().remedy()),
                no_sandbox: policy.no_sandbox,
            })
        })
        .await
    }

    /// The notice that the sandbox doesn't work; returned once.
    pub(super) fn notice(&self, judged: &Judged) -> Option<String> {
        let why = judged.no_sandbox.as_ref()?;
        let first = judged.mode == PermissionMode::Auto && !self.told.swap(true, Ordering::Relaxed);
        let mends = match judged.remedy {
            Some(command) => format!("To fix it, run: {command}"),
            None if Support::is_in_container() => {
                "In a container that holds nothing you would miss, use --permission full".to_owned()
            }
            None => "To see which parts work, run tiller doctor".to_owned(),
        };
        let asks = "The sandbox doesn't work here, so auto asks before commands, like ask mode";
        first.then(|| format!("{asks}: {why}\n{mends}"))
    }

    /// Returns `true` if the model may read these paths without asking.
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

    /// Returns the sandbox for the command of a judged call, and the guard that counts the command.
    /// Call this right before the command starts: files that appear afterwards may come from it.
    ///
    /// # Errors
    /// Fails if the command's temporary folder can't be created.
    pub(super) async fn sandbox(
        &self,
        judged: &Judged,
        confinement: Confinement,
        program: Option<&OwnProgram>,
    ) -> Result<Option<Started>, String> {
        let Confinement::Sandboxed { network } = confinement else {
            return Ok(None);
        };
        let network = if network {
            Network::Host
        } else {
            Network::Loopback
        };
        let only_reads = program.is_some_and(|it| it.declares == Declares::Reads);
        let writes = judged.mode != PermissionMode::Plan && !only_reads;
        let started = self
            .confined(Arc::clone(&judged.workspace), writes, network)
            .await?;
        let folder = program.and_then(|it| it.folder.clone());
        Ok(started.map(|(mut sandbox, running)| {
            Arc::make_mut(&mut sandbox).readable.extend(folder);
            (sandbox, running)
        }))
    }

    /// The sandbox for hooks of the project: that of a command of the model, without network. `None` in full mode.
    pub(super) async fn for_hooks(&self) -> Result<Option<Started>, String> {
        let mode = self.policy.get().mode;
        if mode == PermissionMode::Full {
            return Ok(None);
        }
        let workspace = self.workspace().await?;
        let writes = mode != PermissionMode::Plan;
        self.confined(workspace, writes, Network::Loopback).await
    }

    async fn confined(
        &self,
        workspace: Arc<Workspace>,
        writes: bool,
        network: Network,
    ) -> Result<Option<Started>, String> {
        let repositories = Arc::clone(&self.repositories);
        blocking(move || {
            let mut known = lock(&repositories);
            let sandbox = workspace.sandbox(&mut known, writes, network);
            let count = || RunningCommand::count(Arc::clone(&repositories), &mut known);
            let running = writes.then(count);
            Ok(Some((Arc::new(sandbox), running)))
        })
        .await
    }

    /// Counts a command that reruns. Its sandbox has the places determined for the first run.
    pub(super) async fn runs_again(&self) -> Option<Arc<RunningCommand>> {
        let repositories = Arc::clone(&self.repositories);
        let count = |known: &mut Repositories| RunningCommand::count(repositories, known);
        self.with_repositories(count).await
    }

    /// Disables files that a sandboxed command created and that would later run programs outside the
    /// sandbox. Returns what was disabled. The call has returned; `is_over` means that the command and
    /// everything it started have ended.
    pub(super) async fn after_command(
        &self,
        running: Arc<RunningCommand>,
        is_over: bool,
    ) -> Vec<String> {
        let Ok(workspace) = self.workspace().await else {
            return Vec::new();
        };
        let said = self.with_repositories(move |known| {
            let found = workspace.look_after(known);
            running.returned(known, is_over);
            known.say(found)
        });
        said.await.unwrap_or_default()
    }

    /// Like [`Self::after_command`], right before a command runs without the sandbox.
    pub(super) async fn before_outside(&self) -> Vec<String> {
        let Ok(workspace) = self.workspace().await else {
            return Vec::new();
        };
        let moved = self.with_repositories(move |known| workspace.before_outside(known));
        moved.await.unwrap_or_default()
    }

    /// Reports these texts with the next command's call.
    pub(super) async fn say_later(&self, said: Vec<String>) {
        if !said.is_empty() {
            self.with_repositories(|known| known.say_later(said)).await;
        }
    }

    /// Forgets what is known of the repositories: a call without a sandbox may have created anything.
    pub(super) async fn look_again(&self) {
        self.with_repositories(Repositories::look_again).await;
    }

    /// Returns `true` if finding what a command left takes longer than a command should.
    pub(super) fn looks_take_time(&self) -> bool {
        // A look that is still running takes time.
        let repositories = self.repositories.try_lock();
        repositories.map_or(true, |repositories| repositories.take_time())
    }

    /// Prepares for a command that is about to come but isn't known yet.
    pub(super) async fn look_ahead(&self, processes: &Processes) {
        let Ok(workspace) = self.workspace().await else {
            return;
        };
        let (repositories, processes) = (Arc::clone(&self.repositories), processes.clone());
        let policy = self.policy.get();
        let _ = blocking(move || {
            if policy.mode != PermissionMode::Full {
                processes.sandbox_support();
                workspace.look_ahead(&mut lock(&repositories));
            }
            Ok(())
        })
        .await;
    }

    pub(super) async fn with_repositories<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Repositories) -> T + Send + 'static,
    ) -> Option<T> {
        let repositories = Arc::clone(&self.repositories);
        let done = blocking(move || Ok(work(&mut lock(&repositories))));
        done.await.ok()
    }

    pub(super) async fn workspace(&self) -> Result<Arc<Workspace>, String> {
        let (mut places, temporary) = (self.places.clone(), self.temporary.clone());
        let make = || {
            blocking(move || {
                places.private = temporary.and_then(|folder| {
                    let made = PrivateFolders::make(&folder);
                    // In the background, because there may be a lot to remove.
                    let sweep = move || folder.parent().map(PrivateFolders::remove_stale);
                    let _ = std::thread::Builder::new().spawn(sweep);
                    made.map_err(|error| tracing::warn!(%error, "no temporary folders"))
                        .ok()
                });
                Ok(Arc::new(Workspace::new(places)))
            })
        };
        self.workspace.get_or_try_init(make).await.cloned()
    }
}

impl Judged {
    /// Returns what the call may touch once it is allowed.
    pub fn reach(&self) -> Reach {
        let workspace = || Arc::clone(&self.workspace);
        let reach = match self.mode {
            PermissionMode::Full => return Reach::everything(),
            PermissionMode::Auto => Reach::within(workspace(), Zone::Outside, Some(Zone::Inside)),
            // Only the paths that were asked about.
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

/// Returns every place that the paths in the effects lead to.
fn places_of(workspace: &Workspace, effects: &Effects, cwd: &Path) -> Result<Vec<PathUse>, String> {
    let reads = effects.reads.iter().map(|path| (path, Access::Read));
    let writes = effects.writes.iter().map(|path| (path, Access::Write));
    let mut places = Vec::new();
    for (path, access) in reads.chain(writes) {
        let located = workspace.locate(cwd, path, access);
        let located = located.map_err(|error| format!("{path}: {error}"))?;
        places.extend(located.into_iter().map(|it| PathUse {
            is_listed: workspace.is_listed(&it.real),
            real: it.real,
            access,
            zone: it.zone,
        }));
    }
    let is_write = |place: &&PathUse| place.access == Access::Write;
    let written = places.iter().filter(is_write);
    let written: Vec<PathBuf> = written.map(|place| place.real.clone()).collect();
    for place in &mut places {
        let inside = place.access == Access::Write && place.zone == Zone::Inside;
        if inside && workspace.is_in_git_folder(&place.real, &written) {
            place.zone = Zone::ReadOnly;
        }
    }
    Ok(places)
}

/// A sandbox with the same demands on the machine as the ones for commands in `mode`.
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

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let done = spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(format!("can't check the call's permission: {error}")))
}
