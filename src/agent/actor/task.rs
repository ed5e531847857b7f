//! The task that owns an agent: conversation (with session and subscribers), queues and state, each
//! in one place. It handles commands and the run's messages one at a time and never waits for a
//! model, tool or subscriber, so it always answers at once.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::select;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use super::activity::{Activity, Run, Typed};
use super::conversation::Conversation;
use super::hooks::reached;
use super::questions::Questions;
use super::queue::Queues;
use super::returned::Returned;
use super::settings::told;
use crate::budget::Account;
use crate::current_run::CurrentRun;
use crate::event::{AgentEvent, NoticeLevel, RunOutcome, RunState};
use crate::handle::{AgentHandle, Command, OpenRefused, OpenSession};
use crate::memory::{PromptOptions, SessionPrompts};
use crate::options::AgentOptions;
use crate::process::Processes;
use crate::rules::LoopRules;
use crate::runner::{
    CompactRequest, LivePolicy, Permissions, RunEnv, RunLink, RunMessage, close_turn, run,
};
use crate::session::{Body, SaveNotice, SessionState};
use crate::toolbox::Toolbox;
use tiller_llm::{Model, ThinkingLevel};

/// How long slow subscribers get for the last events at shutdown.
const SHUTDOWN_GRACE: Duration = Duration::from_millis(100);

/// Starts an agent on the current tokio runtime. It lives until shutdown or its last handle.
pub fn start(options: AgentOptions) -> AgentHandle {
    let (handle, commands, current) = AgentHandle::new();
    tokio::spawn(Actor::new(options, current).serve(commands));
    handle
}

pub(super) struct Actor {
    pub(super) env: Arc<RunEnv>,
    pub(super) processes: Processes,
    pub(super) conversation: Conversation,
    pub(super) queues: Queues,
    pub(super) returned: Returned,
    pub(super) questions: Questions,
    /// The permission mode and rules.
    pub(super) policy: LivePolicy,
    pub(super) activity: Activity,
    /// The client that moves the conversation to another entry: its user edits the prompt there.
    pub(super) moved_by: u64,
    /// The activity as shown to subscribers.
    pub(super) state: RunState,
    pub(super) model: Arc<Model>,
    pub(super) thinking: ThinkingLevel,
    pub(super) toolbox: Arc<Toolbox>,
    pub(super) rules: Arc<LoopRules>,
    /// Folder for trials, if there is one.
    pub(super) trials: Option<PathBuf>,
    /// A requested compaction that waits for the current run.
    pub(super) compact_next: Option<CompactRequest>,
    /// Shared with the handles, which cancel it before any command is read.
    pub(super) current: CurrentRun,
    /// When hooks learn that the user is idle.
    pub(super) idle_at: Option<Instant>,
    /// Closing previous sessions that aren't fully on disk yet.
    closing: JoinSet<SaveNotice>,
}

impl Actor {
    fn new(options: AgentOptions, current: CurrentRun) -> Self {
        let model = Arc::new(options.model);
        let for_prompts = PromptOptions {
            base: options.system_prompt,
            append: options.append_system_prompt,
            cwd: options.cwd.clone(),
        };
        let prompts = SessionPrompts::new(for_prompts, options.today);
        let mode = options.permission.policy.mode;
        let policy = LivePolicy::new(options.permission.policy.clone(), options.rule_source);
        let outputs = options.session.outputs(&options.spill_dir);
        let env = RunEnv {
            permissions: Permissions::new(&options.permission, outputs, policy.clone()),
            provider: options.provider,
            fallback: options.fallback.into_iter().map(Arc::new).collect(),
            home: options.cwd.clone(),
            cwd: options.cwd,
            trial: None,
            undo: options.undo.map(Arc::new),
            conversation_id: options.session.id().to_owned(),
            spill_dir: options.spill_dir,
            warned: Arc::default(),
            account: Account::new(options.budget, options.budget_flags)
                .for_session(options.session.usage(), options.session.budget()),
            redactor: options.redactor,
            hooks: options.hooks,
            own_tools: options.own_tools,
            mcp: options.mcp,
            session_file: options.session.path().map(Path::to_owned),
        };
        env.confine_servers();
        let mut queues = Queues::default();
        queues.restore(options.session.queued());
        let mut conversation = Conversation::new(options.session, prompts, options.facts);
        conversation.instructions = options.instructions;
        conversation.waits_for_git = !options.permission.has_user;
        conversation.prompts.mode = told(mode);
        let mut actor = Self {
            env: Arc::new(env),
            processes: options.processes,
            conversation,
            queues,
            returned: Returned::default(),
            questions: Questions::new(options.permission.has_user),
            policy,
            activity: Activity::Idle,
            moved_by: 0,
            state: RunState::Idle,
            model,
            thinking: options.thinking,
            toolbox: Arc::new(options.toolbox),
            rules: Arc::new(options.rules),
            trials: options.trials,
            compact_next: None,
            current,
            idle_at: None,
            closing: JoinSet::new(),
        };
        actor.resume_trial();
        actor
    }

    async fn serve(mut self, mut commands: mpsc::UnboundedReceiver<Command>) {
        self.conversation.appear(&self.model);
        let processes = self.processes.clone();
        while !matches!(self.activity, Activity::Leaving { run: None, .. }) {
            let leaving = self.activity.is_leaving();
            let stopping = matches!(self.activity, Activity::Idle)
                && matches!(self.state, RunState::Stopping { .. });
            let reading = self.may_read_run();
            select! {
                biased;
                command = commands.recv(), if !leaving => self.on_command(command),
                dropped = self.conversation.subscribers.catch_up(), if self.conversation.subscribers.behind() => self.conversation.on_dropped(dropped),
                report = self.activity.next_message(), if reading => self.on_message(report).await,
                asked = self.questions.next() => self.on_asked(asked),
                () = reached(self.idle_at) => self.on_idle(),
                () = processes.empty(), if stopping => self.enter(RunState::Idle),
            }
        }
        tracing::info!("shutdown: no run is under way");
        self.end_hooks().await;
        self.processes.stop_all();
        self.env.mcp.end().await;
        tracing::info!("shutdown: commands were told to end");
        self.settle_undo().await;
        self.keep_unread(&mut commands);
        self.leave_messages();
        let mut unsaved = self.conversation.close().await;
        while let Some(notice) = self.closing.join_next().await {
            unsaved = unsaved.or(notice.ok().flatten());
        }
        tracing::info!("shutdown: the session is on disk");
        let subscribers = &mut self.conversation.subscribers;
        // Until every subscriber has read everything or was dropped.
        let all = async {
            while subscribers.behind() {
                subscribers.catch_up().await;
            }
        };
        let _ = timeout(SHUTDOWN_GRACE, all).await;
        tracing::info!("shutdown: closed");
        if let Activity::Leaving {
            done: Some(done), ..
        } = self.activity
        {
            let _ = done.send(unsaved.map(|(_, text)| text));
        }
    }

    /// A slow subscriber holds the run back, but not the end of a turn that was cut short.
    fn may_read_run(&mut self) -> bool {
        let behind = self.conversation.subscribers.behind();
        let run = self.activity.run();
        run.is_some_and(|run| run.interrupt.is_cancelled() || !behind)
    }

    pub(super) fn on_command(&mut self, command: Option<Command>) {
        let Some(command) = command else {
            return self.shut_down(None);
        };
        let Some(command) = self.admit(command) else {
            return;
        };
        match command {
            Command::Message(kind, content, _) => self.enqueue(Typed::here(kind, content)),
            Command::Submit(message, answer) => drop(answer.send(self.submit(*message))),
            Command::Listening(socket) => self.conversation.listening(socket),
            Command::Notify(level, text) => self.conversation.notice(level, text),
            Command::SteerNow => self.steer_now(),
            Command::TakeBack(id, by) => {
                let messages = self.queues.take_back(id);
                self.give_back(messages, by);
            }
            Command::ClearQueue(answer) => drop(answer.send(self.clear_queue())),
            Command::Release(ids) => self.release(&ids),
            Command::Detach(client) => self.detach(client),
            Command::Abort { cancelled, by } => self.abort(cancelled, by),
            Command::AbortRun(run, by) => self.abort_run(run, by),
            Command::Continue => {
                self.resume();
                if self.activity.run().is_none() {
                    self.show_state();
                }
            }
            Command::RaiseBudget => {
                self.env.account.raise();
                self.keep_budget();
            }
            Command::SetBudget(budget) => {
                self.env.account.set_limit(budget);
                self.keep_budget();
            }
            Command::SetModel(model) => self.choose_model(*model),
            Command::SetThinking(level) => {
                self.change_model(Arc::clone(&self.model), level);
            }
            Command::Open(open, answer) => drop(answer.send(self.open(*open))),
            Command::SetInstructions(sources) => self.conversation.instructions = sources,
            Command::SetRules(rules) => self.rules = Arc::from(rules),
            Command::SetPermission(mode) => self.set_permission(mode),
            Command::PermissionRules(answer) => self.tell_rules(answer),
            Command::RemoveRule(rule) => self.remove_rule(&rule),
            Command::Answer(id, answer, by) => self.answer(id, answer, by),
            Command::Name(name) => self.conversation.name(name),
            Command::Compact(focus) => self.compact(CompactRequest { focus }),
            Command::Uncompact(by) => self.for_client(by).uncompact(),
            Command::ContextUsage(answer) => self.tell_context_usage(answer),
            Command::Tree(command, by) => self.for_client(by).on_tree(command),
            Command::Trial(command) => self.on_trial(command),
            Command::Undo(command, by) => self.for_client(by).on_undo(command),
            Command::Warm => {
                self.env.provider.warm(&self.model);
                self.conversation.warm(&self.model);
            }
            Command::Subscribe(sender, slow) => {
                self.conversation.subscribers.join(sender, slow);
                self.show_trial();
                if self.conversation.session.budget().is_some() {
                    self.show_budget();
                }
                if self.queues.anything_waits() {
                    self.show_queues();
                }
            }
            Command::Snapshot(answer) => drop(answer.send(self.snapshot())),
            Command::Resubscribe(sender, answer) => {
                if answer.send(self.snapshot()).is_ok() {
                    self.conversation.subscribers.rejoin(sender);
                    self.show_trial();
                }
            }
            Command::Shutdown(done) => self.shut_down(Some(done)),
        }
    }

    fn open(&mut self, open: OpenSession) -> Result<(), OpenRefused> {
        if !matches!(self.activity, Activity::Idle) {
            return Err(OpenRefused::Busy);
        }
        if let Some((entries, error)) = self.conversation.save() {
            return Err(OpenRefused::Unsaved(entries, error));
        }
        self.leave_messages();
        self.end_hooks_in_background("clear");
        self.returned.forget();
        self.model = open.model.unwrap_or_else(|| Arc::clone(&self.model));
        self.thinking = open.thinking.unwrap_or(self.thinking);
        self.env = Arc::new((self.env).for_session(&open.session, open.spill_dir));
        self.queues.restore(open.session.queued());
        let mut before = (self.conversation).open(open.session, open.facts, &self.model);
        self.show_model();
        self.show_budget();
        self.restore_permission();
        self.resume_trial();
        if self.queues.anything_waits() {
            self.show_queues();
        }
        self.closing.spawn(async move { before.close().await });
        Ok(())
    }

    /// Leaves queued messages in the session, or gives them back if there is none.
    fn leave_messages(&mut self) {
        let waiting = self.queues.take_all();
        if self.conversation.session.path().is_none() {
            self.give_back(waiting, 0);
        }
    }

    /// Resumes after a limit or a failure stopped the last run, or with the queued messages.
    pub(super) fn resume(&mut self) {
        if self.activity.run().is_some() {
            return;
        }
        if !self.conversation.facts.awaits_model() && !self.queues.steering_waits() {
            if !self.queues.follow_up_waits() {
                return;
            }
            self.queues.release_follow_ups(self.rules.follow_up_mode);
            self.show_queues();
        }
        self.start_run();
    }

    pub(super) fn start_run(&mut self) {
        self.conversation.repair(false);
        let opening = self.conversation.opening(&self.model, &self.toolbox);
        self.start(false, |link| async move {
            let outcome = run(&link, opening).await;
            close_turn(&link).await;
            outcome
        });
    }

    pub(super) fn start<F>(&mut self, silent: bool, task: impl FnOnce(RunLink) -> F)
    where
        F: Future<Output = RunOutcome> + Send + 'static,
    {
        self.start_for(0, silent, task);
    }

    /// Starts a run. If it is stopped, the queued messages return to the client `by`.
    pub(super) fn start_for<F>(&mut self, by: u64, silent: bool, task: impl FnOnce(RunLink) -> F)
    where
        F: Future<Output = RunOutcome> + Send + 'static,
    {
        // Not when the session is opened: viewing it must not change its file.
        self.conversation.store_model(&self.model, self.thinking);
        self.conversation.said.clear();
        self.idle_at = None;
        self.queues.forget_checks();
        let ((id, cancel), processes) = (self.current.begin(by), self.processes.scope());
        self.conversation.subscribers.run = Some(id);
        self.activity = Activity::Running(Run::start(
            cancel,
            Arc::clone(&self.env),
            processes,
            self.questions.asker.clone(),
            silent,
            task,
        ));
    }

    async fn on_message(&mut self, report: Option<RunMessage>) {
        match report {
            Some(RunMessage::Event(event)) => self.conversation.publish(event),
            Some(RunMessage::Begun(event, reply)) => {
                self.conversation.publish(event);
                let unsaved = self.conversation.save();
                let _ = reply.send(unsaved.map(|(_, error)| error));
            }
            Some(RunMessage::Ended(event, result)) => {
                self.conversation.publish_result(event, result);
            }
            Some(RunMessage::RanOnce(result)) => {
                self.conversation.store(Body::of_first_run(&result));
            }
            Some(RunMessage::Phase(phase)) => self.enter_phase(phase),
            Some(RunMessage::Surroundings(found)) => {
                let model = Arc::clone(self.asked());
                self.conversation.set_surroundings(found, &model);
            }
            Some(RunMessage::NextTurn(step, reply)) => drop(reply.send(self.step(step))),
            Some(RunMessage::Leave(leave, summary, reply)) => {
                self.leave(leave, summary);
                let _ = reply.send(());
            }
            Some(RunMessage::Trial(report)) => self.on_trial_report(report),
            Some(RunMessage::BeginUndo(turn, reply)) => {
                self.conversation.store(Body::undo(turn));
                let _ = reply.send(());
            }
            Some(RunMessage::Undone(undone)) => self.on_undone(undone),
            Some(RunMessage::CorrectWindow(model)) => self.correct_window(model),
            Some(RunMessage::KeepFallback) => self.keep_fallback(),
            Some(RunMessage::ChangedFiles(files)) => self.conversation.count_files(files),
            Some(RunMessage::Prompts(reply)) => {
                let _ = reply.send(self.prompts_to_check());
            }
            Some(RunMessage::PromptsLeft(reply)) => drop(reply.send(self.queues.checked())),
            Some(RunMessage::PromptChecked(id, verdict)) => self.prompt_checked(id, verdict),
            Some(RunMessage::ForgetChecks) => self.queues.forget_checks(),
            Some(RunMessage::FromHooks(text)) => self.note_from_hooks(text),
            Some(RunMessage::OwnTools(tools)) => {
                self.toolbox = Arc::new(self.toolbox.with_own(tools));
            }
            Some(RunMessage::McpTools(tools))
                if tools.is_empty() && !self.toolbox.has_servers() => {}
            Some(RunMessage::McpTools(tools)) => {
                self.toolbox = Arc::new(self.toolbox.with_servers(tools));
            }
            Some(RunMessage::SteeringWaits(reply)) => {
                let _ = reply.send(self.queues.steering_waits());
            }
            Some(RunMessage::ReleaseFollowUps(reply)) => {
                let _ = reply.send(self.release_follow_ups());
            }
            None => self.end_run().await,
        }
    }

    async fn end_run(&mut self) {
        let Some((mut run, next)) = self.activity.take_run() else {
            return;
        };
        let returns_to = self.current.end();
        self.current.note_end_limit(self.env.hooks.end_limit());
        self.close(|_| true);
        let ended = run.outcome().await;
        // The run may have finished just before it noticed the cancellation.
        let ended = ended.filter(|_| !run.cancel.is_cancelled());
        let outcome = ended.unwrap_or(RunOutcome::Aborted);
        self.conversation.repair(!run.silent);
        let (aborted, answered) = (outcome == RunOutcome::Aborted, outcome.has_answer());
        let limited = matches!(
            outcome,
            RunOutcome::LimitReached { .. } | RunOutcome::BudgetReached(_)
        );
        // At shutdown they stay in the session, since the screen is gone.
        if aborted && !self.activity.is_leaving() {
            let messages = self.queues.take_all();
            self.give_back(messages, returns_to);
        }
        if let (true, RunOutcome::Failed { message }) = (run.silent, &outcome) {
            self.conversation.notice(NoticeLevel::Error, message);
        }
        if !run.silent {
            self.conversation.publish(AgentEvent::AgentEnd {
                messages: self.conversation.run_messages(),
                totals: self.conversation.totals(),
                outcome,
            });
        }
        run.processes.stop_all();
        self.close_undo(run.processes);
        let state = match self.processes.alive() {
            processes if aborted && processes > 0 => RunState::Stopping { processes },
            _ => RunState::Idle,
        };
        if self.state == state {
            // It ended before its first phase, and clients still show it as running.
            self.show_state();
        }
        self.enter(state);
        if limited {
            self.conversation.show(SessionState::AwaitingInput);
        }
        let waits = self.queues.anything_waits();
        let may_continue = !run.silent && !self.env.hooks.has_stopped();
        if answered && (waits || may_continue) {
            // Messages typed after the run last checked the queue.
            self.resume();
        }
        let stops_next = run.stops_next.filter(|_| !next.is_empty());
        for queued in next {
            self.place(queued);
        }
        if let Some(by) = stops_next {
            self.current.cancel(by, |_| ());
            self.abort(true, by);
        }
        if self.activity.run().is_none()
            && let Some(request) = self.compact_next.take()
        {
            self.compact(request);
        }
        if self.activity.run().is_none() {
            self.conversation.rest();
            self.conversation.send(AgentEvent::AgentSettled { aborted });
            self.conversation.subscribers.run = None;
            self.await_idle();
        }
    }
}
