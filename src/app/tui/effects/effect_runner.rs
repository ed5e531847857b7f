//! Runs effects and sends back the results. Other threads read and write files, so nothing blocks.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

use super::effect::{Direction, Effect, Lookup, TreeEffect, TrialEffect, UndoEffect};
use super::file_finder::FileFinder;
use super::git_reader::GitReader;
use super::open_target;
use super::outbox::Outbox;
use super::page_searcher::PageSearcher;
use super::session_effect_runner::{Reading, SessionEffectRunner};
use super::shell_runner::ShellRunner;
use super::storage::{Job, Storage};
use super::user_effects::UserEffects;
use crate::agent::permission::Rule;
use crate::agent::session::{IterationSummary, SessionView};
use crate::agent::trial;
use crate::agent::undo::UndoCommand;
use crate::agent::{AgentHandle, QueueKind};
use crate::app::attachments::missing_file;
use crate::app::branches::Outline;
use crate::app::clipboard;
use crate::app::commands::{Run, SlashCommand};
use crate::app::dirs::Dirs;
use crate::app::external_editor;
use crate::app::host::Host;
use crate::app::models::Models;
use crate::app::project::Project;
use crate::app::rule_store::RuleScope;
use crate::app::tui::composer::{History, HistoryFile, SavedDraft};
use crate::app::tui::msg::{EffectResult, FoundModel};
use crate::app::tui::terminal::tty::Tty;
use crate::llm::local::DiscoveredServer;
use crate::llm::{Model, ThinkingLevel};

/// How long quitting waits for draft and history to be saved, if the disk hangs.
const TIMEOUT: Duration = Duration::from_secs(1);

/// How long to wait for local servers while the model list is open. The list shows already, and an
/// Ollama with many models answers slowly.
const LOCAL_TIMEOUT: Duration = Duration::from_secs(1);

pub struct EffectRunner {
    handle: AgentHandle,
    outbox: Outbox,
    models: Arc<Models>,
    host: Host,
    project: Option<Project>,
    cwd: PathBuf,
    /// `None` if nothing is stored.
    dirs: Option<Dirs>,
    storage: Option<Storage>,
    sessions: Option<SessionEffectRunner>,
    /// The latest text on its way to the clipboard.
    copying: Option<AbortHandle>,
    shell: ShellRunner,
    finder: FileFinder,
    searcher: PageSearcher,
    git: GitReader,
    user: UserEffects,
    results: UnboundedSender<EffectResult>,
    tty: Arc<Tty>,
}

impl EffectRunner {
    pub fn new(
        host: Host,
        project: Option<Project>,
        user: UserEffects,
        results: UnboundedSender<EffectResult>,
        tty: Arc<Tty>,
    ) -> Self {
        let Host {
            handle,
            dirs,
            cwd,
            models,
            is_stored,
            ..
        } = host.clone();
        let dirs = is_stored.then_some(dirs);
        let finder = FileFinder::new(&cwd, host.mcp.clone(), results.clone());
        let searcher = PageSearcher::new(results.clone());
        let decisions = project.as_ref().map(Project::decisions);
        let git = GitReader::new(&cwd, decisions, results.clone());
        let sessions = is_stored.then(|| SessionEffectRunner {
            host: host.clone(),
            results: results.clone(),
            reading: Reading::default(),
            waiting: Arc::default(),
        });
        let storage = dirs
            .as_ref()
            .and_then(|dirs| Storage::start(dirs, &cwd, handle.clone(), results.clone()));
        Self {
            outbox: Outbox::new(handle.clone(), cwd.clone(), host.mcp.clone()),
            handle,
            models,
            host: host.clone(),
            project,
            cwd,
            dirs,
            copying: None,
            sessions,
            shell: ShellRunner {
                host,
                results: results.clone(),
                running: None,
            },
            finder,
            searcher,
            git,
            storage,
            user,
            results,
            tty,
        }
    }

    /// Runs an effect; the event loop runs those on the terminal.
    pub fn run(&mut self, effect: Effect) {
        // These must not wait for a file or overtake a message.
        if matches!(
            effect,
            Effect::SteerNow
                | Effect::TakeBack(_)
                | Effect::Abort
                | Effect::RunCommand(..)
                | Effect::GoOn
                | Effect::Session(_)
                | Effect::Undo(_)
                | Effect::Tree(_)
        ) {
            self.outbox.hurry();
        }
        match effect {
            Effect::Warm => self.handle.warm(),
            Effect::Prompt(content) => self.outbox.message(QueueKind::Steering, content),
            Effect::Queue(kind, content) => self.outbox.message(kind, content),
            Effect::RunShell(id, command) => self.shell.run(id, command),
            Effect::StopShell => self.shell.stop(),
            Effect::PastePicture => self.shell.picture(),
            Effect::SteerNow => self.handle.steer_now(),
            Effect::TakeBack(id) => self.handle.take_back(id),
            Effect::SetPermission(mode) => self.handle.set_permission(mode),
            Effect::Answer(id, answer) => self.outbox.answer(id, answer),
            Effect::KeepRules(scope, rules) => self.keep_rules(scope, rules),
            Effect::Abort => self.handle.abort(),
            Effect::RunCommand(command, argument) => self.run_command(command, argument),
            Effect::ReadContext => {
                let handle = self.handle.clone();
                self.spawn(async move { EffectResult::Context(handle.context_usage().await) });
            }
            Effect::RaiseBudget => self.handle.raise_budget(),
            Effect::GoOn => self.handle.go_on(),
            Effect::Session(effect) => {
                if let Some(sessions) = &mut self.sessions {
                    sessions.run(effect);
                }
            }
            Effect::Trial(effect) => self.trial(effect),
            Effect::Undo(effect) => self.undo(effect),
            Effect::ReadPage(request) => self.block(|| EffectResult::Page(request.load())),
            Effect::ReadEntries(generation) => self.read_tree(move |session| {
                EffectResult::Entries(generation, Arc::new(session.shown()))
            }),
            Effect::Tree(effect) => self.tree(effect),
            Effect::ReadIterations(file) => self.block(move || {
                EffectResult::Iterations(iterations(&file).map_err(|error| error.to_string()))
            }),
            Effect::SearchPages(search) => self.searcher.search(search.map(|search| *search)),
            Effect::Copy(text, what) => {
                // In case the copy can't be confirmed.
                let dirs = self.dirs.as_ref();
                let file = dirs.map(|dirs| dirs.data.join("copied.txt"));
                let tty = Arc::clone(&self.tty);
                let copied = clipboard::copy_here(text, file, move |name| tty.var(name));
                let copied = copied.map(|outcome| EffectResult::Copied(what, outcome));
                // An older text must not overwrite it.
                let copying = self.spawn(copied);
                if let Some(older) = self.copying.replace(copying) {
                    older.abort();
                }
            }
            Effect::Open(word) => {
                self.spawn(open_target::open(word, self.cwd.clone()).map(EffectResult::Opening));
            }
            Effect::ReadGit => self.git.read(),
            Effect::Trust(trusted) => self.trust(trusted),
            Effect::LoadHistory => self.load_history(),
            Effect::Remember(prompts) => self.store(Job::Remember(prompts)),
            Effect::LoadDraft(session) => self.store(Job::LoadDraft(session)),
            Effect::ChangeDraft(change, session) => {
                self.store(Job::ChangeSession(change, session));
            }
            Effect::SaveDraft(draft) => self.store(Job::SaveDraft(draft)),
            Effect::FindFiles(typed) => self.finder.find(typed),
            Effect::ReadFolder(typed) => self.finder.read_folder(typed),
            Effect::FindCustomCommand(lookup) => self.find_custom_command(lookup),
            Effect::ListCustomCommands => {
                let host = self.host.clone();
                self.spawn(async move {
                    EffectResult::CustomCommands(host.list_custom_commands().await)
                });
            }
            Effect::CheckMentions(text) => self.check_mentions(text),
            Effect::ListModels => self.list_models(),
            Effect::FindModel(name) => self.find_model(name),
            Effect::FindFavorites(direction) => self.find_favorites(direction),
            Effect::SetModel(model) => self.handle.set_model(Model::clone(&model)),
            Effect::SetThinking(level) => self.handle.set_thinking(level),
            effect @ (Effect::ListProviders
            | Effect::StoreKey(..)
            | Effect::ReadThemes
            | Effect::ReadSettings
            | Effect::SaveSetting(..)
            | Effect::UnsetSetting(_)) => {
                self.user.run(effect, &self.host, &self.results);
            }
            Effect::SaveDefault(full_id) => {
                let models = Arc::clone(&self.models);
                self.block(move || EffectResult::Saved(models.save_default(&full_id)));
            }
            Effect::Terminal(_) => {}
        }
    }

    /// The next Enter waits for the result, which a slow disk must not prevent.
    fn find_custom_command(&self, lookup: Lookup) {
        let (custom, typed) = (self.host.custom_commands(), lookup.typed.clone());
        let prompt = tokio::task::spawn_blocking(move || custom.prompt(&typed));
        let host = self.host.clone();
        self.spawn(async move {
            let prompt = match tokio::time::timeout(TIMEOUT, prompt).await {
                Ok(Ok(Ok(None))) => host.prompt_of_server(&lookup.typed).await,
                Ok(Ok(prompt)) => prompt.map_err(|why| why.on_screen()),
                _ => Err(
                    "Can't look for your command: the disk doesn't answer; try again".to_owned(),
                ),
            };
            EffectResult::CustomCommand(lookup, prompt)
        });
    }

    /// A slow disk doesn't keep the message from being sent.
    fn check_mentions(&self, text: String) {
        let (cwd, checked) = (self.cwd.clone(), text.clone());
        let missing = tokio::task::spawn_blocking(move || missing_file(&checked, &cwd));
        self.spawn(async move {
            let missing = tokio::time::timeout(TIMEOUT, missing).await;
            EffectResult::Mentions(text, missing.ok().and_then(Result::ok).flatten())
        });
    }

    fn trial(&mut self, effect: TrialEffect) {
        match effect {
            TrialEffect::Begin(content) => self.outbox.message(QueueKind::Trial, content),
            TrialEffect::CountChanges(trial) => self.block(move || {
                let changes = trial::changes(&trial).map(|changes| changes.len());
                EffectResult::TrialChanges(trial, changes.ok())
            }),
            TrialEffect::FindAbandoned => {
                if let Some(dirs) = self.dirs.clone() {
                    self.block(move || {
                        EffectResult::AbandonedTrials(trial::abandoned(&dirs.trials()))
                    });
                }
            }
        }
    }

    fn undo(&self, effect: UndoEffect) {
        match effect {
            UndoEffect::Preview(direction) => self.ask_undo(
                |answer| UndoCommand::Preview(direction, answer),
                move |preview| EffectResult::Undo(direction, preview),
            ),
            UndoEffect::Go(direction, turn) => {
                self.handle.undo(UndoCommand::Go { direction, turn });
            }
            UndoEffect::Prompts => {
                self.ask_undo(UndoCommand::Prompts, EffectResult::RewindPoints);
            }
            UndoEffect::PreviewRewind(point) => {
                let entry = point.entry.clone();
                self.ask_undo(
                    |answer| UndoCommand::PreviewRewind(point, answer),
                    move |preview| EffectResult::RewindPreview(entry, preview),
                );
            }
            UndoEffect::Rewind(point, what) => self.handle.undo(UndoCommand::Rewind(point, what)),
        }
    }

    fn ask_undo<T: Send + 'static>(
        &self,
        question: impl FnOnce(oneshot::Sender<Result<T, String>>) -> UndoCommand,
        result: impl FnOnce(T) -> EffectResult + Send + 'static,
    ) {
        let (answer, answered) = oneshot::channel();
        self.handle.undo(question(answer));
        self.spawn(async move {
            match answered.await {
                Ok(Ok(found)) => result(found),
                Ok(Err(why)) => EffectResult::Refused(why),
                Err(_) => EffectResult::Refused("The agent has stopped".to_owned()),
            }
        });
    }

    /// Waits briefly for pending writes.
    pub fn finish(&mut self) {
        if let Some(storage) = &self.storage {
            storage.flush(TIMEOUT);
        }
    }

    /// Saves the draft and waits for it, because the program is about to end.
    pub fn save_draft_now(&mut self, draft: SavedDraft) {
        self.store(Job::SaveDraft(draft));
        self.finish();
    }

    /// Opens `text` in the external editor; the terminal must already be restored.
    pub fn edit(&self, text: String) {
        self.spawn(async move {
            let edited = external_editor::edit(&text).await;
            EffectResult::Edited(text, edited)
        });
    }

    /// Opens a file at a line in the external editor; the terminal must already be restored.
    pub fn open_file(&self, file: PathBuf, line: Option<u64>) {
        self.spawn(external_editor::open(file, line).map(EffectResult::FileClosed));
    }

    fn store(&self, job: Job) {
        if let Some(storage) = &self.storage {
            storage.send(job);
        }
    }

    /// Applies from the next message on, even if it can't be saved.
    fn trust(&self, trusted: bool) {
        let Some(project) = self.project.clone() else {
            return;
        };
        let handle = self.handle.clone();
        project.tell(trusted, &handle);
        self.block(move || told(project.decide(trusted, &handle)));
    }

    fn keep_rules(&self, scope: RuleScope, rules: Vec<Rule>) {
        if let Some(project) = self.project.clone() {
            self.block(move || told(project.keep_rules(scope, &rules)));
        }
    }

    /// Not on the storage thread: a long file would delay saving.
    fn load_history(&self) {
        if let Some(dirs) = self.dirs.clone() {
            self.block(move || match HistoryFile::new(dirs.history_file()).load() {
                Ok(prompts) => EffectResult::History(History::new(prompts)),
                Err(error) => {
                    EffectResult::Failed(format!("Couldn't read the prompt history: {error}"))
                }
            });
        }
    }

    fn run_command(&self, command: &'static SlashCommand, argument: String) {
        let shows_itself = matches!(command.run, Run::Agent(_));
        let (host, results) = (self.host.clone(), self.results.clone());
        let mut running = Box::pin(async move {
            let result = match command.start(&host, &argument).await {
                _ if shows_itself => return,
                Ok(text) => EffectResult::Said(text),
                Err(why) if argument.is_empty() => EffectResult::Refused(why),
                Err(why) => EffectResult::CommandRefused {
                    typed: format!("/{} {argument}", command.name()),
                    why,
                },
            };
            let _ = results.send(result);
        });
        // Up to its first wait now, so that no later effect overtakes it.
        if running.as_mut().now_or_never().is_none() {
            tokio::spawn(running);
        }
    }

    fn tree(&self, effect: TreeEffect) {
        match effect {
            TreeEffect::Read => {
                self.read_tree(|session| EffectResult::Tree(Box::new(Outline::of(&session))));
            }
            TreeEffect::GoTo(entry, leaving) => self.handle.go_to(entry, leaving),
            TreeEffect::EditLast => self.handle.edit_last_prompt(),
            TreeEffect::Label(entry, label) => self.handle.label(Some(entry), label),
        }
    }

    /// Reads the session tree on another thread.
    fn read_tree(&self, work: impl FnOnce(SessionView) -> EffectResult + Send + 'static) {
        let (handle, results) = (self.handle.clone(), self.results.clone());
        tokio::spawn(async move {
            let Some(snapshot) = handle.tree().await else {
                return;
            };
            tokio::task::spawn_blocking(move || drop(results.send(work(snapshot))));
        });
    }

    fn block(&self, work: impl FnOnce() -> EffectResult + Send + 'static) {
        let results = self.results.clone();
        tokio::task::spawn_blocking(move || drop(results.send(work())));
    }

    fn spawn(&self, work: impl Future<Output = EffectResult> + Send + 'static) -> AbortHandle {
        let results = self.results.clone();
        tokio::spawn(async move { drop(results.send(work.await)) }).abort_handle()
    }

    /// Sends the list at once with the last known local models, then again with the current ones.
    fn list_models(&self) {
        let (models, results) = (Arc::clone(&self.models), self.results.clone());
        tokio::spawn(async move {
            let list = |found: Arc<[DiscoveredServer]>| {
                let (models, results) = (Arc::clone(&models), results.clone());
                tokio::task::spawn_blocking(move || {
                    let listing = Arc::new(models.list(&found));
                    let _ = results.send(EffectResult::Models(listing));
                })
            };
            let before = models.found();
            let (_, found) =
                tokio::join!(list(Arc::clone(&before)), models.discover(LOCAL_TIMEOUT));
            if found != before {
                let _ = list(found).await;
            }
        });
    }

    fn find_model(&self, name: String) {
        let models = Arc::clone(&self.models);
        self.spawn(async move {
            let resolved = models.resolve(&name).await;
            let found = resolved.map(|(model, thinking)| found(&models, model, thinking));
            EffectResult::Model(name, found)
        });
    }

    fn find_favorites(&self, direction: Direction) {
        let models = Arc::clone(&self.models);
        self.spawn(async move {
            let favorites = models.favorites().await.into_iter();
            let favorites = favorites.map(|model| found(&models, model, None));
            EffectResult::Favorites(favorites.collect(), direction)
        });
    }
}

fn told(done: Result<String, String>) -> EffectResult {
    match done {
        Ok(text) => EffectResult::Said(text),
        Err(error) => EffectResult::Failed(error),
    }
}

fn found(models: &Models, model: Model, thinking: Option<ThinkingLevel>) -> FoundModel {
    FoundModel {
        key: models.key_state(&model.provider),
        model: Arc::new(model),
        thinking,
    }
}

/// The summaries of all iterations of the session in `file`; empty while nothing is stored.
fn iterations(file: &Path) -> io::Result<Arc<[IterationSummary]>> {
    match SessionView::open(file) {
        Ok(view) => Ok(view
            .iterations()
            .map(|it| IterationSummary::from(&it))
            .collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Arc::default()),
        Err(error) => Err(error),
    }
}
