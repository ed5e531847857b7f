//! A provider that plays a script, tools that wait for the test, and an agent with its events.
//! Nothing here sleeps: the test opens the gate of each stream and tool.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt, StreamExt};
use serde_json::{Value, json};
use tempfile::TempDir;
use tiller::agent::memory::{InstructionSources, Today};
use tiller::agent::process::{Orphans, Processes};
use tiller::agent::session::Session;
use tiller::agent::tool::{CommandDetails, TextDetails};
use tiller::agent::undo::Undo;
use tiller::agent::workspace::Places;
use tiller::agent::{
    self, AgentEvent, AgentHandle, AgentOptions, Budget, Details, Effects, Event, LazyRedactor,
    LoopRules, PermissionOptions, RetryRules, RuleSource, RunOutcome, SlowReader, Tool,
    ToolContext, ToolError, ToolOutput, Toolbox, TrialEvent,
};
use tiller::llm::{
    Api, BlockKind, Content, Message, Model, Provider, Request, StopReason, StreamEvent,
    ThinkingLevel, ToolCall, ToolSpec, Usage, WindowSource,
};
use tokio::sync::{Notify, Semaphore, mpsc};

/// One step of a scripted answer.
#[derive(Clone, Debug)]
pub enum Step {
    /// Arrives at once.
    Say(StreamEvent),
    /// Waits until the gate opens.
    Wait(Arc<Gate>),
    /// Panics, although providers promise never to.
    Panic,
}

/// Blocks until the test opens it. Each `open` lets one waiter through.
#[derive(Debug, Default)]
pub struct Gate {
    reached: Notify,
    permits: Option<Semaphore>,
}

impl Gate {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            reached: Notify::new(),
            permits: Some(Semaphore::new(0)),
        })
    }

    /// Waits until a task has reached the gate.
    pub async fn reached(&self) {
        within(self.reached.notified()).await;
    }

    pub fn open(&self) {
        self.permits.as_ref().unwrap().add_permits(1);
    }

    pub async fn pass(&self) {
        self.reached.notify_one();
        self.permits
            .as_ref()
            .unwrap()
            .acquire()
            .await
            .unwrap()
            .forget();
    }
}

/// Fails the test instead of hanging it.
pub async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), future)
        .await
        .expect("waited 20 s in vain")
}

/// Yields to other tasks until `holds` is true.
pub async fn eventually(holds: impl Fn() -> bool) {
    within(async {
        while !holds() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

/// Plays one script per request and keeps the requests.
#[derive(Default)]
pub struct Script {
    /// The window that the server loads a model with.
    pub loaded_window: Option<u64>,
    answers: Mutex<VecDeque<Vec<Step>>>,
    requests: Mutex<Vec<Request>>,
    live: Arc<()>,
}

impl Script {
    pub fn with(answers: Vec<Vec<Step>>) -> Self {
        Self {
            answers: Mutex::new(answers.into()),
            ..Self::default()
        }
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// Streams that have not been dropped.
    pub fn live_streams(&self) -> usize {
        Arc::strong_count(&self.live) - 1
    }
}

impl Provider for Script {
    fn loaded_window(&self, model: &Model) -> BoxFuture<'static, Option<u64>> {
        let estimated = model.window_source == WindowSource::Estimate;
        let window = self.loaded_window.filter(|_| estimated);
        std::future::ready(window).boxed()
    }

    fn stream(&self, request: Request) -> BoxStream<'static, StreamEvent> {
        self.requests.lock().unwrap().push(request);
        let steps = self
            .answers
            .lock()
            .unwrap()
            .pop_front()
            .unwrap_or_else(|| say("out of script"));
        let live = Arc::clone(&self.live);
        let steps = stream::iter(steps);
        steps
            .filter_map(move |step| {
                let _live = Arc::clone(&live);
                async move {
                    match step {
                        Step::Say(event) => Some(event),
                        Step::Wait(gate) => {
                            gate.pass().await;
                            None
                        }
                        Step::Panic => panic!("a provider's own fault"),
                    }
                }
            })
            .boxed()
    }
}

/// An answer with one text block.
pub fn say(text: &str) -> Vec<Step> {
    let mut steps = vec![start()];
    steps.extend(text_block(0, text));
    steps.push(done(StopReason::Stop));
    steps
}

/// `steps` as the answer to a prompt of this many tokens.
pub fn sized(mut steps: Vec<Step>, tokens: u64) -> Vec<Step> {
    let usage = Usage {
        input: tokens,
        ..Usage::default()
    };
    steps.insert(1, Step::Say(StreamEvent::Usage(usage)));
    steps
}

/// An answer that calls tools: (id, name, arguments).
pub fn call(calls: &[(&str, &str, Value)]) -> Vec<Step> {
    let mut steps = vec![start()];
    for (index, (id, name, args)) in calls.iter().enumerate() {
        steps.extend(call_block(index, id, name, &args.to_string()));
    }
    steps.push(done(StopReason::ToolUse));
    steps
}

pub fn start() -> Step {
    Step::Say(StreamEvent::Start {
        response_id: None,
        response_model: None,
    })
}

pub fn done(reason: StopReason) -> Step {
    Step::Say(StreamEvent::Done { reason, raw: None })
}

pub fn text_block(index: usize, text: &str) -> Vec<Step> {
    vec![
        Step::Say(StreamEvent::BlockStart {
            index,
            block: Content::text(""),
        }),
        delta(index, text),
        Step::Say(StreamEvent::BlockEnd {
            kind: BlockKind::Text,
            index,
            signature: None,
        }),
    ]
}

pub fn delta(index: usize, text: &str) -> Step {
    Step::Say(StreamEvent::BlockDelta {
        kind: BlockKind::Text,
        index,
        delta: text.to_owned(),
    })
}

pub fn call_block(index: usize, id: &str, name: &str, args: &str) -> Vec<Step> {
    vec![
        Step::Say(StreamEvent::BlockStart {
            index,
            block: Content::ToolCall(ToolCall {
                id: id.to_owned(),
                name: name.to_owned(),
                ..ToolCall::default()
            }),
        }),
        Step::Say(StreamEvent::BlockDelta {
            kind: BlockKind::ToolCall,
            index,
            delta: args.to_owned(),
        }),
        Step::Say(StreamEvent::BlockEnd {
            kind: BlockKind::ToolCall,
            index,
            signature: None,
        }),
    ]
}

/// What a [`FakeTool`] does when it runs.
#[derive(Clone)]
pub enum Act {
    /// Succeeds with this text.
    Succeed(String),
    /// Fails with this text.
    Fail(String),
    /// Panics with this text.
    Panic(String),
    /// Panics with this text, even when tiller asks for its effects.
    PanicEarly(String),
    /// Waits at the gate, then succeeds. Ignores an abort.
    Gate(Arc<Gate>),
    /// Like `Gate`, but gives up as soon as it is cancelled.
    Obey(Arc<Gate>),
    /// Shows this live output, then waits at the gate and ignores an abort.
    Output(String, Arc<Gate>),
    /// Shows this many lines of live output, one every so many milliseconds.
    Ticker(u32, u64),
    /// Succeeds with the paths it can read.
    AllowedReads,
    /// Like `Gate`, but its effect is a file write.
    Write(Arc<Gate>),
    /// Hangs while it makes the preview, until the test drops the other end.
    Stuck(Arc<Mutex<std::sync::mpsc::Receiver<()>>>),
    /// Writes a file. A cancel arrives while the change is being put in place, which takes this
    /// many milliseconds.
    FinishWhenCancelled(u64),
}

/// A tool for tests.
pub struct FakeTool {
    spec: ToolSpec,
    read_only: bool,
    act: Act,
    pub log: Arc<Mutex<Vec<String>>>,
}

impl FakeTool {
    pub fn new(name: &str, read_only: bool, act: Act, log: &Arc<Mutex<Vec<String>>>) -> Arc<Self> {
        Arc::new(Self {
            spec: ToolSpec {
                name: name.to_owned(),
                description: format!("The {name} tool."),
                parameters: json!({
                    "type": "object",
                    "properties": { "n": { "type": "integer" } },
                }),
                ..ToolSpec::default()
            },
            read_only,
            act,
            log: Arc::clone(log),
        })
    }
}

impl Tool for FakeTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effects(&self, args: &Value) -> Effects {
        if let Act::PanicEarly(text) = &self.act {
            panic!("{text}");
        }
        if let Act::FinishWhenCancelled(_) | Act::Write(_) = &self.act {
            Effects::write(vec!["file".into()])
        } else if self.read_only {
            Effects::read(args["n"].to_string())
        } else {
            Effects::unknown()
        }
    }

    fn preview(&self, _args: &Value) -> Details {
        if let Act::Stuck(end) = &self.act {
            // This thread is lost; its other tasks move to another thread.
            tokio::task::block_in_place(|| {
                let _ = end.lock().unwrap().recv();
            });
        }
        text_details("preview")
    }

    fn execute(
        &self,
        args: Value,
        context: ToolContext,
    ) -> BoxFuture<'_, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let name = &self.spec.name;
            self.log
                .lock()
                .unwrap()
                .push(format!("start {name} {args}"));
            let text = match &self.act {
                Act::Succeed(text) => text.clone(),
                Act::Fail(text) => return Err(ToolError::new(text)),
                Act::Panic(text) | Act::PanicEarly(text) => panic!("{text}"),
                Act::Gate(gate) | Act::Write(gate) => {
                    gate.pass().await;
                    format!("{name} done")
                }
                Act::Obey(gate) => {
                    tokio::select! {
                        () = gate.pass() => format!("{name} done"),
                        () = context.cancel.cancelled() => return Err(ToolError::new("stopped")),
                    }
                }
                Act::Output(output, gate) => {
                    context.progress.set(Details::Command(CommandDetails {
                        command: name.clone(),
                        output: output.clone(),
                        ..CommandDetails::default()
                    }));
                    gate.pass().await;
                    format!("{name} done")
                }
                Act::Ticker(lines, millis) => {
                    for line in 1..=*lines {
                        // The test's clock is paused, so nothing really waits.
                        tokio::time::advance(Duration::from_millis(*millis)).await;
                        context.progress.set(text_details(&format!("line {line}")));
                        tokio::task::yield_now().await;
                    }
                    format!("{name} done")
                }
                Act::Stuck(_) => "unstuck".to_owned(),
                Act::AllowedReads => context.effects.reads.join(" "),
                Act::FinishWhenCancelled(millis) => {
                    context.cancel.cancelled().await;
                    // The test's clock is paused, so nothing really waits.
                    tokio::time::advance(Duration::from_millis(*millis)).await;
                    format!("{name} done")
                }
            };
            self.log.lock().unwrap().push(format!("end {name}"));
            Ok(ToolOutput {
                content: vec![Content::text(text.clone())],
                details: text_details(&text),
                is_error: false,
            })
        })
    }
}

pub fn text_details(text: &str) -> Details {
    Details::Text(TextDetails {
        text: text.to_owned(),
        ..TextDetails::default()
    })
}

pub fn model() -> Model {
    Model {
        name: "Scripted".into(),
        max_output: 10_000,
        reasoning: true,
        vision: true,
        ..Model::new("lab", "scripted", Api::Scripted, "")
    }
}

/// An agent under test.
pub struct TestAgent {
    pub handle: AgentHandle,
    pub events: mpsc::Receiver<Arc<Event>>,
    pub script: Arc<Script>,
    pub cwd: PathBuf,
    pub folder: Arc<TempDir>,
    pub session: PathBuf,
    pub log: Arc<Mutex<Vec<String>>>,
    pub seen: Vec<Arc<Event>>,
}

/// How a [`TestAgent`] is set up.
#[derive(Default)]
pub struct Setup {
    pub answers: Vec<Vec<Step>>,
    pub loaded_window: Option<u64>,
    pub tools: Vec<(&'static str, bool, Act)>,
    pub rules: LoopRules,
    pub budget: Budget,
    pub budget_flags: [bool; 2],
    pub redactor: LazyRedactor,
    pub fallback: Vec<Model>,
    /// Replaces the script.
    pub provider: Option<Arc<dyn Provider>>,
    pub model: Option<Model>,
    pub toolbox: Option<Toolbox>,
    pub has_user: bool,
    /// `None` allows everything.
    pub permission: Option<PermissionOptions>,
    pub rule_source: Option<Box<dyn RuleSource>>,
    pub processes: Option<Processes>,
    pub hooks: agent::hooks::Hooks,
    /// Replaces the built-in system prompt.
    pub system_prompt: Option<String>,
    pub today: Option<Today>,
    /// The folder and the session of an earlier agent.
    pub resume: Option<(Arc<TempDir>, PathBuf)>,
    pub instructions: InstructionSources,
}

/// Retry rules under which the first failure is final.
pub fn no_retries() -> LoopRules {
    LoopRules {
        retry: RetryRules {
            max: 0,
            ..RetryRules::default()
        },
        ..LoopRules::default()
    }
}

pub fn agent(answers: Vec<Vec<Step>>, tools: Vec<(&'static str, bool, Act)>) -> TestAgent {
    Setup {
        answers,
        tools,
        ..Setup::default()
    }
    .start()
}

impl Setup {
    pub fn start(self) -> TestAgent {
        let script = Arc::new(Script {
            loaded_window: self.loaded_window,
            ..Script::with(self.answers)
        });
        let log = Arc::new(Mutex::new(Vec::new()));
        let tools = self
            .tools
            .into_iter()
            .map(|(name, read_only, act)| {
                FakeTool::new(name, read_only, act, &log) as Arc<dyn Tool>
            })
            .collect();
        let (folder, session) = match self.resume {
            Some((folder, path)) => (folder, Some(path)),
            None => (Arc::new(tempfile::tempdir().unwrap()), None),
        };
        let (cwd, root) = (folder.path().join("work"), folder.path().join("sessions"));
        let session = match session {
            // Without a user message there is no file.
            Some(path) if path.exists() => {
                let (session, problems) = Session::open(&root, &path).unwrap();
                assert_eq!(problems, Vec::<String>::new());
                session
            }
            _ => {
                std::fs::create_dir_all(&cwd).unwrap();
                Session::create(&root, &cwd)
            }
        };
        let path = session.path().unwrap().to_owned();
        let handle = agent::start(AgentOptions {
            provider: self
                .provider
                .unwrap_or_else(|| Arc::clone(&script) as Arc<dyn Provider>),
            model: self.model.unwrap_or_else(model),
            fallback: self.fallback,
            thinking: ThinkingLevel::Medium,
            cwd: cwd.clone(),
            toolbox: self.toolbox.unwrap_or_else(|| Toolbox::new(tools)),
            // The test binary can't act as the supervisor.
            processes: self.processes.unwrap_or_else(|| {
                Processes::with_supervisor(env!("CARGO_BIN_EXE_tiller"), Orphans::Leave)
            }),
            system_prompt: self.system_prompt,
            append_system_prompt: Vec::new(),
            instructions: self.instructions,
            today: self
                .today
                .unwrap_or_else(|| Arc::new(|| jiff::civil::date(2026, 11, 22))),
            spill_dir: path.with_extension(""),
            facts: session.facts(),
            session,
            trials: Some(folder.path().join("try")),
            undo: Some(Undo::new(folder.path().join("undo"), 1 << 26)),
            permission: {
                let permission = self
                    .permission
                    .unwrap_or_else(crate::support::everything_allowed);
                PermissionOptions {
                    has_user: self.has_user,
                    temporary: Some(folder.path().join("temporary")),
                    places: Places {
                        cwd: cwd.clone(),
                        ..permission.places
                    },
                    ..permission
                }
            },
            rule_source: self.rule_source,
            rules: self.rules,
            budget: self.budget,
            budget_flags: self.budget_flags,
            redactor: self.redactor,
            hooks: self.hooks,
            own_tools: agent::tools::own::OwnTools::default(),
            mcp: agent::mcp::Mcp::default(),
        });
        TestAgent {
            events: handle.subscribe(SlowReader::Drop),
            handle,
            script,
            cwd,
            folder,
            session: path,
            log,
            seen: Vec::new(),
        }
    }
}

impl TestAgent {
    pub fn prompt(&self, text: &str) {
        self.handle.prompt(vec![Content::text(text)]);
    }

    pub fn steer(&self, text: &str) {
        self.handle.steer(vec![Content::text(text)]);
    }

    pub fn follow_up(&self, text: &str) {
        self.handle.follow_up(vec![Content::text(text)]);
    }

    /// The next event. `seen` keeps all of them.
    pub async fn next(&mut self) -> AgentEvent {
        let event = within(self.events.recv()).await.expect("the agent is gone");
        if let Some(last) = self.seen.last() {
            assert!(event.seq > last.seq, "events out of order");
        }
        self.seen.push(Arc::clone(&event));
        event.kind.clone()
    }

    /// Reads events until one matches.
    pub async fn until(&mut self, fits: impl Fn(&AgentEvent) -> bool) -> AgentEvent {
        loop {
            let event = self.next().await;
            if fits(&event) {
                return event;
            }
        }
    }

    /// Reads to the end of the run and of everything that follows from it.
    pub async fn settled(&mut self) -> RunOutcome {
        let end = self
            .until(|event| matches!(event, AgentEvent::AgentEnd { .. }))
            .await;
        self.until(|event| matches!(event, AgentEvent::AgentSettled { .. }))
            .await;
        match end {
            AgentEvent::AgentEnd { outcome, .. } => outcome,
            _ => unreachable!(),
        }
    }

    /// All events so far, one short line each.
    pub fn story(&self) -> Vec<String> {
        self.seen
            .iter()
            .filter_map(|event| line(&event.kind))
            .collect()
    }

    /// The texts of the `n`th request's messages as `role: text`, counted from 0. Results are in
    /// the order of their calls, as on every wire.
    pub fn request(&self, n: usize) -> Vec<String> {
        let requests = self.script.requests();
        let mut messages = requests[n].messages.clone();
        let mut calls: Vec<String> = Vec::new();
        let is_result = |message: &Message| matches!(message, Message::ToolResult(_));
        for group in messages.chunk_by_mut(|a, b| is_result(a) && is_result(b)) {
            match &*group[0] {
                Message::Assistant(answer) => {
                    calls = answer.tool_calls().map(|call| call.id.clone()).collect();
                }
                Message::ToolResult(_) => group.sort_by_key(|message| match &**message {
                    Message::ToolResult(it) => calls.iter().position(|id| *id == it.tool_call_id),
                    _ => None,
                }),
                Message::User(_) => {}
            }
        }
        messages.iter().map(|m| message_line(m)).collect()
    }

    /// The session's messages as `role: text`.
    pub fn stored(&self) -> Vec<String> {
        self.entries()
            .into_iter()
            .filter(|entry| entry["type"] == "message")
            .map(|entry| message_line(&serde_json::from_value(entry["message"].clone()).unwrap()))
            .collect()
    }

    /// The folder and the session as a kill now would leave them, for [`Setup::resume`].
    pub fn killed(&self) -> (Arc<TempDir>, PathBuf) {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        std::fs::create_dir(folder.path().join("work")).unwrap();
        let session = folder.path().join("session.jsonl");
        std::fs::copy(&self.session, &session).unwrap();
        (folder, session)
    }

    /// The session's lines.
    pub fn entries(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.session).unwrap_or_default();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

pub fn message_line(message: &Message) -> String {
    match message {
        Message::User(said) => {
            let who = said.origin.as_deref().unwrap_or("user");
            format!("{who}: {}", message.text())
        }
        Message::Assistant(answer) => {
            let calls: Vec<_> = answer.tool_calls().map(|call| call.id.as_str()).collect();
            let text = message.text();
            if calls.is_empty() {
                format!("assistant: {text}")
            } else {
                format!("assistant: {text}[{}]", calls.join(" "))
            }
        }
        Message::ToolResult(result) => {
            let mark = if result.is_error { "!" } else { "" };
            format!("{}{mark}: {}", result.tool_call_id, message.text())
        }
    }
}

fn line(event: &AgentEvent) -> Option<String> {
    Some(match event {
        AgentEvent::AgentStart => "agent start".into(),
        AgentEvent::AgentEnd {
            messages, outcome, ..
        } => {
            format!("agent end {outcome:?} {} messages", messages.len())
        }
        AgentEvent::AgentSettled { aborted } => format!("settled aborted={aborted}"),
        AgentEvent::TurnStart { iteration } => format!("turn start {iteration}"),
        AgentEvent::TurnEnd { tool_results, .. } => {
            format!("turn end {} results", tool_results.len())
        }
        AgentEvent::MessageStart { message } => format!("message start {}", message_line(message)),
        AgentEvent::MessageEnd { message } => format!("message end {}", message_line(message)),
        AgentEvent::Spent { .. }
        | AgentEvent::ApiCallStart { .. }
        | AgentEvent::ApiCallEnd { .. }
        | AgentEvent::MessageUpdate { .. }
        | AgentEvent::ToolUpdate { .. } => return None,
        AgentEvent::ToolStart { call_id, name, .. } => format!("tool start {call_id} {name}"),
        AgentEvent::ToolEnd {
            call_id, status, ..
        } => format!("tool end {call_id} {status:?}"),
        AgentEvent::QueueUpdate {
            steering,
            follow_up,
        } => format!("queue {} {}", steering.len(), follow_up.len()),
        AgentEvent::Questions { open } => format!("questions {}", open.len()),
        AgentEvent::Refused(question) => format!("refused {}", question.call_id),
        AgentEvent::PermissionMode(mode) => format!("permission {mode}"),
        AgentEvent::SessionNamed(name) => format!("named {name:?}"),
        AgentEvent::Budget(budget) => format!("budget {} {}", budget.usd, budget.tokens),
        AgentEvent::QueueReturned { messages, .. } => {
            let texts: Vec<_> = messages
                .iter()
                .map(|queued| tiller::llm::message::content_text(&queued.content))
                .collect();
            format!("returned {}", texts.join(" | "))
        }
        AgentEvent::State(state) => format!("state {state:?}"),
        AgentEvent::SessionOpened { facts, .. } => {
            format!("session of {} messages", facts.count)
        }
        AgentEvent::FilesUndone { direction, files } => {
            format!("{direction:?} of {} files", files.len())
        }
        AgentEvent::Moved { facts, prompt, .. } => {
            let again = prompt.as_deref().map(tiller::llm::message::content_text);
            format!("moved to {} messages, again {again:?}", facts.count)
        }
        AgentEvent::ModelChanged { model, thinking } => {
            format!("model {} {thinking}", model.full_id())
        }
        AgentEvent::RetryStart {
            attempt,
            max_attempts,
            delay_ms,
            error,
        } => format!("retry {attempt}/{max_attempts} in {delay_ms} ms: {error}"),
        AgentEvent::RetryEnd {
            attempt,
            final_error,
        } => match final_error {
            None => format!("retry {attempt} ok"),
            Some(error) => format!("retry {attempt} failed: {error}"),
        },
        AgentEvent::CompactionStart { reason, .. } => format!("compaction start {reason:?}"),
        AgentEvent::CompactionEnd { outcome, .. } => format!("compaction end {outcome:?}"),
        AgentEvent::Trial(TrialEvent::Open(_)) => "trial open".into(),
        AgentEvent::Trial(TrialEvent::Kept(kept)) => format!("trial kept {}", kept.changed.len()),
        AgentEvent::Trial(TrialEvent::Discarded) => "trial discarded".into(),
        AgentEvent::Notice { level, text } => format!("notice {level:?} {text}"),
    })
}
