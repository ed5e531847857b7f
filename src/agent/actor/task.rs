//! The task that owns an agent: its ledger (conversation, session, subscribers), queues and state,
//! each in one place. It reads commands and the run's reports one after the other and never waits for a
//! model, a tool or a subscriber, so it answers at once whatever is under way.

use std::sync::Arc;
use std::time::Duration;

use tokio::select;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::context::limit_text;
use super::conversation::Ledger;
use super::queue::Queues;
use crate::agent::event::{
    AgentEvent, NoticeLevel, Phase, QueueKind, Queued, RunOutcome, RunState, now_ms,
};
use crate::agent::handle::{AgentHandle, Command, RunToken};
use crate::agent::memory::{SessionPrompts, SystemPrompt};
use crate::agent::options::{AgentOptions, Resumed};
use crate::agent::process::Processes;
use crate::agent::runner::{CallNames, Change, Desk, Kit, Report, Turn, Windows, run};
use crate::agent::session::Journal;
use crate::llm::{Content, Model, ThinkingLevel};

/// How long the last events wait for slow subscribers when the agent leaves.
const FAREWELL: Duration = Duration::from_millis(100);

/// Starts an agent on the current tokio runtime. It lives until it is shut down or every handle
/// is gone.
pub fn start(options: AgentOptions) -> AgentHandle {
    let (handle, commands, token) = AgentHandle::new();
    tokio::spawn(Actor::new(options, token).serve(commands));
    handle
}

struct Actor {
    kit: Arc<Kit>,
    processes: Processes,
    ledger: Ledger,
    queues: Queues,
    state: RunState,
    model: Arc<Model>,
    thinking: ThinkingLevel,
    /// Shared with the handles: cancels the run before any command is read.
    token: RunToken,
    run: Option<Run>,
    /// Prompts typed after an abort, while its run was still ending: they open the next run.
    next_prompts: Vec<Vec<Content>>,
    /// Model calls since the last message a person sent.
    calls: u32,
    /// A run ended before the `Abort` that stopped it was read; that command then means nothing.
    stale_abort: bool,
    /// No command is read any more.
    leaving: bool,
    /// Who waits for the agent to be gone.
    farewell: Option<oneshot::Sender<()>>,
}

/// The run under way.
struct Run {
    reports: mpsc::Receiver<Report>,
    task: JoinHandle<RunOutcome>,
    cancel: CancellationToken,
    /// Cuts the turn under way short; a child of `cancel`.
    interrupt: CancellationToken,
    /// Whether its `Abort` was read.
    aborted: bool,
    /// Where its messages begin in the conversation.
    first_message: usize,
    /// Answers in place of the chosen model, which could not, until the run is over.
    stand_in: Option<Arc<Model>>,
    /// What the program tells the model with the next turn.
    advice: Option<String>,
}

impl Actor {
    fn new(options: AgentOptions, token: RunToken) -> Self {
        let model = Arc::new(options.model);
        let journal = Journal::new(options.session, &model, options.thinking);
        let renderer = SystemPrompt {
            base: options.system_prompt,
            append: options.append_system_prompt,
            cwd: options.cwd.clone(),
        };
        let Resumed { messages, prompts } = options.resumed;
        let prompts = SessionPrompts::new(renderer, options.today, prompts, &messages);
        let kit = Kit {
            provider: options.provider,
            fallback: options.fallback.into_iter().map(Arc::new).collect(),
            toolbox: options.toolbox,
            cwd: options.cwd.clone(),
            rules: options.rules,
            conversation_id: journal.id(),
            call_names: CallNames::new(options.spill_dir),
            windows: Windows::default(),
        };
        Self {
            kit: Arc::new(kit),
            processes: options.processes,
            ledger: Ledger::new(journal, prompts, messages),
            queues: Queues::default(),
            state: RunState::Idle,
            model,
            thinking: options.thinking,
            token,
            run: None,
            next_prompts: Vec::new(),
            calls: 0,
            stale_abort: false,
            leaving: false,
            farewell: None,
        }
    }

    async fn serve(mut self, mut commands: mpsc::UnboundedReceiver<Command>) {
        self.ledger.journal.appear(&self.model);
        let processes = self.processes.clone();
        while !self.leaving || self.run.is_some() {
            let stopping = matches!(self.state, RunState::Stopping { .. });
            let reading = self.may_read_run();
            select! {
                biased;
                command = commands.recv(), if !self.leaving => self.on_command(command),
                dropped = self.ledger.audience.catch_up(), if self.ledger.audience.behind() => self.on_dropped(dropped),
                report = next_report(&mut self.run), if reading => self.on_report(report).await,
                () = processes.empty(), if stopping => self.enter(RunState::Idle),
            }
        }
        let messages = self.queues.take_all();
        self.give_back(messages);
        tracing::info!("leaving: no run is under way");
        self.processes.stop_all();
        tracing::info!("leaving: commands were told to end");
        self.ledger.close().await;
        tracing::info!("leaving: the session is on disk");
        let _ = timeout(FAREWELL, self.ledger.audience.catch_up_all()).await;
        tracing::info!("leaving: closed");
        if let Some(done) = self.farewell {
            let _ = done.send(());
        }
    }

    /// A subscriber that is behind holds the run back; not once the turn was cut short, for its
    /// end must not wait for anyone.
    fn may_read_run(&self) -> bool {
        self.run
            .as_ref()
            .is_some_and(|run| run.interrupt.is_cancelled() || !self.ledger.audience.behind())
    }

    fn on_command(&mut self, command: Option<Command>) {
        match command {
            Some(Command::Prompt(content)) => self.hear(QueueKind::Steering, content),
            Some(Command::Queue(kind, content)) => self.hear(kind, content),
            Some(Command::SteerNow) => self.steer_now(),
            Some(Command::TakeBack(id)) => {
                let messages = self.queues.take_back(id);
                self.give_back(messages);
            }
            Some(Command::Abort) => self.abort(),
            Some(Command::Continue) => self.go_on(),
            Some(Command::SetModel(model)) => self.change_model(Arc::new(*model), self.thinking),
            Some(Command::SetThinking(level)) => {
                self.change_model(Arc::clone(&self.model), level);
            }
            Some(Command::Warm) => self.warm(),
            Some(Command::Subscribe(sender)) => self.ledger.audience.join(sender),
            Some(Command::Shutdown(done)) => {
                self.farewell = Some(done);
                self.leave();
            }
            None => self.leave(),
        }
    }

    fn warm(&self) {
        self.kit.provider.warm(&self.model);
        if self.run.is_some() {
            return;
        }
        let (kit, model) = (Arc::clone(&self.kit), Arc::clone(&self.model));
        let Some(prompt) = self.ledger.prompts.in_force(model.edit_format).cloned() else {
            return;
        };
        let (thinking, messages) = (self.thinking, self.ledger.context.messages().to_vec());
        drop(tokio::task::spawn_blocking(move || {
            let request = kit.request(&model, thinking, &prompt, messages);
            kit.provider.prepare(request);
        }));
    }

    /// A message of a person: it waits while a run is under way, else it starts one.
    fn hear(&mut self, kind: QueueKind, content: Vec<Content>) {
        match &self.run {
            None => {
                self.queues.push_opening(content);
                self.start_run();
            }
            Some(run) if run.cancel.is_cancelled() => self.next_prompts.push(content),
            Some(_) => {
                self.queues.push(kind, content);
                self.show_queues();
            }
        }
    }

    fn steer_now(&mut self) {
        match &self.run {
            Some(run) if self.queues.steering_waits() || self.state.is_retrying() => {
                run.interrupt.cancel();
            }
            None if self.queues.steering_waits() || self.queues.follow_up_waits() => self.go_on(),
            _ => {}
        }
    }

    fn abort(&mut self) {
        match &mut self.run {
            _ if std::mem::take(&mut self.stale_abort) => {}
            Some(run) if !run.aborted => {
                run.aborted = true;
                run.cancel.cancel();
            }
            _ => {
                self.processes.kill_all();
                self.recall_next_prompts();
            }
        }
    }

    /// Lets the prompts for the next run go where the ending run's queue goes.
    fn recall_next_prompts(&mut self) {
        for content in std::mem::take(&mut self.next_prompts) {
            self.queues.push_opening(content);
        }
    }

    /// Goes on where a limit or a failure stopped the last run, or with what waits.
    fn go_on(&mut self) {
        if self.run.is_some() {
            return;
        }
        if !self.ledger.context.awaits_model() && !self.queues.steering_waits() {
            if !self.queues.follow_up_waits() {
                return;
            }
            self.queues
                .release_follow_ups(self.kit.rules.follow_up_mode);
            self.show_queues();
        }
        self.start_run();
    }

    fn change_model(&mut self, model: Arc<Model>, thinking: ThinkingLevel) {
        if let Some(run) = &mut self.run
            && model != self.model
        {
            run.stand_in = None;
        }
        self.ledger.model_changed(&model, thinking);
        self.model = model;
        self.thinking = thinking;
    }

    fn leave(&mut self) {
        self.leaving = true;
        self.recall_next_prompts();
        if let Some(run) = &mut self.run {
            run.aborted = true;
            run.cancel.cancel();
        }
    }

    fn start_run(&mut self) {
        let cancel = self.token.renew();
        let (desk, reports) = Desk::new(cancel.clone());
        let kit = Arc::clone(&self.kit);
        self.calls = 0;
        self.run = Some(Run {
            reports,
            task: tokio::spawn(async move { run(&desk, &kit).await }),
            interrupt: cancel.child_token(),
            cancel,
            aborted: false,
            first_message: self.ledger.context.messages().len(),
            stand_in: None,
            advice: None,
        });
    }

    async fn on_report(&mut self, report: Option<Report>) {
        match report {
            Some(Report::Event(event)) => self.ledger.publish(event),
            Some(Report::Phase(phase)) => self.enter(RunState::Running { phase }),
            Some(Report::OpenTurn(reply)) => {
                let _ = reply.send(self.open_turn());
            }
            Some(Report::ReopenTurn(change, reply)) => {
                let _ = reply.send(self.reopen_turn(change));
            }
            Some(Report::Advise(text)) => {
                if let Some(run) = &mut self.run {
                    run.advice = Some(text);
                }
            }
            Some(Report::SteeringWaits(reply)) => {
                let _ = reply.send(self.queues.steering_waits());
            }
            Some(Report::ReleaseFollowUps(reply)) => {
                let _ = reply.send(self.release_follow_ups());
            }
            None => self.end_run().await,
        }
    }

    fn open_turn(&mut self) -> Result<Turn, RunOutcome> {
        let Some(run) = self.run.as_mut().filter(|run| !run.cancel.is_cancelled()) else {
            return Err(RunOutcome::Aborted);
        };
        if self.queues.steering_waits() {
            self.calls = 0;
        }
        let limit = self.kit.rules.max_iterations;
        if limit > 0 && self.calls >= limit {
            return Err(RunOutcome::LimitReached { limit });
        }
        self.calls += 1;
        let advice = run.advice.take();
        let iteration = self.ledger.context.begin_iteration();
        self.ledger.send(AgentEvent::TurnStart { iteration });
        self.deliver(advice);
        self.turn()
    }

    fn reopen_turn(&mut self, change: Change) -> Result<Turn, RunOutcome> {
        let Some(run) = self.run.as_mut().filter(|run| !run.cancel.is_cancelled()) else {
            return Err(RunOutcome::Aborted);
        };
        if let Change::Model(model) = &change {
            run.stand_in = Some(Arc::clone(model));
        }
        if self.queues.steering_waits() {
            // The call that is made again is the first since then.
            self.calls = 1;
        }
        // From here on a person who hurries means the steering queue, no longer the wait.
        self.enter(RunState::Running {
            phase: Phase::Requesting,
        });
        self.deliver(None);
        if let Change::NoThinking = change {
            let format = self.asked().edit_format;
            self.ledger.drop_thinking(format);
        }
        self.turn()
    }

    /// The turn as it stands now, with a fresh way to cut it short.
    fn turn(&mut self) -> Result<Turn, RunOutcome> {
        let model = Arc::clone(self.asked());
        let prompt = self.ledger.prompts.in_force(model.edit_format).cloned();
        let run = self.run.as_mut().ok_or(RunOutcome::Aborted)?;
        run.interrupt = run.cancel.child_token();
        Ok(Turn {
            interrupt: run.interrupt.clone(),
            messages: self.ledger.context.messages().to_vec(),
            model,
            thinking: self.thinking,
            prompt: prompt.unwrap_or_default(),
        })
    }

    /// The model of the next call.
    fn asked(&self) -> &Arc<Model> {
        let stand_in = self.run.as_ref().and_then(|run| run.stand_in.as_ref());
        stand_in.unwrap_or(&self.model)
    }

    /// Moves the messages that are due from the queue into the conversation.
    fn deliver(&mut self, advice: Option<String>) {
        let shown = self.queues.steering_waits();
        let due = self.queues.take_for_turn(self.kit.rules.steering_mode);
        if shown {
            self.show_queues();
        }
        let due = due.into_iter().map(|queued| queued.content).collect();
        let (kit, model) = (Arc::clone(&self.kit), Arc::clone(self.asked()));
        self.ledger.deliver(due, advice, &model, &kit.toolbox);
    }

    fn release_follow_ups(&mut self) -> Result<bool, RunOutcome> {
        let limit = self.kit.rules.max_iterations;
        if !self.queues.follow_up_waits() {
            return Ok(false);
        }
        if limit > 0 && self.calls >= limit {
            return Err(RunOutcome::LimitReached { limit });
        }
        self.queues
            .release_follow_ups(self.kit.rules.follow_up_mode);
        self.show_queues();
        Ok(true)
    }

    async fn end_run(&mut self) {
        let Some(run) = self.run.take() else { return };
        let mut outcome = run.task.await.unwrap_or_else(|error| {
            let message = format!("Internal error: {error}");
            RunOutcome::Failed { message }
        });
        if run.cancel.is_cancelled() {
            // It may have come to its end just before it noticed.
            outcome = RunOutcome::Aborted;
        }
        for message in self.ledger.context.missing_results(now_ms()) {
            self.ledger.publish_whole(message);
        }
        self.ledger.context.complete_iteration();
        let (aborted, done) = (outcome == RunOutcome::Aborted, outcome == RunOutcome::Done);
        let limited = matches!(outcome, RunOutcome::LimitReached { .. });
        self.stale_abort = aborted && !run.aborted;
        if aborted {
            let messages = self.queues.take_all();
            self.give_back(messages);
        }
        if let RunOutcome::LimitReached { limit } = outcome {
            self.ledger.notice(NoticeLevel::Warning, limit_text(limit));
        }
        self.ledger.publish(AgentEvent::AgentEnd {
            messages: self.ledger.context.messages()[run.first_message..].to_vec(),
            outcome,
        });
        self.processes.stop_all();
        let alive = if aborted { self.processes.alive() } else { 0 };
        self.enter(match alive {
            0 => RunState::Idle,
            processes => RunState::Stopping { processes },
        });
        if limited {
            self.ledger.journal.show_waiting();
        }
        if done {
            // What was typed after the run's last look at the queue.
            self.go_on();
        } else if !self.next_prompts.is_empty() {
            self.recall_next_prompts();
            self.start_run();
        }
        if self.run.is_none() {
            self.ledger.send(AgentEvent::AgentSettled { aborted });
        }
    }

    fn give_back(&mut self, messages: Vec<Queued>) {
        if messages.is_empty() {
            return;
        }
        self.show_queues();
        self.ledger.send(AgentEvent::QueueReturned { messages });
    }

    fn enter(&mut self, state: RunState) {
        if self.state != state {
            self.ledger.journal.show(&state);
            self.state = state.clone();
            self.ledger.send(AgentEvent::State(state));
        }
    }

    fn show_queues(&mut self) {
        let (steering, follow_up) = self.queues.shown();
        self.ledger.send(AgentEvent::QueueUpdate {
            steering,
            follow_up,
        });
    }

    fn on_dropped(&mut self, dropped: usize) {
        if dropped > 0 {
            let text = "A listener took nothing for 5 s and hears no more events.";
            tracing::warn!("{text}");
            self.ledger.notice(NoticeLevel::Warning, text);
        }
    }
}

/// The run's next report; none when its task has ended.
async fn next_report(run: &mut Option<Run>) -> Option<Report> {
    match run {
        Some(run) => run.reports.recv().await,
        None => std::future::pending().await,
    }
}
