//! Plays a script: from a conversation to the timed events of the next response. Cancels by being
//! dropped, like every provider.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use serde_json::Value;

use super::super::event::StreamEvent;
use super::super::message::{Content, Message, StopReason, Usage};
use super::super::provider::{Provider, Request};
use super::position::position;
use super::script::{Script, Step};

/// Bytes per token, roughly.
const BYTES_PER_TOKEN: u64 = 4;
/// Characters of the user's message that an answer may quote.
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
    events: Vec<(Duration, StreamEvent)>,
    /// Silence that comes before the next event.
    pause: Duration,
    /// Content blocks so far.
    blocks: usize,
    /// Replies given before, which makes the ids of calls unique within the conversation.
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
            events: Vec::new(),
            pause: Duration::ZERO,
            blocks: 0,
            turn: request.messages.iter().filter(is_reply).count(),
            calls: 0,
            output: 0,
        }
    }

    fn play(mut self) -> Vec<(Duration, StreamEvent)> {
        let script = self.script;
        let position = position(&self.request.messages, &script.prompt);
        self.push(StreamEvent::Start {
            response_id: None,
            response_model: None,
        });
        if let Some(said) = &position.said
            && let Some(answer) = script.answer_to(said)
        {
            let quote = quote(said);
            for step in &answer.steps {
                self.step(step, &quote);
            }
        }
        if let Some(reply) = script.replies.get(position.given) {
            for step in &reply.steps {
                if !position.calls_only || matches!(step, Step::Call(_) | Step::Pause(_)) {
                    self.step(step, "");
                }
            }
        }
        self.finish()
    }

    fn step(&mut self, step: &Step, said: &str) {
        match step {
            Step::Pause(step) => self.pause += Duration::from_millis(step.pause_ms),
            Step::Thinking(step) => {
                let index = self.open();
                self.push(StreamEvent::ThinkingStart { index });
                let every = self.script.thinking_ms;
                self.pieces(&step.thinking, every, |delta| StreamEvent::ThinkingDelta {
                    index,
                    delta,
                });
                self.push(StreamEvent::ThinkingEnd {
                    index,
                    signature: None,
                    redacted: false,
                });
            }
            Step::Text(step) => {
                let index = self.open();
                self.push(StreamEvent::TextStart { index });
                let every = self.script.text_ms;
                let text = step.text.replace("{message}", said);
                self.pieces(&text, every, |delta| StreamEvent::TextDelta {
                    index,
                    delta,
                });
                self.push(StreamEvent::TextEnd {
                    index,
                    signature: None,
                });
            }
            Step::Call(step) => {
                let index = self.open();
                self.calls += 1;
                self.push(StreamEvent::ToolCallStart {
                    index,
                    id: format!("call_{}_{}", self.turn + 1, self.calls),
                    name: step.call.clone(),
                    custom: false,
                });
                let every = self.script.arguments_ms;
                let arguments = Value::Object(step.args.clone()).to_string();
                self.pieces(&arguments, every, |delta| StreamEvent::ToolCallDelta {
                    index,
                    delta,
                });
                self.push(StreamEvent::ToolCallEnd {
                    index,
                    thought_signature: None,
                });
            }
        }
    }

    fn finish(mut self) -> Vec<(Duration, StreamEvent)> {
        let input = (self.request.system.len() as u64
            + self.request.messages.iter().map(|m| weight(m)).sum::<u64>())
            / BYTES_PER_TOKEN;
        let output = self.output / BYTES_PER_TOKEN;
        self.push(StreamEvent::Usage(Usage {
            input,
            output,
            total_tokens: input + output,
            ..Usage::default()
        }));
        let reason = if self.calls > 0 {
            StopReason::ToolUse
        } else {
            StopReason::Stop
        };
        self.push(StreamEvent::Done { reason, raw: None });
        self.events
    }

    fn open(&mut self) -> usize {
        self.blocks += 1;
        self.blocks - 1
    }

    fn push(&mut self, event: StreamEvent) {
        self.events.push((std::mem::take(&mut self.pause), event));
    }

    fn pieces(&mut self, text: &str, every_ms: u64, event: impl Fn(String) -> StreamEvent) {
        for piece in words(text) {
            self.output += piece.len() as u64;
            self.pause += Duration::from_millis(every_ms);
            self.push(event(piece.to_owned()));
        }
    }
}

/// Cuts a text behind each run of blanks, the way models speak: word by word.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive([' ', '\n'])
}

/// The first line of a message, short enough to stand inside a sentence.
fn quote(said: &str) -> String {
    let line = said.trim().lines().next().unwrap_or_default();
    let mut quote: String = line.chars().take(QUOTE_CHARS).collect();
    if quote.len() < line.len() {
        quote.push('…');
    }
    quote
}

fn weight(message: &Message) -> u64 {
    message
        .content()
        .iter()
        .map(|block| match block {
            Content::Text(block) => block.text.len(),
            Content::Thinking(block) => block.thinking.len(),
            Content::Image(image) => image.data.len() / 8,
            Content::ToolCall(call) => call.arguments.to_string().len(),
        })
        .sum::<usize>() as u64
}

#[cfg(test)]
mod tests {
    use super::super::super::message::AssistantMessage;
    use super::super::super::model::ThinkingLevel;
    use super::super::demo_model;
    use super::*;

    const SCRIPT: &str = r#"
        prompt = "go"
        text_ms = 20
        [[reply]]
        steps = [
            { thinking = "let me see" },
            { text = "I search now." },
            { call = "grep", args = { pattern = "a b" } },
            { call = "ls" },
        ]
        [[reply]]
        steps = [{ text = "All done." }]
        [[on_message]]
        when = ["key"]
        steps = [{ text = "About keys." }]
        [[on_message]]
        steps = [{ text = "You said {message}. " }]
    "#;

    fn request(messages: Vec<Message>) -> Request {
        Request {
            model: demo_model(),
            system: String::new(),
            messages: messages.into_iter().map(Arc::new).collect(),
            thinking_from: 0,
            tools: Vec::new(),
            thinking: ThinkingLevel::Medium,
            max_output: None,
            session_id: None,
        }
    }

    async fn reply(messages: Vec<Message>) -> AssistantMessage {
        let provider = Scripted::new(Script::parse(SCRIPT).unwrap());
        let mut message = AssistantMessage::default();
        let mut stream = provider.stream(request(messages));
        while let Some(event) = stream.next().await {
            message.apply(&event);
        }
        message
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_reply_comes_whole_and_calls_its_tools() {
        let message = reply(vec![Message::user("go", 0)]).await;
        assert_eq!(message.stop_reason, StopReason::ToolUse);
        let calls: Vec<_> = message.tool_calls().collect();
        assert_eq!(calls[0].name, "grep");
        assert_eq!(calls[0].arguments["pattern"], "a b");
        assert_ne!(calls[0].id, calls[1].id);
        assert_eq!(calls[1].arguments, serde_json::json!({}));
        let Content::Thinking(thinking) = &message.content[0] else {
            panic!("no thinking first");
        };
        assert_eq!(thinking.thinking, "let me see");
        assert!(message.usage.output > 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_user_message_is_answered_and_the_script_goes_on() {
        let first = reply(vec![Message::user("go", 0)]).await;
        let conversation = vec![
            Message::user("go", 0),
            Message::Assistant(first),
            Message::user("nice weather\nand more", 0),
        ];
        let message = reply(conversation.clone()).await;
        let text = Message::Assistant(message.clone()).text();
        assert_eq!(text, "You said nice weather. \nAll done.");
        assert_eq!(message.stop_reason, StopReason::Stop);

        let mut over = conversation;
        over.push(Message::Assistant(message));
        over.push(Message::user("what KEY?", 0));
        let text = Message::Assistant(reply(over).await).text();
        assert_eq!(text, "About keys.", "the show is over, the answer is all");
    }

    #[tokio::test(start_paused = true)]
    async fn text_takes_its_time() {
        let provider = Scripted::new(Script::parse(SCRIPT).unwrap());
        let started = tokio::time::Instant::now();
        let mut stream = provider.stream(request(vec![Message::user("go", 0)]));
        while stream.next().await.is_some() {}
        // Three pieces of text at 20 ms; thinking and arguments cost nothing in this script.
        assert_eq!(started.elapsed(), Duration::from_millis(60));
    }

    #[test]
    fn a_long_message_is_quoted_short() {
        assert_eq!(quote("  hi\nyou"), "hi");
        let long = quote(&"ä".repeat(500));
        assert_eq!(long.chars().count(), QUOTE_CHARS + 1);
        assert_eq!(quote(""), "");
    }
}
