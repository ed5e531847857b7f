//! The loop between the client, the agent and the user's command.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::answers::{self, Answer, data};
use super::command::{BadLine, Command, Line, StreamingBehavior};
use super::dialogs::Dialogs;
use super::output::Output;
use super::shell::Shell;
use super::waiting::Waiting;
use super::{history, shapes};
use crate::agent::session::SessionView;
use crate::agent::{
    self, Accept, AgentEvent, CompactionReason, Delivery, Event, NoticeLevel, Question, QueueKind,
    Refused, RetryRules, RunState, Submission,
};
use crate::app::host::{Host, RunningCommands};
use crate::app::records::Recorder;
use crate::app::serve::returned::Returned;
use crate::app::sessions::Choice;
use crate::llm::Content;
use crate::llm::message::Image;

/// How long a program that has closed stdin still gets answers to what it has sent.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// Whose client it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The program ends with it, and messages that an abort returns are its to send again.
    Owner,
    /// It came later and may leave at any time.
    Guest,
}

/// One client and its session.
pub(super) struct Server {
    host: Host,
    role: Role,
    recorder: Recorder,
    output: Output,
    dialogs: Dialogs,
    waiting: Waiting,
    shell: Shell,
    /// Slash commands that run, each with the id of its prompt.
    commands: RunningCommands<Option<Value>>,
    returned: Returned,
    /// `retry.max` while retries are off.
    retries: Option<u32>,
    events: mpsc::Receiver<Arc<Event>>,
}

impl Server {
    pub fn new(host: Host, events: mpsc::Receiver<Arc<Event>>, output: Output, role: Role) -> Self {
        Self {
            host,
            role,
            recorder: Recorder::default(),
            output,
            dialogs: Dialogs::default(),
            waiting: Waiting::default(),
            shell: Shell::new(),
            commands: RunningCommands::default(),
            returned: Returned::default(),
            retries: None,
            events,
        }
    }

    /// Shows the client something before the first event.
    pub async fn greet(&mut self, notices: &[String], open: &[Arc<Question>]) -> io::Result<()> {
        for text in notices {
            let notice = json!({"type": "notice", "level": "warning", "text": text});
            self.output.write(&notice).await?;
        }
        for request in self.dialogs.update(open) {
            self.output.write(&request).await?;
        }
        Ok(())
    }

    /// Serves the client to the end of its lines.
    pub async fn serve(
        &mut self,
        mut lines: mpsc::Receiver<Result<Line, BadLine>>,
    ) -> io::Result<()> {
        loop {
            tokio::select! {
                line = lines.recv() => match line {
                    Some(line) => self.on_line(line).await?,
                    None => break,
                },
                event = self.events.recv() => match event {
                    Some(event) => self.on_event(&event).await?,
                    None => return self.output.finish().await,
                },
                Some(news) = self.shell.next() => {
                    self.shell.pass_on(news, &mut self.output).await?;
                }
                Some((id, result)) = self.commands.next() => {
                    self.on_command_end(id, result).await?;
                }
            }
        }
        // An owner that closes stdin may be gone; the program ends with it.
        match self.role {
            Role::Owner => timeout(LAST_ANSWERS, self.answer_rest())
                .await
                .unwrap_or(Ok(()))?,
            Role::Guest => self.answer_rest().await?,
        }
        self.output.finish().await
    }

    /// Waits for the answers to what the client has asked for.
    async fn answer_rest(&mut self) -> io::Result<()> {
        while !(self.commands.is_empty() && self.waiting.is_empty()) {
            tokio::select! {
                event = self.events.recv() => match event {
                    Some(event) => self.on_event(&event).await?,
                    None => break,
                },
                Some((id, result)) = self.commands.next() => {
                    self.on_command_end(id, result).await?;
                }
            }
        }
        Ok(())
    }

    async fn on_line(&mut self, line: Result<Line, BadLine>) -> io::Result<()> {
        match line {
            Ok(Line::Dialog(response)) => {
                if let Some((id, answer)) = self.dialogs.answer(&response) {
                    if let agent::Answer::Reply(text)
                    | agent::Answer::Refuse { reason: Some(text) } = &answer
                    {
                        self.returned.answered(text);
                    }
                    self.host.handle.answer(id, answer);
                }
                Ok(())
            }
            Ok(Line::Command(id, command)) => self.carry_out(id, *command).await,
            Err(BadLine { id, command, error }) => {
                self.output.respond(id.as_ref(), &command, Err(error)).await
            }
        }
    }

    async fn carry_out(&mut self, id: Option<Value>, command: Command) -> io::Result<()> {
        let host = self.host.clone();
        let (name, answer) = match command {
            Command::Prompt {
                message,
                images,
                streaming_behavior,
            } => {
                let started = self.commands.start(&host, id.clone(), &message);
                if started.is_ok() {
                    return Ok(());
                }
                let (kind, accept) = match streaming_behavior {
                    Some(StreamingBehavior::Steer) => (QueueKind::Steering, Accept::Always),
                    Some(StreamingBehavior::FollowUp) => (QueueKind::FollowUp, Accept::Always),
                    None => (QueueKind::Steering, Accept::Idle),
                };
                let sent = self.submit(kind, accept, message, images).await;
                ("prompt", sent.and_then(delivered))
            }
            Command::Steer { message, images } => {
                let kind = QueueKind::Steering;
                let sent = self.submit(kind, Accept::Always, message, images).await;
                ("steer", sent.and_then(delivered))
            }
            Command::FollowUp { message, images } => {
                let kind = QueueKind::FollowUp;
                let sent = self.submit(kind, Accept::Always, message, images).await;
                ("follow_up", sent.and_then(delivered))
            }
            Command::Abort => return self.abort(id).await,
            Command::ClearQueue => {
                let queued = host.handle.clear_queue().await;
                let of = |kind| {
                    let queued = queued.iter().filter(|it| it.kind == kind).cloned();
                    shapes::texts(&queued.collect::<Vec<_>>())
                };
                let (steering, follow_up) = (of(QueueKind::Steering), of(QueueKind::FollowUp));
                let cleared = json!({"steering": steering, "followUp": follow_up});
                ("clear_queue", data(cleared))
            }
            Command::NewSession => ("new_session", self.switch(Choice::New).await),
            Command::SwitchSession { session_path } => {
                let path = host.cwd.join(session_path);
                ("switch_session", self.switch(Choice::Open(path)).await)
            }
            Command::Fork { entry_id } => ("fork", self.fork(entry_id).await),
            Command::Clone => ("clone", self.copy().await),
            Command::GetState => ("get_state", answers::state(&host).await),
            Command::GetMessages => {
                let messages = answers::read(&host, history::messages).await;
                let messages = messages.and_then(|it| data(json!({"messages": it})));
                ("get_messages", messages)
            }
            Command::SetModel { provider, model_id } => {
                let set = answers::set_model(&host, &provider, &model_id).await;
                ("set_model", set)
            }
            Command::CycleModel => ("cycle_model", answers::cycle_model(&host).await),
            Command::GetAvailableModels => {
                let models = answers::available_models(&host).await;
                ("get_available_models", models)
            }
            Command::SetThinkingLevel { level } => {
                host.handle.set_thinking(level);
                ("set_thinking_level", Ok(None))
            }
            Command::CycleThinkingLevel => {
                ("cycle_thinking_level", answers::cycle_thinking(&host).await)
            }
            Command::GetAvailableThinkingLevels => {
                let levels = answers::thinking_levels(&host).await;
                ("get_available_thinking_levels", levels)
            }
            Command::SetSteeringMode { mode } => {
                let set = answers::change_rules(&host, |rules| rules.steering_mode = mode.into());
                ("set_steering_mode", set.await)
            }
            Command::SetFollowUpMode { mode } => {
                let set = answers::change_rules(&host, |rules| rules.follow_up_mode = mode.into());
                ("set_follow_up_mode", set.await)
            }
            Command::SetAutoCompaction { enabled } => {
                let set =
                    answers::change_rules(&host, |rules| rules.compaction.enabled = enabled).await;
                ("set_auto_compaction", set)
            }
            Command::SetAutoRetry { enabled } => ("set_auto_retry", self.retry(enabled).await),
            Command::AbortRetry => {
                let snapshot = answers::snapshot(&host).await;
                if snapshot.is_ok_and(|it| it.state.is_retrying()) {
                    host.handle.abort();
                }
                ("abort_retry", Ok(None))
            }
            Command::Compact {
                custom_instructions,
            } => {
                host.handle.compact(custom_instructions);
                self.waiting.compactions.push_back(id);
                return Ok(());
            }
            Command::Bash {
                command,
                exclude_from_context,
            } => {
                let is_told = !exclude_from_context;
                match self.shell.run(&host, id.as_ref(), command, is_told) {
                    Ok(()) => return Ok(()),
                    Err(error) => ("bash", Err(error)),
                }
            }
            Command::AbortBash => {
                self.shell.stop(&mut self.output).await?;
                ("abort_bash", Ok(None))
            }
            Command::GetSessionStats => ("get_session_stats", answers::stats(&host).await),
            Command::ExportHtml { output_path } => {
                ("export_html", answers::export(&host, output_path).await)
            }
            Command::GetForkMessages => {
                let prompts = answers::read(&host, history::fork_messages).await;
                ("get_fork_messages", prompts.and_then(data))
            }
            Command::GetEntries { since } => {
                let entries = move |session: &_| history::entries(session, since.as_deref());
                let entries = answers::read(&host, entries).await;
                ("get_entries", entries.and_then(data))
            }
            Command::GetTree => {
                let tree = answers::read(&host, history::tree).await;
                ("get_tree", tree.map(Some))
            }
            Command::GetLastAssistantText => {
                let text = answers::read(&host, history::last_text).await;
                let text = text.and_then(|text| data(json!({"text": text})));
                ("get_last_assistant_text", text)
            }
            Command::SetSessionName { name } => {
                let name = name.trim().to_owned();
                if name.is_empty() {
                    (
                        "set_session_name",
                        Err("Session name cannot be empty".into()),
                    )
                } else {
                    host.handle.name(name);
                    ("set_session_name", Ok(None))
                }
            }
            Command::GetCommands => ("get_commands", answers::commands(&host).await),
            Command::SetPermission { mode } => {
                let mode = mode.parse().map_err(|error: String| error);
                let set = mode.map(|mode| {
                    host.handle.set_permission(mode);
                    None
                });
                ("tiller_set_permission", set)
            }
            Command::Refuse {
                question_id,
                reason,
            } => ("tiller_refuse", self.refuse(question_id, reason)),
        };
        self.output.respond(id.as_ref(), name, answer).await
    }

    async fn on_command_end(
        &mut self,
        id: Option<Value>,
        result: Result<String, String>,
    ) -> io::Result<()> {
        let answer = result.and_then(|text| data(json!({"disposition": "handled", "text": text})));
        self.output.respond(id.as_ref(), "prompt", answer).await
    }

    async fn submit(
        &mut self,
        kind: QueueKind,
        accept: Accept,
        text: String,
        images: Vec<Image>,
    ) -> Result<Delivery, String> {
        let text = self.host.prompt_of(text).await?;
        let mut content = answers::content(text, images).await?;
        content.extend(self.shell.told().iter().map(Content::text));
        let sent = self.host.handle.submit(Submission {
            kind,
            content,
            origin: None,
            session: None,
            accept,
        });
        let delivery = sent.await.map_err(|refused| match refused {
            Refused::Running => {
                "a run is active: set streamingBehavior to \"steer\" or \"followUp\"".to_owned()
            }
            refused => refused.to_string(),
        })?;
        self.shell.forget();
        Ok(delivery)
    }

    async fn abort(&mut self, id: Option<Value>) -> io::Result<()> {
        let snapshot = answers::snapshot(&self.host).await;
        if snapshot.is_ok_and(|it| matches!(it.state, RunState::Running { .. })) {
            self.host.handle.abort();
            self.waiting.aborts.push(id);
            return Ok(());
        }
        self.output.respond(id.as_ref(), "abort", Ok(None)).await
    }

    async fn switch(&mut self, choice: Choice) -> Answer {
        let opened = answers::open(&self.host, choice).await?;
        self.after_switch(opened.notices);
        data(json!({"cancelled": false}))
    }

    async fn fork(&mut self, entry: String) -> Answer {
        let file = self.host.session_file().await?;
        let opened = answers::open(&self.host, Choice::ForkAt(file, entry)).await?;
        self.after_switch(opened.notices);
        let text = opened.prompt.unwrap_or_default();
        data(json!({"text": text, "cancelled": false}))
    }

    async fn copy(&mut self) -> Answer {
        let file = self.host.session_file().await?;
        let leaf = |session: &SessionView| Ok(session.tree().leaf());
        if answers::read(&self.host, leaf).await?.is_none() {
            return Err("Cannot clone session: no current entry selected".to_owned());
        }
        self.switch(Choice::Clone(file)).await
    }

    fn after_switch(&mut self, notices: Vec<String>) {
        self.shell.forget();
        for notice in notices {
            self.host.handle.notify(NoticeLevel::Warning, notice);
        }
    }

    async fn retry(&mut self, enabled: bool) -> Answer {
        let retries = &mut self.retries;
        answers::change_rules(&self.host, |rules| {
            let max = &mut rules.retry.max;
            if enabled {
                // Another client may have turned them off.
                let known = retries.take().or(Some(*max).filter(|max| *max > 0));
                *max = known.unwrap_or(RetryRules::default().max);
            } else {
                retries.get_or_insert(*max);
                *max = 0;
            }
        })
        .await
    }

    fn refuse(&mut self, question: u64, reason: Option<String>) -> Answer {
        if !self.dialogs.has(question) {
            return Err(format!("no question {question} is open"));
        }
        let answer = agent::Answer::Refuse { reason };
        self.host.handle.answer(question, answer);
        Ok(None)
    }

    async fn on_event(&mut self, event: &Event) -> io::Result<()> {
        match &event.kind {
            // They go on after the abort.
            AgentEvent::QueueReturned { to, .. } if self.role == Role::Guest || *to != 0 => {
                return Ok(());
            }
            AgentEvent::QueueReturned { messages, .. } => {
                self.returned.add(messages);
                return Ok(());
            }
            AgentEvent::Questions { open } => {
                for request in self.dialogs.update(open) {
                    self.output.write(&request).await?;
                }
            }
            _ => {}
        }
        if let Some(record) = self.recorder.record(event) {
            self.output.write(&record).await?;
        }
        match &event.kind {
            AgentEvent::CompactionEnd {
                reason: CompactionReason::Manual,
                outcome,
            } => self.waiting.compacted(outcome, &mut self.output).await,
            AgentEvent::AgentSettled { .. } => self.settled().await,
            _ => Ok(()),
        }
    }

    async fn settled(&mut self) -> io::Result<()> {
        self.waiting.settled(&mut self.output).await?;
        self.returned.send(&self.host.handle).await;
        Ok(())
    }
}

/// Whether a message started a run or waits.
fn delivered(delivery: Delivery) -> Answer {
    let disposition = match delivery {
        Delivery::Started(_) => "started",
        Delivery::Queued(_) => "queued",
    };
    data(json!({"disposition": disposition}))
}
