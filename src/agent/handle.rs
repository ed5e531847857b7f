//! The only interface to an agent: a handle that is cheap to clone and never blocks.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::budget::Budget;
use super::current_run::CurrentRun;
use super::event::{Event, NoticeLevel, QueueKind, Queued, RunId, RunState};
use super::memory::InstructionSources;
use super::memory::compaction::ContextUsage;
use super::permission::{PermissionMode, Rule};
use super::question::{Answer, Question};
pub use super::refused::{OpenRefused, Refused};
use super::rules::LoopRules;
use super::session::{HistoryFacts, Session, SessionBranch, SessionView};
use super::undo::UndoCommand;
use tiller_llm::{Content, Model, ThinkingLevel, Usage};

/// Events that a subscriber may leave unread before the agent waits for it.
pub const EVENT_BUFFER: usize = 256;

/// How long shutting down an agent may take.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(6);

/// Controls one agent. Cheap to clone. No call blocks or fails; an agent that has ended ignores it.
#[derive(Clone, Debug)]
pub struct AgentHandle {
    commands: mpsc::UnboundedSender<Command>,
    run: CurrentRun,
    client: u64,
}

/// What happens to a subscriber that doesn't read its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowReader {
    /// It is dropped after 5 s, and the others are told. For one of several front ends.
    Drop,
    /// It holds the run back as long as needed and loses nothing. For the only reader.
    Wait,
}

/// The current state of an agent.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Facts about the conversation so far, as a model reads it.
    pub facts: Arc<HistoryFacts>,
    /// The same conversation as the user reads it.
    pub branch: Arc<SessionBranch>,
    /// The agent's activity.
    pub state: RunState,
    /// Questions without an answer.
    pub questions: Vec<Arc<Question>>,
    /// Queued messages to send between tool calls.
    pub steering: Vec<Queued>,
    /// Queued messages to send at the end of the run.
    pub follow_up: Vec<Queued>,
    /// The model for the next call.
    pub model: Arc<Model>,
    /// The thinking level for the next call.
    pub thinking: ThinkingLevel,
    /// The permission mode for the next call.
    pub permission: PermissionMode,
    /// The session's budget.
    pub budget: Budget,
    /// Tokens and cost of all branches of the session.
    pub usage: Usage,
    /// The rules of the loop.
    pub rules: Arc<LoopRules>,
    /// The session.
    pub session: SessionInfo,
}

/// What identifies a session, and how it is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionInfo {
    /// Its id.
    pub id: String,
    /// Its file, or `None` if it isn't stored.
    pub path: Option<PathBuf>,
    /// The name that the user gave it.
    pub name: Option<String>,
    /// The user's first prompt in it.
    pub first_prompt: Option<String>,
    /// `true` if it is read-only: nothing is sent or stored.
    pub read_only: bool,
}

/// The commands of [`AgentHandle`]'s methods, which document them. The actor reads them in order.
#[derive(Debug)]
pub(super) enum Command {
    /// The last field of this, and of some others, is the client that sends it.
    Message(QueueKind, Vec<Content>, u64),
    Submit(Box<Submission>, oneshot::Sender<Result<Delivery, Refused>>),
    Listening(Option<PathBuf>),
    Notify(NoticeLevel, String),
    SteerNow,
    TakeBack(Option<u64>, u64),
    ClearQueue(oneshot::Sender<Vec<Queued>>),
    Release(Vec<u64>),
    Detach(u64),
    Abort {
        /// `true` if the handle has cancelled a run.
        cancelled: bool,
        by: u64,
    },
    AbortRun(RunId, u64),
    Continue,
    SetPermission(PermissionMode),
    PermissionRules(oneshot::Sender<Vec<Rule>>),
    RemoveRule(Box<Rule>),
    Answer(u64, Answer, u64),
    RaiseBudget,
    SetBudget(Budget),
    SetModel(Box<Model>),
    SetThinking(ThinkingLevel),
    Open(Box<OpenSession>, oneshot::Sender<Result<(), OpenRefused>>),
    SetInstructions(InstructionSources),
    SetRules(Box<LoopRules>),
    Name(String),
    Compact(Option<String>),
    /// This and the next two with the client that sends it.
    Uncompact(u64),
    ContextUsage(oneshot::Sender<ContextUsage>),
    Tree(TreeCommand, u64),
    Undo(UndoCommand, u64),
    Trial(TrialCommand),
    Warm,
    Subscribe(mpsc::Sender<Arc<Event>>, SlowReader),
    Snapshot(oneshot::Sender<Snapshot>),
    Resubscribe(mpsc::Sender<Arc<Event>>, oneshot::Sender<Snapshot>),
    Shutdown(oneshot::Sender<Option<String>>),
}

/// A user message whose sender wants an answer.
#[derive(Clone, Debug)]
pub struct Submission {
    /// The queue it waits in if a run is active.
    pub kind: QueueKind,
    /// Text and images.
    pub content: Vec<Content>,
    /// The sender, as in [`UserMessage::origin`](tiller_llm::UserMessage::origin); `None` for the
    /// front end itself.
    pub origin: Option<String>,
    /// The id of the session it is meant for, or `None` for any.
    pub session: Option<String>,
    /// When to accept it.
    pub accept: Accept,
}

/// When the agent accepts a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accept {
    /// Always: it starts a run or waits in a queue.
    Always,
    /// Only if it starts a run.
    Idle,
    /// Only during a run, because the program exits after it.
    Running,
}

/// What happened to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// It started this run, or will once the aborted run has ended.
    Started(RunId),
    /// It waits in this queue.
    Queued(QueueKind),
}

#[derive(Debug)]
pub(super) enum TreeCommand {
    Read(oneshot::Sender<SessionView>),
    GoTo {
        entry: String,
        leaving: Leaving,
    },
    EditLast,
    Label {
        entry: Option<String>,
        label: Option<String>,
    },
}

#[derive(Debug)]
pub(super) enum TrialCommand {
    Begin(Vec<Content>, u64),
    Keep,
    Discard,
}

/// What the model learns about a branch that the conversation leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaving {
    /// Nothing.
    Silently,
    /// A summary, which the model writes first.
    WithSummary,
}

/// A session to switch to.
#[derive(Debug)]
pub struct OpenSession {
    /// The session that will store the conversation.
    pub session: Session,
    /// Facts about the conversation at its leaf, from [`Session::facts`].
    pub facts: HistoryFacts,
    /// Folder for outputs that are too long for the model.
    pub spill_dir: PathBuf,
    /// The model to use, or `None` to keep the current one.
    pub model: Option<Arc<Model>>,
    /// The thinking level to use, or `None` to keep the current one.
    pub thinking: Option<ThinkingLevel>,
}

impl AgentHandle {
    pub(super) fn new() -> (Self, mpsc::UnboundedReceiver<Command>, CurrentRun) {
        let (commands, receiver) = mpsc::unbounded_channel();
        let run = CurrentRun::default();
        let handle = Self {
            commands,
            run: run.clone(),
            client: 0,
        };
        (handle, receiver, run)
    }

    /// Returns a handle for another front end of the same agent. `client` identifies it; 0 is the front end that
    /// started the agent. [`AgentEvent::QueueReturned`](super::AgentEvent::QueueReturned) names its receiver by it.
    pub fn for_client(&self, client: u64) -> Self {
        Self {
            client,
            ..self.clone()
        }
    }

    /// How much longer [`Self::shutdown`] may take because of hooks for the session's end.
    pub fn end_limit(&self) -> Duration {
        self.run.end_limit()
    }

    /// Sends a user message: starts a run if idle, else steers.
    pub fn prompt(&self, content: Vec<Content>) {
        self.steer(content);
    }

    /// Sends a user message: starts a run if idle, else steers before the next tool group or call.
    pub fn steer(&self, content: Vec<Content>) {
        self.send(Command::Message(QueueKind::Steering, content, self.client));
    }

    /// Sends a user message: starts a run if idle, else it is sent when the agent would stop.
    pub fn follow_up(&self, content: Vec<Content>) {
        self.send(Command::Message(QueueKind::FollowUp, content, self.client));
    }

    /// Sends a user message and returns what happened to it. The agent has accepted nothing until
    /// this succeeds.
    pub async fn submit(&self, message: Submission) -> Result<Delivery, Refused> {
        let delivery = self.ask(|answer| Command::Submit(Box::new(message), answer));
        delivery.await.unwrap_or(Err(Refused::Leaving))
    }

    /// Sets where other programs, which find it by the session, can send messages to the agent.
    pub fn listening(&self, socket: Option<PathBuf>) {
        self.send(Command::Listening(socket));
    }

    /// Shows the user a notice, through all subscribers.
    pub fn notify(&self, level: NoticeLevel, text: String) {
        self.send(Command::Notify(level, text));
    }

    /// Interrupts the run to deliver the waiting steering messages.
    pub fn steer_now(&self) {
        self.send(Command::SteerNow);
    }

    /// Takes back one waiting message, or all of them.
    pub fn take_back(&self, id: Option<u64>) {
        self.send(Command::TakeBack(id, self.client));
    }

    /// Takes back all waiting messages for good. Unlike [`Self::take_back`] this returns them to
    /// the caller only.
    pub async fn clear_queue(&self) -> Vec<Queued> {
        self.ask(Command::ClearQueue).await.unwrap_or_default()
    }

    /// Releases messages that were given back, once their receiver has stored them. Until then they wait
    /// again when the session is opened.
    pub fn release(&self, ids: Vec<u64>) {
        self.send(Command::Release(ids));
    }

    /// Ends this front end. Messages that it got back and didn't release return to the front end that started
    /// the agent.
    pub fn detach(&self) {
        self.send(Command::Detach(self.client));
    }

    /// Stops the run at once. A second call kills the remaining processes.
    pub fn abort(&self) {
        let by = self.client;
        self.run
            .cancel(by, |cancelled| self.send(Command::Abort { cancelled, by }));
    }

    /// Stops this run at once, even before it starts, but not a later one. Does nothing if it has ended.
    pub fn abort_run(&self, run: RunId) {
        let by = self.client;
        self.run
            .cancel_only(run, by, || self.send(Command::AbortRun(run, by)));
    }

    /// Continues after the iteration limit.
    pub fn go_on(&self) {
        self.send(Command::Continue);
    }

    /// Changes the permission mode from the next call on.
    pub fn set_permission(&self, mode: PermissionMode) {
        self.send(Command::SetPermission(mode));
    }

    /// Returns the permission rules of the user, the project and this session, or `None` if the agent has
    /// ended.
    pub async fn permission_rules(&self) -> Option<Vec<Rule>> {
        self.ask(Command::PermissionRules).await
    }

    /// Drops a rule of the user from the next call on.
    pub fn remove_permission_rule(&self, rule: Rule) {
        self.send(Command::RemoveRule(Box::new(rule)));
    }

    /// Answers the question with this id. Does nothing if it no longer waits.
    pub fn answer(&self, id: u64, answer: Answer) {
        self.send(Command::Answer(id, answer, self.client));
    }

    /// Raises the limits that are used up by another whole budget.
    pub fn raise_budget(&self) {
        self.send(Command::RaiseBudget);
    }

    /// Sets the budget of this session. Other sessions keep their original budget.
    pub fn set_budget(&self, budget: Budget) {
        self.send(Command::SetBudget(budget));
    }

    /// Changes the model from the next call on.
    pub fn set_model(&self, model: Model) {
        self.send(Command::SetModel(Box::new(model)));
    }

    /// Changes the thinking level from the next call on.
    pub fn set_thinking(&self, thinking: ThinkingLevel) {
        self.send(Command::SetThinking(thinking));
    }

    /// Switches to another session in the same folder, and closes the previous one.
    ///
    /// # Errors
    /// Fails if a run is active or the current session can't be saved. It stays open then.
    pub async fn open(&self, session: OpenSession) -> Result<(), OpenRefused> {
        let opened = self.ask(|answer| Command::Open(Box::new(session), answer));
        opened.await.unwrap_or(Err(OpenRefused::Gone))
    }

    /// Sends a user message in a trial: the conversation forks, and the agent works in a git worktree
    /// until the trial is kept or discarded. If that isn't possible, the message goes back to the user.
    pub fn begin_trial(&self, content: Vec<Content>) {
        self.send(Command::Trial(TrialCommand::Begin(content, self.client)));
    }

    /// Ends the open trial and applies its changes to the user's files.
    pub fn keep_trial(&self) {
        self.send(Command::Trial(TrialCommand::Keep));
    }

    /// Ends the open trial. Conversation and files are as before it.
    pub fn discard_trial(&self) {
        self.send(Command::Trial(TrialCommand::Discard));
    }

    /// Undoes or redoes file changes, or previews that.
    pub fn undo(&self, command: UndoCommand) {
        self.send(Command::Undo(command, self.client));
    }

    /// Sets where instruction files may come from, from the next run on.
    pub fn set_instructions(&self, sources: InstructionSources) {
        self.send(Command::SetInstructions(sources));
    }

    /// Sets the rules of the loop, from the next turn on.
    pub fn set_rules(&self, rules: LoopRules) {
        self.send(Command::SetRules(Box::new(rules)));
    }

    /// Names the session. An empty name removes it.
    pub fn name(&self, name: String) {
        self.send(Command::Name(name));
    }

    /// Replaces all but the latest messages with a summary: now, or before the next model call of
    /// the current run. The summary pays special attention to `focus`.
    pub fn compact(&self, focus: Option<String>) {
        self.send(Command::Compact(focus));
    }

    /// Returns what fills the model's window, or `None` if the agent has ended.
    pub async fn context_usage(&self) -> Option<ContextUsage> {
        self.ask(Command::ContextUsage).await
    }

    /// Undoes the last compaction if no run is active. Later messages stay in the tree, and the first
    /// later prompt comes back in [`AgentEvent::Moved`](super::AgentEvent::Moved).
    pub fn uncompact(&self) {
        self.send(Command::Uncompact(self.client));
    }

    /// Returns a snapshot of the session's tree, or `None` if the agent has ended.
    pub async fn tree(&self) -> Option<SessionView> {
        self.ask(|answer| Command::Tree(TreeCommand::Read(answer), self.client))
            .await
    }

    /// Continues from the entry with this id, if no run is active. Everything stays in the tree. A
    /// user prompt means the place it was sent from, and comes back in
    /// [`AgentEvent::Moved`](super::AgentEvent::Moved).
    pub fn go_to(&self, entry: String, leaving: Leaving) {
        let command = TreeCommand::GoTo { entry, leaving };
        self.send(Command::Tree(command, self.client));
    }

    /// Goes back to before the last prompt, like [`Self::go_to`].
    pub fn edit_last_prompt(&self) {
        self.send(Command::Tree(TreeCommand::EditLast, self.client));
    }

    /// Labels the entry with this id, or the last one of the conversation. `None` removes the label.
    pub fn label(&self, entry: Option<String>, label: Option<String>) {
        let command = TreeCommand::Label { entry, label };
        self.send(Command::Tree(command, self.client));
    }

    /// Prepares what the next prompt needs, so that it is sent without delay. Reports nothing.
    pub fn warm(&self) {
        self.send(Command::Warm);
    }

    /// Returns all events from now on, in order. `slow` says what happens after 256 unread ones.
    pub fn subscribe(&self, slow: SlowReader) -> mpsc::Receiver<Arc<Event>> {
        let (sender, receiver) = mpsc::channel(EVENT_BUFFER);
        self.send(Command::Subscribe(sender, slow));
        receiver
    }

    /// Returns the agent's current state, or `None` if the agent has ended.
    pub async fn snapshot(&self) -> Option<Snapshot> {
        self.ask(Command::Snapshot).await
    }

    /// Returns the agent's current state and all events after it, for a subscriber that was
    /// dropped. `None` if the agent has ended.
    pub async fn resubscribe(&self) -> Option<(Snapshot, mpsc::Receiver<Arc<Event>>)> {
        let (sender, receiver) = mpsc::channel(EVENT_BUFFER);
        let snapshot = self.ask(|answer| Command::Resubscribe(sender, answer));
        Some((snapshot.await?, receiver))
    }

    /// Shuts the agent down: aborts the run, stops its processes, and waits until the session is on
    /// disk. Gives up after 6 s if the disk hangs. Returns a message for the user if something couldn't
    /// be saved.
    pub async fn shutdown(&self) -> Option<String> {
        let (done, wait) = oneshot::channel();
        self.run
            .cancel(self.client, |_| self.send(Command::Shutdown(done)));
        let Ok(unsaved) = timeout(SHUTDOWN_LIMIT + self.end_limit(), wait).await else {
            tracing::warn!("the agent doesn't stop");
            return Some("the agent doesn't stop; tiller quits anyway".to_owned());
        };
        unsaved.ok().flatten()
    }

    async fn ask<T>(&self, question: impl FnOnce(oneshot::Sender<T>) -> Command) -> Option<T> {
        let (answer, answered) = oneshot::channel();
        self.send(question(answer));
        answered.await.ok()
    }

    fn send(&self, command: Command) {
        let _ = self.commands.send(command);
    }
}
