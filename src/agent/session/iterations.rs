//! The iterations of a session, as a view over the path to its leaf. Each is one model call with
//! the messages before it and the results of its tool calls. Nothing is stored twice. Failed and
//! unreadable answers are iterations too, so that numbering needs no text. A summary is one line about
//! an iteration: figures and calls, without messages.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::entry::{Body, Kind};
use super::history::message_of;
use super::tree::{NodeId, Tree};
use super::view::SessionView;
use crate::event::{ToolStatus, is_from_user};
use tiller_llm::message::content_text;
use tiller_llm::{AssistantMessage, Message, ToolCall, ToolResultMessage, Usage};

/// Most bytes of a prompt to keep.
const PROMPT: usize = 200;

/// One model call with its input and results.
#[derive(Clone, Debug, Serialize)]
pub struct Iteration {
    /// Numbered from 1 along the branch.
    pub number: usize,
    /// Messages from the user or tiller before it, the answer, and the results.
    pub messages: Vec<Arc<Message>>,
    /// The calls of the answer.
    pub tool_calls: Vec<IterationCall>,
    /// When the model was called, in ISO 8601 (UTC); empty in very old files.
    pub started_at: String,
    /// When the last result or the answer arrived; `None` if it is running or was cut off.
    pub completed_at: Option<String>,
    /// Usage, model, cost, stop reason, milliseconds to the first token and in all, entry ids.
    pub metadata: Map<String, Value>,
}

/// A tool call of an [`Iteration`].
#[derive(Clone, Debug, Serialize)]
pub struct IterationCall {
    /// The call's id.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as the model sent them.
    pub arguments: Value,
    /// Whether it failed; `None` without a result.
    pub is_error: Option<bool>,
    /// How long it took, if stored.
    pub duration_ms: Option<u64>,
}

impl Tree {
    /// The number of the next iteration on the path to the leaf, from 1.
    pub fn next_iteration(&self) -> usize {
        let path = self.leaf_to_root();
        1 + path.filter(|node| self.is_answer(*node)).count()
    }

    fn is_answer(&self, node: NodeId) -> bool {
        self.node(node).kind == Kind::Assistant
    }
}

impl SessionView {
    /// Iteration `number`, from 1. Reads only that one and the one before.
    pub fn iteration(&self, number: usize) -> Option<Iteration> {
        let before = number.checked_sub(1)?;
        let branch = self.branch();
        let is_answer = |at: &usize| self.tree().is_answer(branch[*at]);
        let (given, start) = match before.checked_sub(1) {
            None => (0, 0),
            Some(given) => (given, (0..branch.len()).filter(is_answer).nth(given)?),
        };
        let mut iterations = self.fold(given, branch[start..].to_vec());
        iterations.find(|iteration| iteration.number == number)
    }

    /// The iterations of the current branch, read one by one.
    pub fn iterations(&self) -> impl Iterator<Item = Iteration> {
        self.fold(0, self.branch())
    }

    /// The iterations in `nodes`, numbered after the first `given`.
    fn fold(&self, given: usize, nodes: Vec<NodeId>) -> impl Iterator<Item = Iteration> {
        let mut fold = Fold {
            given,
            ..Fold::default()
        };
        // The end may complete one iteration and leave another open.
        let nodes = nodes.into_iter().map(Some).chain([None, None]);
        nodes.filter_map(move |node| match node {
            Some(node) => fold.entry(self, node),
            None => fold.end(),
        })
    }
}

/// Iterations read but not returned yet.
#[derive(Default)]
struct Fold {
    given: usize,
    /// Time of the last entry in an iteration.
    time: String,
    /// Messages before the next call, and their entry ids.
    leading: Vec<Arc<Message>>,
    entries: Vec<String>,
    /// The model call since then, if known.
    call: ModelCall,
    current: Option<Iteration>,
    /// The system prompt of the calls.
    system: Option<String>,
}

/// A model call, from the entries about runs.
#[derive(Default)]
struct ModelCall {
    /// When its first attempt began.
    started_at: Option<String>,
    /// End of its last attempt.
    end: Value,
}

impl Fold {
    /// Adds an entry; returns the iteration that it ends.
    fn entry(&mut self, view: &SessionView, node: NodeId) -> Option<Iteration> {
        let is_answer = view.tree().is_answer(node);
        let stored = match view.entry(node) {
            Ok(stored) if !is_answer || stored.body.is_some() => stored,
            _ if is_answer => return self.damaged(),
            _ => return None,
        };
        if let Some(data) = stored.body.as_ref().and_then(Body::lifecycle) {
            self.call.note(data, &stored.timestamp);
            return None;
        }
        if view.tree().node(node).kind == Kind::Prompt
            && let Some(Body::Custom { data, .. }) = &stored.body
        {
            self.system = data["system"].as_str().map(str::to_owned);
        }
        let message = message_of(&stored.body?)?;
        let id = view.tree().id(node).to_owned();
        let done = match &*message {
            Message::ToolResult(result) if self.current.is_some() => {
                if let Some(current) = &mut self.current {
                    current.result(result);
                    current.add(Arc::clone(&message), id);
                }
                None
            }
            // A result without an answer leads to the next call.
            Message::User(_) | Message::ToolResult(_) => {
                let done = self.complete(true);
                self.leading.push(message);
                self.entries.push(id);
                done
            }
            Message::Assistant(answer) => {
                let done = self.complete(true);
                let end = self.call.end.take();
                let mut next = self.next();
                next.answer(answer);
                for (key, from) in [
                    ("first_token_ms", "firstTokenMs"),
                    ("duration_ms", "durationMs"),
                ] {
                    if end[from].is_u64() {
                        next.metadata.insert(key.into(), end[from].clone());
                    }
                }
                next.add(Arc::clone(&message), id);
                self.current = Some(next);
                done
            }
        };
        if !stored.timestamp.is_empty() {
            self.time = stored.timestamp;
        }
        done
    }

    /// An unreadable answer is an iteration too.
    fn damaged(&mut self) -> Option<Iteration> {
        let done = self.complete(true);
        let mut next = self.next();
        next.metadata.insert("damaged".into(), true.into());
        self.current = Some(next);
        done
    }

    fn end(&mut self) -> Option<Iteration> {
        let calls = self.call.started_at.is_some();
        let done = self.complete(calls);
        if done.is_some() || (self.leading.is_empty() && !calls) {
            return done;
        }
        // The model is being called.
        Some(self.next())
    }

    /// A new iteration with its leading messages.
    fn next(&mut self) -> Iteration {
        self.given += 1;
        let ModelCall { started_at, .. } = std::mem::take(&mut self.call);
        let entries = std::mem::take(&mut self.entries);
        let mut metadata = Map::from_iter([("entries".into(), entries.into())]);
        if let Some(system) = self.system.take_if(|_| self.given == 1) {
            metadata.insert("system_prompt".into(), system.into());
        }
        Iteration {
            number: self.given,
            messages: std::mem::take(&mut self.leading),
            tool_calls: Vec::new(),
            started_at: started_at.unwrap_or_else(|| self.time.clone()),
            completed_at: None,
            metadata,
        }
    }

    /// The current iteration. Missing results may still come unless something follows.
    fn complete(&mut self, followed: bool) -> Option<Iteration> {
        let mut done = self.current.take()?;
        let answered = done.tool_calls.iter().all(|call| call.is_error.is_some());
        // The calls of an incomplete answer never run.
        let stop = done.metadata.get("stop_reason").and_then(Value::as_str);
        let broken = matches!(stop, Some("error" | "aborted"));
        if answered || broken || followed {
            // A clock may have been set back.
            let completed = self.time.clone().max(done.started_at.clone());
            done.completed_at = Some(completed).filter(|time| !time.is_empty());
        }
        Some(done)
    }
}

impl ModelCall {
    fn note(&mut self, data: &Value, timestamp: &str) {
        match data["event"].as_str() {
            Some("api_call_start") if self.started_at.is_none() => {
                self.started_at = Some(timestamp.to_owned()).filter(|time| !time.is_empty());
            }
            Some("api_call_end") => self.end = data.clone(),
            // The program ended during a call.
            Some("agent_start") => *self = Self::default(),
            _ => {}
        }
    }
}

impl Iteration {
    fn add(&mut self, message: Arc<Message>, id: String) {
        self.messages.push(message);
        if let Some(Value::Array(entries)) = self.metadata.get_mut("entries") {
            entries.push(id.into());
        }
    }

    fn answer(&mut self, answer: &AssistantMessage) {
        let call = |call: &ToolCall| IterationCall {
            id: call.id.clone(),
            name: call.name.clone(),
            arguments: call.arguments.clone(),
            is_error: None,
            duration_ms: None,
        };
        self.tool_calls = answer.tool_calls().map(call).collect();
        for (key, value) in [
            (
                "model",
                json!(format!("{}/{}", answer.provider, answer.model)),
            ),
            ("usage", json!(answer.usage)),
            ("cost", json!(answer.usage.cost.total)),
            ("stop_reason", json!(answer.stop_reason)),
        ] {
            self.metadata.insert(key.into(), value);
        }
    }

    fn result(&mut self, result: &ToolResultMessage) {
        let mut calls = self.tool_calls.iter_mut();
        if let Some(call) = calls.find(|call| call.id == result.tool_call_id) {
            call.is_error = Some(result.is_error);
            call.duration_ms = result.duration_ms;
        }
    }
}

/// Figures of one model call and its tool calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IterationSummary {
    /// Numbered from 1 along the branch.
    pub number: usize,
    /// Start (Unix ms); 0 if unknown.
    pub began: i64,
    /// End (Unix ms); `None` while running.
    pub ended: Option<i64>,
    /// Milliseconds to the first token, if known.
    pub first_token_ms: Option<u64>,
    /// Tokens and cost of its answer.
    pub usage: Usage,
    /// First line of the prompt before it; empty if there was none.
    pub prompt: String,
    /// Its tool calls, in order.
    pub calls: Vec<CallSummary>,
}

/// Figures of one tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallSummary {
    /// The call's id.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// How it ended; `None` without a result.
    pub status: Option<ToolStatus>,
    /// Milliseconds it ran; `None` if it didn't.
    pub duration_ms: Option<u64>,
}

impl IterationSummary {
    /// Adds a message of the iteration.
    pub fn message(&mut self, message: &Message) {
        match message {
            Message::User(said) if is_from_user(said.origin.as_deref()) => {
                let text = content_text(&said.content);
                let line = text.lines().find(|line| !line.trim().is_empty());
                let line = line.unwrap_or_default().trim();
                line[..line.floor_char_boundary(PROMPT)].clone_into(&mut self.prompt);
            }
            Message::Assistant(answer) => self.usage = answer.usage.clone(),
            _ => {}
        }
    }
}

impl From<&Iteration> for IterationSummary {
    fn from(iteration: &Iteration) -> Self {
        let mut summary = Self {
            number: iteration.number,
            began: unix_ms(&iteration.started_at).unwrap_or_default(),
            ended: iteration.completed_at.as_deref().and_then(unix_ms),
            first_token_ms: iteration
                .metadata
                .get("first_token_ms")
                .and_then(Value::as_u64),
            ..Self::default()
        };
        let call = |call: &IterationCall| CallSummary {
            id: call.id.clone(),
            name: call.name.clone(),
            status: None,
            duration_ms: call.duration_ms,
        };
        summary.calls = iteration.tool_calls.iter().map(call).collect();
        for message in &iteration.messages {
            summary.message(message);
            if let Message::ToolResult(result) = &**message {
                let mut calls = summary.calls.iter_mut();
                let open =
                    calls.find(|call| call.id == result.tool_call_id && call.status.is_none());
                if let Some(call) = open {
                    call.status = Some(ToolStatus::of(result));
                }
            }
        }
        summary
    }
}

fn unix_ms(timestamp: &str) -> Option<i64> {
    let time: jiff::Timestamp = timestamp.parse().ok()?;
    Some(time.as_millisecond())
}
