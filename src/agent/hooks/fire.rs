//! Runs the hooks of a point.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use serde_json::Value;
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use super::answer::{Outcome, late_texts};
use super::codex::{self, Dialect};
use super::command::{self, Ran};
use super::history::{History, HookRuns};
use super::hook::{Hook, HookAction};
use super::input::HookInput;
use super::message::{HookSession, message};
use super::point::HookPoint;
use super::post;
use super::source::{HookEnvironment, HookSource};
use super::variables;
use crate::lock::lock;
use crate::new_id::new_id;
use crate::process::{Processes, Spawn};
use tiller_llm::http::Http;

/// How long background hooks may still take when the session ends.
const SETTLE: Duration = Duration::from_millis(1500);

/// The hooks of an agent. Cheap to clone. Without any, nothing is looked up, started or awaited.
#[derive(Clone, Default)]
pub struct Hooks(Option<Arc<Shared>>);

struct Shared {
    source: Mutex<Box<dyn HookSource>>,
    hooks: Mutex<Arc<[Hook]>>,
    processes: Processes,
    http: Http,
    environment: HookEnvironment,
    project: PathBuf,
    /// Why the run shall end after this turn.
    stop: Mutex<Option<String>>,
    /// Whether hooks look at prompts.
    checks: AtomicBool,
    /// Whether it has ended so.
    has_stopped: AtomicBool,
    /// The sessions whose start was announced.
    begun: Mutex<HashSet<String>>,
    /// Background hooks.
    unawaited: TaskTracker,
    /// What hooks in the background say to the model, with the next prompt of the session they ran for.
    late: Mutex<HashMap<String, Vec<String>>>,
    history: History,
    /// Variables that hooks set for later commands of the session.
    variables: Mutex<Vec<(String, String)>>,
    /// The model of the last run.
    model: Mutex<String>,
    /// Identifies the run that the last prompt started.
    prompt: Mutex<Option<String>>,
}

impl Hooks {
    /// Returns the hooks for an agent in `project`. They are read when the first run begins. Commands run in
    /// a scope of `processes`.
    pub fn new(
        source: Box<dyn HookSource>,
        processes: &Processes,
        environment: HookEnvironment,
        project: PathBuf,
    ) -> Self {
        Self(Some(Arc::new(Shared {
            source: Mutex::new(source),
            hooks: Mutex::default(),
            processes: processes.scope(),
            http: Http::default(),
            environment,
            project,
            stop: Mutex::default(),
            has_stopped: AtomicBool::new(false),
            checks: AtomicBool::new(false),
            begun: Mutex::default(),
            unawaited: TaskTracker::new(),
            late: Mutex::default(),
            history: History::default(),
            variables: Mutex::default(),
            model: Mutex::default(),
            prompt: Mutex::default(),
        })))
    }

    /// Reads the hooks again if their files have changed. Returns what the user should know.
    pub(crate) async fn follow(&self) -> Vec<String> {
        let Some(shared) = self.0.clone() else {
            return Vec::new();
        };
        let read = spawn_blocking(move || {
            let found = lock(&shared.source).changed()?;
            *lock(&shared.hooks) = found.hooks.into();
            Some(found.notices)
        });
        read.await.ok().flatten().unwrap_or_default()
    }

    /// The variables that hooks have set for commands.
    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        let shared = self.0.as_ref();
        shared.map_or_else(Vec::new, |shared| lock(&shared.variables).clone())
    }

    /// How `hook` ran so far, if it did.
    pub fn runs(&self, hook: &Hook) -> Option<HookRuns> {
        self.0.as_ref().and_then(|shared| shared.history.of(hook))
    }

    /// Notes the model of the run that begins.
    pub(crate) fn note_model(&self, model: &str) {
        if let Some(shared) = &self.0 {
            model.clone_into(&mut lock(&shared.model));
        }
    }

    /// Assigns a new `prompt_id` to the run that begins.
    pub(crate) fn begin_run(&self) {
        if let Some(shared) = &self.0 {
            *lock(&shared.prompt) = Some(new_id().to_string());
            *lock(&shared.stop) = None;
            shared.has_stopped.store(false, Ordering::Relaxed);
        }
    }

    /// Whether a hook waits for `point`.
    pub fn has(&self, point: HookPoint) -> bool {
        let has = |shared: &Arc<Shared>| lock(&shared.hooks).iter().any(|it| it.point == point);
        self.0.as_ref().is_some_and(has)
    }

    /// Returns whether the start of session `id` hasn't been announced yet, and notes that it is. The
    /// second answer is `true` if another session began before it.
    pub(crate) fn begins(&self, id: &str) -> (bool, bool) {
        let Some(shared) = &self.0 else {
            return (false, false);
        };
        let mut begun = lock(&shared.begun);
        let is_new = begun.insert(id.to_owned());
        if is_new {
            lock(&shared.variables).clear();
        }
        (is_new, begun.len() > 1)
    }

    /// Returns whether the start of session `id` was announced, and its end not yet. Notes its end.
    pub(crate) fn ends(&self, id: &str) -> bool {
        let shared = self.0.as_ref();
        shared.is_some_and(|shared| lock(&shared.begun).remove(id))
    }

    /// Ends the run after this turn.
    pub(crate) fn stop_after_turn(&self, why: Option<String>) {
        if let (Some(shared), Some(why)) = (&self.0, why) {
            *lock(&shared.stop) = Some(why);
        }
    }

    /// Whether a hook of the project waits for `point`.
    pub(crate) fn has_of_project(&self, point: HookPoint) -> bool {
        let is_one = |hook: &Hook| hook.point == point && hook.of_project;
        let has = |shared: &Arc<Shared>| lock(&shared.hooks).iter().any(is_one);
        self.0.as_ref().is_some_and(has)
    }

    /// Notes whether hooks look at prompts. Returns whether they did before.
    pub(crate) fn note_checks(&self, checks: bool) -> bool {
        let shared = self.0.as_ref();
        shared.is_some_and(|shared| shared.checks.swap(checks, Ordering::Relaxed))
    }

    /// How long the hooks for the session's end may take.
    pub(crate) fn end_limit(&self) -> Duration {
        let Some(shared) = &self.0 else {
            return Duration::ZERO;
        };
        let hooks = Arc::clone(&lock(&shared.hooks));
        let limit = |hook: &Hook| match hook.point {
            HookPoint::SessionEnd => hook.timeout,
            HookPoint::StopFailure | HookPoint::Notification => SETTLE,
            _ => Duration::ZERO,
        };
        hooks.iter().map(limit).max().unwrap_or_default()
    }

    /// Runs hooks in the background.
    pub(crate) fn in_background(&self, fired: impl Future<Output = ()> + Send + 'static) {
        if let Some(shared) = &self.0 {
            shared.unawaited.spawn(fired);
        }
    }

    /// Waits a moment for background hooks to end.
    pub(crate) async fn settle(&self) {
        if let Some(shared) = &self.0 {
            shared.unawaited.close();
            let _ = timeout(SETTLE, shared.unawaited.wait()).await;
        }
    }

    /// Returns what hooks in the background have said in session `id` since the last call.
    pub(crate) fn take_late(&self, id: &str) -> Vec<String> {
        let shared = self.0.as_ref();
        let late = shared.and_then(|shared| lock(&shared.late).remove(id));
        late.unwrap_or_default()
    }

    /// Whether a hook has ended the last run.
    pub(crate) fn has_stopped(&self) -> bool {
        let shared = self.0.as_ref();
        shared.is_some_and(|shared| shared.has_stopped.load(Ordering::Relaxed))
    }

    /// Notes that a hook has ended the run.
    pub(crate) fn note_stopped(&self) {
        if let Some(shared) = &self.0 {
            shared.has_stopped.store(true, Ordering::Relaxed);
        }
    }

    /// Why the run shall end now. Asked once.
    pub(crate) fn stops(&self) -> Option<String> {
        self.0.as_ref().and_then(|it| lock(&it.stop).take())
    }

    /// Runs the hooks for `input` side by side and waits for all but those in the background. Dropping
    /// the future kills them.
    pub(crate) async fn fire(&self, session: HookSession<'_>, input: HookInput) -> Outcome {
        let mut outcome = Outcome::default();
        let Some(shared) = self.0.as_ref().filter(|_| self.has(input.point)) else {
            return outcome;
        };
        let prompt = lock(&shared.prompt).clone();
        let message = message(&session, &input, prompt.as_deref());
        let for_codex = codex::message(&message, &input, &lock(&shared.model));
        let text = Value::Object(message).to_string();
        let mut running = FuturesUnordered::new();
        for (at, hook) in shared.matching(&session, &input).into_iter().enumerate() {
            let spawn = match shared.spawn(&session, &hook) {
                Ok(spawn) => spawn,
                Err(why) => {
                    outcome.add(&hook, &input, Err(why));
                    shared.history.note(&hook, 0, outcome.failed.take());
                    continue;
                }
            };
            let in_background = hook.in_background;
            let text = match (&hook.action, hook.dialect) {
                (_, Dialect::Codex) => for_codex.clone(),
                (HookAction::Command(_), Dialect::Claude) => format!("{text}\n"),
                (HookAction::Post(_), Dialect::Claude) => text.clone(),
            };
            let of_hook = Arc::clone(shared);
            let folder = session.folder.to_owned();
            let ran = async move {
                let started = Instant::now();
                let ran = of_hook.run(&hook, spawn, (&folder, &text)).await;
                log(&hook, &ran);
                let ms = started.elapsed().as_millis() as u64;
                (hook, ms, ran)
            };
            if in_background {
                let (shared, input) = (Arc::clone(shared), input.clone());
                let id = session.id.to_owned();
                tokio::spawn(async move {
                    let (hook, ms, ran) = ran.await;
                    let error = ran.as_ref().err().cloned();
                    if let Ok(ran) = ran {
                        let texts = late_texts(&hook, &input, &ran);
                        lock(&shared.late).entry(id).or_default().extend(texts);
                    }
                    shared.history.note(&hook, ms, error);
                });
            } else {
                running.push(ran.map(move |ran| (at, ran)));
            }
        }
        // In the order in which they end, because the last of several equal decisions wins; with Codex the
        // first in its file.
        let mut add = |(hook, ms, ran): (Hook, u64, Result<Ran, String>)| {
            outcome.add(&hook, &input, ran);
            shared.history.note(&hook, ms, outcome.failed.take());
        };
        let mut of_codex = Vec::new();
        while let Some((at, ended)) = running.next().await {
            match ended.0.dialect {
                Dialect::Claude => add(ended),
                Dialect::Codex => of_codex.push((at, ended)),
            }
        }
        of_codex.sort_by_key(|(at, _)| Reverse(*at));
        for (_, ended) in of_codex {
            add(ended);
        }
        outcome
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Hooks").finish_non_exhaustive()
    }
}

impl Shared {
    async fn run(
        &self,
        hook: &Hook,
        mut spawn: Spawn,
        (folder, input): (&Path, &str),
    ) -> Result<Ran, String> {
        match &hook.action {
            HookAction::Command(command) => {
                let file = if sets_variables(hook) {
                    let file = variables::new_file();
                    Some(file.map_err(|error| format!("no file for its variables: {error}"))?)
                } else {
                    None
                };
                if let Some(file) = &file {
                    let value = file.path().into();
                    spawn.environment.push(("CLAUDE_ENV_FILE".into(), value));
                }
                let ran = command::run(&self.processes, spawn, (hook, command), (folder, input));
                let ran = ran.await;
                if let Some(file) = file {
                    let of_commands = |name: &str| {
                        let mut known = self.environment.commands.iter();
                        let found = known.find(|(known, _)| known.as_os_str() == name);
                        found.and_then(|(_, value)| value.clone().into_string().ok())
                    };
                    let set = variables::from_file(file.path(), of_commands);
                    lock(&self.variables).extend(set);
                }
                ran
            }
            HookAction::Post(post) => {
                post::run(&self.http, (hook, post), input, &self.environment.all).await
            }
        }
    }

    /// The hooks for `input`. A command that two files name runs only once.
    fn matching(&self, session: &HookSession<'_>, input: &HookInput) -> Vec<Hook> {
        let names: Vec<&str> = input.names.iter().map(String::as_str).collect();
        let hooks = Arc::clone(&lock(&self.hooks));
        let mut seen = HashSet::new();
        let mut matching = Vec::new();
        for hook in hooks.iter().filter(|hook| hook.point == input.point) {
            let fits = names.is_empty() || hook.accepts.accepts(&names);
            let places = (session.cwd, &*self.project);
            let holds = (hook.holds.as_ref())
                .is_none_or(|it| it.holds(&input.names, &input.fields, places));
            if fits && holds && seen.insert(&hook.action) {
                matching.push(hook.clone());
            }
        }
        matching
    }

    fn spawn(&self, session: &HookSession<'_>, hook: &Hook) -> Result<Spawn, String> {
        let mut environment = self.environment.commands.clone();
        let mut set = |name: &str, value: OsString| {
            environment.retain(|(known, _)| known.as_os_str() != name);
            environment.push((name.into(), value));
        };
        // Of a project's file, the folder that has its `.claude`.
        let own = hook.file.ancestors().nth(2);
        let project = own.filter(|own| self.project.starts_with(own) && hook.of_project);
        set(
            "CLAUDE_PROJECT_DIR",
            project.unwrap_or(&self.project).into(),
        );
        set("TILLER_SESSION_ID", session.id.into());
        Ok(Spawn {
            command: String::new(),
            cwd: session.cwd.to_owned(),
            environment,
            sandbox: if hook.of_project {
                session.sandbox.clone()?
            } else {
                None
            },
        })
    }
}

/// Whether a hook can set variables for later commands. One of the project can't.
fn sets_variables(hook: &Hook) -> bool {
    hook.point == HookPoint::SessionStart && !hook.of_project && !hook.in_background
}

fn log(hook: &Hook, ran: &Result<Ran, String>) {
    let point = hook.point.name();
    match ran {
        Ok(ran) => tracing::info!("Hook: {point} | {:?} after {}ms", ran.exit, ran.ms),
        Err(why) => tracing::warn!("Hook: {point} | {why}"),
    }
}
