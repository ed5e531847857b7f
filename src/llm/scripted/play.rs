//! Plays a script: turns a conversation into the timed events of the next response. Dropping it cancels
//! it, like every provider.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use serde_json::Value;

use super::position::position;
use super::script::{ReplyStep, Script};
use crate::classify::ErrorContext;
use crate::decoder::EventWriter;
use crate::event::{BlockKind, StreamEvent};
use crate::message::{Message, Usage};
use crate::model::{Billing, Prices};
use crate::provider::{Provider, Request};

/// Bytes per token, roughly.
const BYTES_PER_TOKEN: u64 = 4;
/// Most characters of the user's message to quote in a reply.
const QUOTE_CHARS: usize = 60;

/// A provider that plays a script.
#[derive(Clone, Debug)]
pub struct Scripted {
    script: Arc<Script>,
}

impl Scripted {
    /// A provider that plays `script`.
    pub fn new(script: Script) -> Self {
        Self {
            script: Arc::new(script),
        }
    }
}

impl Provider for Scripted {
    fn stream(&self, request: Request) -> BoxStream<'static, StreamEvent> {
        let events = Player::new(&self.script, &request).play();
        stream::unfold(events.into_iter(), |mut events| async move {
            let (pause, event) = events.next()?;
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
            Some((event, events))
        })
        .boxed()
    }
}

/// Turns steps into timed events: each with the pause before it.
struct Player<'a> {
    script: &'a Script,
    request: &'a Request,
    writer: EventWriter,
    events: Vec<(Duration, StreamEvent)>,
    /// The pause before the next event.
    pause: Duration,
    /// The number of earlier replies, which makes the ids of calls unique within the conversation.
    turn: usize,
    calls: usize,
    output: u64,
}

impl<'a> Player<'a> {
    fn new(script: &'a Script, request: &'a Request) -> Self {
        let is_reply = |message: &&Arc<Message>| matches!(***message, Message::Assistant(_));
        Self {
            script,
            request,
            writer: EventWriter::new(Prices::default(), ErrorContext::default()),
            events: Vec::new(),
            pause: Duration::ZERO,
            turn: request.messages.iter().filter(is_reply).count(),
            calls: 0,
            output: 0,
        }
    }

    fn play(mut self) -> Vec<(Duration, StreamEvent)> {
        let script = self.script;
        let position = position(&self.request.messages, &script.prompt);
        self.writer.start(&Value::Null, &Value::Null);
        self.flush();
        if let Some(message) = &position.unanswered
            && let Some(reply) = script.reply_to(message)
        {
            let quote = quote(message);
            for step in &reply.steps {
                self.step(step, &quote);
            }
        }
        if let Some(reply) = script.replies.get(position.given) {
            for step in &reply.steps {
                let call = matches!(step, ReplyStep::Call { .. } | ReplyStep::Pause { .. });
                if call || !position.calls_only {
                    self.step(step, "");
                }
            }
        }
        let texts = self.request.messages.iter().map(|it| it.text().len());
        let input = self.request.system.len() + texts.sum::<usize>();
        let usage = Usage {
            input: input as u64 / BYTES_PER_TOKEN,
            output: self.output / BYTES_PER_TOKEN,
            ..Usage::default()
        };
        self.writer.usage(usage, &Billing::default());
        self.writer.done(None);
        self.flush();
        self.events
    }

    fn step(&mut self, step: &ReplyStep, message: &str) {
        let (block, text, every_ms) = match step {
            ReplyStep::Pause { pause_ms } => {
                self.pause += Duration::from_millis(*pause_ms);
                return;
            }
            ReplyStep::Thinking { thinking } => {
                let block = self.writer.open(BlockKind::Thinking);
                (block, thinking.clone(), self.script.thinking_ms)
            }
            ReplyStep::Text { text } => {
                let block = self.writer.open(BlockKind::Text);
                (
                    block,
                    text.replace("{message}", message),
                    self.script.text_ms,
                )
            }
            ReplyStep::Call { call, args } => {
                self.calls += 1;
                let id = format!("call_{}_{}", self.turn + 1, self.calls);
                let block = self.writer.open_call(id, call.clone(), false);
                let arguments = Value::Object(args.clone()).to_string();
                (block, arguments, self.script.arguments_ms)
            }
        };
        self.flush();
        for piece in words(&text) {
            self.output += piece.len() as u64;
            self.pause += Duration::from_millis(every_ms);
            self.writer.delta(block, piece);
            self.flush();
        }
        self.writer.close(block, None);
        self.flush();
    }

    /// Takes over the events so far, after the pause.
    fn flush(&mut self) {
        let mut written = Vec::new();
        self.writer.drain_into(&mut written);
        for event in written {
            self.events.push((std::mem::take(&mut self.pause), event));
        }
    }
}

/// Cuts a text after each run of spaces, the way models write: word by word.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive([' ', '\n'])
}

/// The first line of a message, short enough for a sentence.
fn quote(message: &str) -> String {
    let line = message.trim().lines().next().unwrap_or_default();
    let mut quote: String = line.chars().take(QUOTE_CHARS).collect();
    if quote.len() < line.len() {
        quote.push('…');
    }
    quote
}
