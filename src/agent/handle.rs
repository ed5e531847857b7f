//! The only way in: a handle that is cheap to clone and never blocks.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::budget::Budget;
use super::event::{Event, NoticeLevel, QueueKind, Queued, RunState};
use super::lock::lock;
use super::memory::InstructionSources;
use super::memory::compaction::ContextUsage;
use super::permission::PermissionMode;
use super::question::{Answer, Question};
pub use super::refused::{OpenRefused, Refused};
use super::rules::LoopRules;
use super::session::{HistoryFacts, Session, SessionBranch, SessionSnapshot};
use super::undo::UndoCommand;
use crate::llm::{Content, Model, ThinkingLevel};

/// Events a subscriber may leave unread before the agent waits for it.
pub const EVENT_BUFFER: usize = 256;

/// How long the end of an agent may take.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(6);

/// Speaks to one agent. Cheap to clone; no call blocks or fails: an agent that is gone ignores it.
#[derive(Clone, Debug)]
pub struct AgentHandle {
    commands: mpsc::UnboundedSender<Command>,
    run: CurrentRun,
}

/// What cancels the run under way, shared by handle and actor so that an abort does not wait for
/// the command queue. None when no run is under way, or it was cancelled.
#[derive(Clone, Debug, Default)]
pub(super) struct CurrentRun(Arc<Mutex<Option<CancellationToken>>>);

impl CurrentRun {
    pub fn begin(&self) -> CancellationToken {
        let token = CancellationToken::new();
        *lock(&self.0) = Some(token.clone());
        token
    }

    pub fn end(&self) {
        *lock(&self.0) = None;
    }

    /// Cancels the run under way and has `send` tell the actor whether there was one. Holding the
    /// lock while sending means that no run can start between the cancellation and the message.
    fn cancel(&self, send: impl FnOnce(bool)) {
        let mut current = lock(&self.0);
        let token = current.take();
        if let Some(token) = &token {
            token.cancel();
        }
        send(token.is_some());
    }
}

/// What becomes of a subscriber that does not read its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowReader {
    /// It is dropped after 5 s, and the others are told: for one of several front ends.
    Drop,
    /// It holds the run back for as long as it likes and loses nothing: for the only reader.
    Wait,
}

/// Where an agent stands.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The conversation so far, as a model reads it.
    pub facts: Arc<HistoryFacts>,
    /// The same as the user reads it.
    pub branch: Arc<SessionBranch>,
    /// What the agent does.
    pub state: RunState,
    /// Questions that wait for an answer.
    pub questions: Vec<Arc<Question>>,
    /// Messages that wait to be delivered between tool calls.
    pub steering: Vec<Queued>,
    /// Messages that wait for the end of the run.
    pub follow_up: Vec<Queued>,
}

/// What can be asked of an agent, as the methods of [`AgentHandle`] say that send it. Read by the actor
/// in order.
#[derive(Debug)]
pub enum Command {
    Message(QueueKind, Vec<Content>),
    External(
        Box<ExternalMessage>,
        oneshot::Sender<Result<Delivery, Refused>>,
    ),
    Listening(Option<PathBuf>),
    Notify(NoticeLevel, String),
    SteerNow,
    TakeBack(Option<u64>),
    Release(Vec<u64>),
    Abort {
        /// Whether the handle has cancelled a run.
        cancelled: bool,
    },
    Continue,
    SetPermission(PermissionMode),
    Answer(u64, Answer),
    RaiseBudget,
    SetBudget(Budget),
    SetModel(Box<Model>),
    SetThinking(ThinkingLevel),
    Open(Box<OpenSession>, oneshot::Sender<Result<(), OpenRefused>>),
    SetInstructions(InstructionSources),
    SetRules(Box<LoopRules>),
    Name(String),
    Compact(Option<String>),
    Uncompact,
    ContextUsage(oneshot::Sender<ContextUsage>),
    Tree(TreeCommand),
    Trial(TrialCommand),
    Undo(UndoCommand),
    Warm,
    Subscribe(mpsc::Sender<Arc<Event>>, SlowReader),
    Resubscribe(mpsc::Sender<Arc<Event>>, oneshot::Sender<Snapshot>),
    Shutdown(oneshot::Sender<Option<String>>),
}

/// A message of the user from another program.
#[derive(Clone, Debug)]
pub struct ExternalMessage {
    /// Which queue it waits in while a run is under way.
    pub kind: QueueKind,
    /// What it says.
    pub text: String,
    /// The id of the session it is meant for; any when there is none.
    pub session: Option<String>,
    /// Whether it may start a run.
    pub when_idle: WhenIdle,
}

/// What a message of another program does when no run is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenIdle {
    /// It starts one.
    Start,
    /// It is refused: the program is about to end.
    Refuse,
}

/// What became of a message of another program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// It started a run, or starts the next one when an aborted run has ended.
    Started,
    /// It waits in this queue.
    Queued(QueueKind),
}

#[derive(Debug)]
pub enum TreeCommand {
    Read(oneshot::Sender<SessionSnapshot>),
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
pub enum TrialCommand {
    Begin(Vec<Content>),
    Keep,
    Discard,
}

/// What the model is told of a branch that is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaving {
    /// Nothing.
    Silently,
    /// A summary, which it makes before.
    WithSummary,
}

/// A session to go on with.
#[derive(Debug)]
pub struct OpenSession {
    /// Where the conversation is stored from now on.
    pub session: Session,
    /// The conversation at its leaf, as [`Session::facts`] gives it.
    pub facts: HistoryFacts,
    /// Folder for outputs too long for the model.
    pub spill_dir: PathBuf,
    /// The model it goes on with; none keeps the one in use.
    pub model: Option<Arc<Model>>,
    /// The thinking level it goes on with; none keeps the one in use.
    pub thinking: Option<ThinkingLevel>,
}

impl AgentHandle {
    pub(super) fn new() -> (Self, mpsc::UnboundedReceiver<Command>, CurrentRun) {
        let (commands, receiver) = mpsc::unbounded_channel();
        let run = CurrentRun::default();
        (
            Self {
                commands,
                run: run.clone(),
            },
            receiver,
            run,
        )
    }

    /// Sends a message of the user: starts a run when idle, else steers.
    pub fn prompt(&self, content: Vec<Content>) {
        self.steer(content);
    }

    /// Sends a message of the user: starts a run when idle, else goes out before the next tool group
    /// or model call.
    pub fn steer(&self, content: Vec<Content>) {
        self.send(Command::Message(QueueKind::Steering, content));
    }

    /// Sends a message of the user: starts a run when idle, else goes out when the agent would stop.
    pub fn follow_up(&self, content: Vec<Content>) {
        self.send(Command::Message(QueueKind::FollowUp, content));
    }

    /// Sends a message of the user from another program and answers what became of it. Until it
    /// answers with success, nothing was taken.
    pub async fn send_external(&self, message: ExternalMessage) -> Result<Delivery, Refused> {
        let delivery = self.ask(|answer| Command::External(Box::new(message), answer));
        delivery.await.unwrap_or(Err(Refused::Leaving))
    }

    /// Says where other programs can speak to the agent, for those who look for its session.
    pub fn listening(&self, socket: Option<PathBuf>) {
        self.send(Command::Listening(socket));
    }

    /// Tells all subscribers something the user should read.
    pub fn notify(&self, level: NoticeLevel, text: String) {
        self.send(Command::Notify(level, text));
    }

    /// Interrupts what runs and delivers the waiting steering messages.
    pub fn steer_now(&self) {
        self.send(Command::SteerNow);
    }

    /// Takes one waiting message back, or all of them.
    pub fn take_back(&self, id: Option<u64>) {
        self.send(Command::TakeBack(id));
    }

    /// Lets go of messages that were given back: whoever got them keeps them safe from now on. Until then
    /// they wait again when the session is opened.
    pub fn release(&self, ids: Vec<u64>) {
        self.send(Command::Release(ids));
    }

    /// Stops the run at once; a second call while processes still die kills them.
    pub fn abort(&self) {
        self.run
            .cancel(|cancelled| self.send(Command::Abort { cancelled }));
    }

    /// Goes on after the iteration limit.
    pub fn go_on(&self) {
        self.send(Command::Continue);
    }

    /// Changes what calls may do without a question, from the next one on.
    pub fn set_permission(&self, mode: PermissionMode) {
        self.send(Command::SetPermission(mode));
    }

    /// Answers the question with this id; nothing happens when it waits no more.
    pub fn answer(&self, id: u64, answer: Answer) {
        self.send(Command::Answer(id, answer));
    }

    /// Allows the session to spend as much again, where its budget is used up.
    pub fn raise_budget(&self) {
        self.send(Command::RaiseBudget);
    }

    /// Sets what this session may spend; other sessions have the budget they began with.
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

    /// Goes on with another session of the same folder; the one before is closed.
    ///
    /// # Errors
    /// A run is under way, or the one before cannot be saved. Then it stays open.
    pub async fn open(&self, session: OpenSession) -> Result<(), OpenRefused> {
        let opened = self.ask(|answer| Command::Open(Box::new(session), answer));
        opened.await.unwrap_or(Err(OpenRefused::Gone))
    }

    /// Sends a message of the user in a trial: the conversation forks, and the agent works in a git
    /// worktree until the trial is kept or discarded. Where that cannot be, the message goes back.
    pub fn begin_trial(&self, content: Vec<Content>) {
        self.send(Command::Trial(TrialCommand::Begin(content)));
    }

    /// Ends the open trial and takes its changes over into the user's files.
    pub fn keep_trial(&self) {
        self.send(Command::Trial(TrialCommand::Keep));
    }

    /// Ends the open trial: conversation and files are as they were before it.
    pub fn discard_trial(&self) {
        self.send(Command::Trial(TrialCommand::Discard));
    }

    /// Undoes or redoes changes of files, or says what that would change.
    pub fn undo(&self, command: UndoCommand) {
        self.send(Command::Undo(command));
    }

    /// Says where instruction files may come from, from the next run on.
    pub fn set_instructions(&self, sources: InstructionSources) {
        self.send(Command::SetInstructions(sources));
    }

    /// Sets the rules of the loop, from the next turn on.
    pub fn set_rules(&self, rules: LoopRules) {
        self.send(Command::SetRules(Box::new(rules)));
    }

    /// Names the session; an empty name takes the name away.
    pub fn name(&self, name: String) {
        self.send(Command::Name(name));
    }

    /// Has a summary stand for all but the latest messages: now, or before the next model call of
    /// the run under way. The summary pays special attention to `focus`.
    pub fn compact(&self, focus: Option<String>) {
        self.send(Command::Compact(focus));
    }

    /// Where the window of the model goes. None when the agent is gone.
    pub async fn context_usage(&self) -> Option<ContextUsage> {
        self.ask(Command::ContextUsage).await
    }

    /// Goes back to before the last compaction, when no run is under way: the conversation is as it
    /// was. What was said since stays in the tree, and its first prompt comes back in
    /// [`AgentEvent::Moved`](super::AgentEvent::Moved).
    pub fn uncompact(&self) {
        self.send(Command::Uncompact);
    }

    /// The tree of the session as it is, to be read elsewhere. None when the agent is gone.
    pub async fn tree(&self) -> Option<SessionSnapshot> {
        self.ask(|answer| Command::Tree(TreeCommand::Read(answer)))
            .await
    }

    /// Goes on from the entry with this id, when no run is under way; everything stays in the tree.
    /// A prompt of the user stands for the place it was sent from, and comes back in
    /// [`AgentEvent::Moved`](super::AgentEvent::Moved).
    pub fn go_to(&self, entry: String, leaving: Leaving) {
        self.send(Command::Tree(TreeCommand::GoTo { entry, leaving }));
    }

    /// Goes back to where the last prompt of the conversation was sent from, as [`Self::go_to`].
    pub fn edit_last_prompt(&self) {
        self.send(Command::Tree(TreeCommand::EditLast));
    }

    /// Labels the entry with this id, or the last one of the conversation; no label takes it away.
    pub fn label(&self, entry: Option<String>, label: Option<String>) {
        self.send(Command::Tree(TreeCommand::Label { entry, label }));
    }

    /// Opens what the next prompt will need, so that it leaves at once. Says nothing.
    pub fn warm(&self) {
        self.send(Command::Warm);
    }

    /// All events from now on, in order. A reader that leaves 256 events unread slows
    /// the agent; `slow` says for how long.
    pub fn subscribe(&self, slow: SlowReader) -> mpsc::Receiver<Arc<Event>> {
        let (sender, receiver) = mpsc::channel(EVENT_BUFFER);
        self.send(Command::Subscribe(sender, slow));
        receiver
    }

    /// Where the agent stands, and all events from there on: for a subscriber that was dropped.
    /// None when the agent is gone.
    pub async fn resubscribe(&self) -> Option<(Snapshot, mpsc::Receiver<Arc<Event>>)> {
        let (sender, receiver) = mpsc::channel(EVENT_BUFFER);
        let snapshot = self.ask(|answer| Command::Resubscribe(sender, answer));
        Some((snapshot.await?, receiver))
    }

    /// Ends everything in order and returns when the agent is done: run aborted, processes told
    /// to die, session on disk. On a disk that hangs it gives up after 6 s. Where something could not be
    /// saved, it says so for the user.
    pub async fn shutdown(&self) -> Option<String> {
        let (done, wait) = oneshot::channel();
        self.run.cancel(|_| self.send(Command::Shutdown(done)));
        let Ok(unsaved) = timeout(SHUTDOWN_LIMIT, wait).await else {
            let text = "the agent doesn't stop; tiller quits anyway";
            tracing::warn!("{text}");
            return Some(text.to_owned());
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
