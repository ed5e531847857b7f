//! One session: its agent's events become updates, and its prompt gets one answer.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;

use super::client::Client;
use super::options::Options;
use super::questions::OpenQuestions;
use super::server::OpenAgent;
use super::wire::{Answer, Block, RpcError};
use super::{calls, prompt, replay};
use crate::agent::{
    Accept, AgentEvent, Delivery, Details, Event, NoticeLevel, QueueKind, Refused, RunId,
    RunOutcome, SlowReader, Submission, is_from_user,
};
use crate::app::commands;
use crate::app::host::{Host, RunningCommands};
use crate::app::out::{eprint_error, eprint_line};
use crate::app::resources::attach_resources;
use crate::app::serve::returned::Returned;
use crate::llm::classify::OTHER_WORDS;
use crate::llm::{BlockKind, Message, StreamEvent};

/// What to do about a budget that is used up.
const RAISE: &str =
    "Raise the limit with tiller config set budget.usd AMOUNT, then open the session again";

/// What the client wants of a session.
#[derive(Debug)]
pub(super) enum Command {
    /// Answers with what the client needs to show it, after all its messages if `replay`.
    Show {
        request: Value,
        replay: bool,
    },
    Prompt {
        request: Value,
        blocks: Vec<Block>,
    },
    Cancel,
    /// Cancels the prompt of this request, if it runs here.
    CancelRequest(Value),
    /// Selects the value of an option. Older clients have a separate method for `mode`.
    Select {
        request: Value,
        id: String,
        value: String,
    },
}

/// An open session.
pub(super) struct Session {
    id: String,
    host: Host,
    client: Client,
    options: Options,
    events: mpsc::Receiver<Arc<Event>>,
    running: Option<Running>,
    /// Prompts that are slash commands, until they are carried out.
    slash_commands: RunningCommands<Value>,
    /// Whether the editor cancelled them.
    are_cancelled: bool,
    /// The names of running calls by id.
    calls: HashMap<String, String>,
    questions: OpenQuestions,
    returned: Returned,
    /// Lives as long as the session.
    _keep: Box<dyn std::any::Any + Send + Sync>,
}

/// A prompt without its answer.
#[derive(Debug)]
struct Running {
    request: Value,
    /// The run that it started.
    first: RunId,
    /// A later run, if messages of other programs went on with it.
    last: RunId,
    /// Whether its message has been delivered. The client shows it itself.
    is_delivered: bool,
    is_cancelled: bool,
    outcome: Option<RunOutcome>,
}

impl Session {
    /// Follows the agent. Returns the session with its id.
    pub async fn new(opened: OpenAgent, client: Client) -> Result<(String, Self), RpcError> {
        let OpenAgent {
            host,
            notices,
            keep,
        } = opened;
        let events = host.handle.subscribe(SlowReader::Wait);
        let snapshot = host.handle.snapshot().await;
        let snapshot = snapshot.ok_or_else(|| RpcError::internal("the agent has ended"))?;
        let models = host.usable_models().await.map_err(RpcError::internal)?;
        for notice in notices {
            eprint_line(&format!("tiller: {notice}"));
        }
        let id = snapshot.session.id.clone();
        let session = Self {
            id: id.clone(),
            options: Options::new(&snapshot, models),
            host,
            client,
            events,
            running: None,
            slash_commands: RunningCommands::default(),
            are_cancelled: false,
            calls: HashMap::new(),
            questions: OpenQuestions::default(),
            returned: Returned::default(),
            _keep: keep,
        };
        Ok((id, session))
    }

    /// Serves until the client closes the session. Then nothing of it runs anymore.
    pub async fn run(mut self, mut commands: mpsc::UnboundedReceiver<Command>) {
        loop {
            tokio::select! {
                biased;
                command = commands.recv() => match command {
                    Some(command) => self.carry_out(command).await,
                    None => break,
                },
                event = self.events.recv() => match event {
                    Some(event) => self.on_event(&event).await,
                    None => break,
                },
                Some((request, result)) = self.slash_commands.next() => {
                    let (Ok(text) | Err(text)) = result;
                    self.say("agent_message_chunk", &text).await;
                    let reason = if self.are_cancelled { "cancelled" } else { "end_turn" };
                    self.are_cancelled &= !self.slash_commands.is_empty();
                    self.client.answer(request, Ok(json!({"stopReason": reason}))).await;
                }
            }
        }
        // The agent must not wait for a reader.
        self.events.close();
        if let Some(unsaved) = self.host.handle.shutdown().await {
            eprint_error(unsaved);
        }
        if let Some(running) = self.running.take() {
            let cancelled = json!({"stopReason": "cancelled"});
            self.client.answer(running.request, Ok(cancelled)).await;
        }
    }

    async fn carry_out(&mut self, command: Command) {
        match command {
            Command::Show { request, replay } => {
                if replay && let Err(error) = self.replay().await {
                    return self.client.answer(request, Err(error)).await;
                }
                let shown = json!({
                    "sessionId": self.id,
                    "modes": self.options.modes(),
                    "configOptions": self.options.config(),
                });
                self.client.answer(request, Ok(shown)).await;
                self.tell_commands().await;
            }
            Command::Prompt { request, blocks } => {
                let text = match &blocks[..] {
                    [Block::Text { text }] if self.running.is_none() => text.as_str(),
                    _ => "",
                };
                match self.slash_commands.start(&self.host, request, text) {
                    Ok(()) => {}
                    Err(request) => self.prompt(request, blocks).await,
                }
            }
            Command::Cancel if !self.slash_commands.is_empty() => {
                self.are_cancelled = true;
                self.host.handle.abort();
            }
            Command::CancelRequest(request) => {
                let runs = self
                    .running
                    .as_ref()
                    .is_some_and(|it| it.request == request);
                if runs {
                    Box::pin(self.carry_out(Command::Cancel)).await;
                }
            }
            Command::Cancel => match &mut self.running {
                Some(running) => {
                    running.is_cancelled = true;
                    self.host.handle.abort_run(running.last);
                }
                // Another program may have started it.
                None => self.host.handle.abort(),
            },
            Command::Select { request, id, value } => {
                let answer = self.options.select(&id, &value, &self.host).await;
                let answer = answer.map(|()| json!({"configOptions": self.options.config()}));
                let is_done = answer.is_ok();
                self.client.answer(request, answer).await;
                if is_done {
                    self.tell_options(id == "mode").await;
                }
            }
        }
    }

    async fn prompt(&mut self, request: Value, blocks: Vec<Block>) {
        match self.submit(blocks).await {
            Ok(run) => {
                self.running = Some(Running {
                    request,
                    first: run,
                    last: run,
                    is_delivered: false,
                    is_cancelled: false,
                    outcome: None,
                });
            }
            Err(error) => self.client.answer(request, Err(error)).await,
        }
    }

    async fn submit(&mut self, blocks: Vec<Block>) -> Result<RunId, RpcError> {
        let busy = || RpcError::request("a prompt is running in this session");
        if self.running.is_some() {
            return Err(busy());
        }
        let blocks = match &blocks[..] {
            [Block::Text { text }] => {
                let text = self.host.prompt_of(text.clone()).await;
                let text = text.map_err(|why| RpcError::request(&why))?;
                vec![Block::Text { text }]
            }
            _ => blocks,
        };
        let (content, mut left_out) = prompt::content(blocks, self.host.cwd.clone()).await?;
        let (content, others) = attach_resources(&self.host.mcp, content).await;
        left_out.extend(others);
        for file in left_out {
            eprint_line(&format!("tiller: not attached: {file}"));
        }
        // What is left of a run that another program started.
        while let Ok(event) = self.events.try_recv() {
            self.on_event(&event).await;
        }
        let sent = self.host.handle.submit(Submission {
            kind: QueueKind::Steering,
            content,
            origin: None,
            session: None,
            accept: Accept::Idle,
        });
        match sent.await {
            Ok(Delivery::Started(run)) => Ok(run),
            Ok(Delivery::Queued(_)) | Err(Refused::Running) => Err(busy()),
            Err(refused) => Err(RpcError::request(refused.to_string())),
        }
    }

    async fn replay(&mut self) -> Result<(), RpcError> {
        if self.running.is_some() {
            return Err(RpcError::request("a prompt is running in this session"));
        }
        let gone = || RpcError::internal("the agent has ended");
        let session = self.host.handle.tree().await.ok_or_else(gone)?;
        let cwd = self.host.cwd.clone();
        let read = spawn_blocking(move || replay::updates(&session, &cwd));
        let updates = read.await;
        let updates = updates.map_err(|panic| RpcError::internal(panic.to_string()))?;
        for (kind, update) in updates {
            self.update(kind, update).await;
        }
        Ok(())
    }

    async fn on_event(&mut self, event: &Event) {
        // Events before belong to another run.
        let is_of_prompt = |running: &Running| event.run >= Some(running.first);
        match &event.kind {
            AgentEvent::AgentStart => {
                if let (Some(running), Some(run)) = (&mut self.running, event.run)
                    && is_of_prompt(running)
                {
                    running.last = run;
                }
            }
            AgentEvent::MessageStart { message } => {
                // Other programs can send messages too.
                if let Message::User(user) = &**message
                    && is_from_user(user.origin.as_deref())
                    && !self.is_own(event.run, user.origin.as_deref())
                {
                    for (kind, update) in replay::user_message(&user.content) {
                        self.update(kind, update).await;
                    }
                }
            }
            AgentEvent::MessageUpdate {
                event: StreamEvent::BlockDelta { kind, delta, .. },
            } => {
                let kind = match kind {
                    BlockKind::Text => "agent_message_chunk",
                    BlockKind::Thinking => "agent_thought_chunk",
                    BlockKind::Redacted | BlockKind::ToolCall => return,
                };
                self.say(kind, delta).await;
            }
            AgentEvent::TurnEnd { .. } => self.tell_usage().await,
            AgentEvent::ToolStart {
                call_id,
                name,
                args,
                details,
            } => {
                self.calls.insert(call_id.clone(), name.clone());
                let mut call = calls::fields(call_id, name, details, &self.host.cwd);
                call["status"] = json!("in_progress");
                call["rawInput"] = json!(args);
                self.update("tool_call", call).await;
            }
            AgentEvent::ToolUpdate { call_id, details } => {
                let name = self.calls.get(call_id).map_or("", String::as_str);
                let mut call = calls::fields(call_id, name, details, &self.host.cwd);
                call["status"] = json!("in_progress");
                self.update("tool_call_update", call).await;
            }
            AgentEvent::ToolEnd {
                call_id,
                name,
                status,
                content,
                details,
                ..
            } => {
                self.calls.remove(call_id);
                let mut call = calls::fields(call_id, name, details, &self.host.cwd);
                calls::end(&mut call, *status, content);
                self.update("tool_call_update", call).await;
                if let Details::Todo(todo) = &**details {
                    self.update("plan", calls::plan(todo)).await;
                }
            }
            AgentEvent::Questions { open } => {
                self.questions
                    .update(open, &self.id, &self.host, &self.client)
                    .await;
            }
            AgentEvent::QueueReturned { messages, to: 0 } => self.returned.add(messages),
            AgentEvent::PermissionMode(mode) => {
                let is_new = self.options.set_mode(*mode);
                if is_new {
                    self.tell_options(true).await;
                }
            }
            AgentEvent::ModelChanged { model, thinking } => {
                let is_new = self.options.set_model(model, *thinking);
                if is_new {
                    self.tell_options(false).await;
                }
            }
            AgentEvent::Notice { level, text } if *level != NoticeLevel::Info => {
                eprint_line(&format!("tiller: {text}"));
            }
            AgentEvent::AgentEnd { outcome, .. } => {
                if let Some(running) = &mut self.running
                    && is_of_prompt(running)
                {
                    running.outcome = Some(outcome.clone());
                }
            }
            AgentEvent::AgentSettled { .. } => {
                if let Some(running) = self.running.take_if(|running| is_of_prompt(running)) {
                    let answer = self.end(&running).await;
                    self.client.answer(running.request, answer).await;
                }
                self.returned.send(&self.host.handle).await;
            }
            _ => {}
        }
    }

    /// Whether a user's message is the client's prompt: the first one that its run delivers.
    fn is_own(&mut self, run: Option<RunId>, origin: Option<&str>) -> bool {
        let running = self.running.as_mut();
        let running = running.filter(|it| run == Some(it.first) && origin.is_none());
        running.is_some_and(|it| !std::mem::replace(&mut it.is_delivered, true))
    }

    /// How the prompt ended.
    async fn end(&mut self, running: &Running) -> Answer {
        let reason = match &running.outcome {
            _ if running.is_cancelled => "cancelled",
            Some(RunOutcome::Done) => "end_turn",
            Some(RunOutcome::Truncated) => "max_tokens",
            Some(RunOutcome::LimitReached { .. }) => "max_turn_requests",
            Some(RunOutcome::BudgetReached(reached)) => {
                let why = format!("\n\n{reached}. {RAISE}");
                self.say("agent_message_chunk", &why).await;
                "max_turn_requests"
            }
            Some(RunOutcome::Failed { message }) if message.contains(OTHER_WORDS) => {
                self.say("agent_message_chunk", message).await;
                "refusal"
            }
            Some(RunOutcome::Failed { message }) => return Err(RpcError::internal(message)),
            Some(RunOutcome::Aborted) | None => "cancelled",
        };
        Ok(json!({"stopReason": reason}))
    }

    async fn tell_commands(&self) {
        // The editor has a button for that.
        let commands = commands::all().filter(|command| command.name() != "new");
        let commands = commands.map(|command| {
            let hint = command.spec.argument.map(|hint| json!({"hint": hint}));
            json!({
                "name": command.name(),
                "description": command.spec.help,
                "input": hint,
            })
        });
        let custom = self.host.list_custom_commands().await;
        let custom = custom.into_iter().map(|command| {
            json!({
                "name": command.name,
                "description": command.help,
                "input": command.argument.map(|hint| json!({"hint": hint})),
            })
        });
        let commands: Vec<Value> = commands.chain(custom).collect();
        let update = json!({"availableCommands": commands});
        self.update("available_commands_update", update).await;
    }

    async fn tell_options(&self, with_mode: bool) {
        if with_mode {
            let mode = json!({"currentModeId": self.options.mode()});
            self.update("current_mode_update", mode).await;
        }
        let options = json!({"configOptions": self.options.config()});
        self.update("config_option_update", options).await;
    }

    async fn tell_usage(&self) {
        let (Some(context), Some(snapshot)) = (
            self.host.handle.context_usage().await,
            self.host.handle.snapshot().await,
        ) else {
            return;
        };
        if context.window > 0 {
            let cost = json!({"amount": snapshot.usage.cost.total, "currency": "USD"});
            let usage = json!({"used": context.total, "size": context.window, "cost": cost});
            self.update("usage_update", usage).await;
        }
    }

    async fn say(&self, kind: &str, text: &str) {
        let chunk = json!({"content": {"type": "text", "text": text}});
        self.update(kind, chunk).await;
    }

    async fn update(&self, kind: &str, update: Value) {
        self.client.update(&self.id, kind, update).await;
    }
}
