//! The demo that runs when there is no key: its script and its model.

use super::super::api::Api;
use super::super::model::Model;
use super::script::Script;

const DEMO: &str = include_str!("../../../assets/demo.toml");

/// The script of the demo, `assets/demo.toml`.
pub fn demo_script() -> Script {
    Script::parse(DEMO).expect("assets/demo.toml is checked by a test")
}

/// The model the demo shows itself as.
pub fn demo_model() -> Model {
    Model {
        name: "Demo (a script, not a model)".to_owned(),
        reasoning: true,
        ..Model::new("demo", "demo", Api::Scripted, "")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use futures_util::StreamExt;

    use super::super::super::message::{
        AssistantMessage, Content, Message, StopReason, ToolResultMessage,
    };
    use super::super::super::model::ThinkingLevel;
    use super::super::super::provider::{Provider, Request};
    use super::super::Scripted;
    use super::*;

    /// Plays the whole show with tools that succeed at once; gives its messages and its length.
    async fn play() -> (Vec<Arc<Message>>, Duration) {
        let script = demo_script();
        let mut messages = vec![Arc::new(Message::user(script.prompt.clone(), 0))];
        let provider = Scripted::new(script);
        let started = tokio::time::Instant::now();
        loop {
            let mut stream = provider.stream(Request {
                model: demo_model(),
                system: String::new(),
                messages: messages.clone(),
                thinking_from: 0,
                tools: Vec::new(),
                thinking: ThinkingLevel::Medium,
                max_output: None,
                session_id: None,
            });
            let mut reply = AssistantMessage::default();
            while let Some(event) = stream.next().await {
                reply.apply(&event);
            }
            let calls: Vec<_> = reply.tool_calls().cloned().collect();
            let reason = reply.stop_reason;
            messages.push(Arc::new(Message::Assistant(reply)));
            messages.extend(calls.into_iter().map(|call| {
                Arc::new(Message::ToolResult(ToolResultMessage {
                    tool_call_id: call.id,
                    tool_name: call.name,
                    content: vec![Content::text("ok")],
                    details: None,
                    is_error: false,
                    duration_ms: Some(1),
                    timestamp: 0,
                }))
            }));
            if reason == StopReason::Stop {
                return (messages, started.elapsed());
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_show_has_everything_and_ends_in_time() {
        let (messages, length) = play().await;
        let seconds = length.as_secs_f64();
        // The tests of the demo's project take about 3 s more.
        assert!((22.0..45.0).contains(&seconds), "{seconds} s");

        let replies: Vec<&AssistantMessage> = messages
            .iter()
            .filter_map(|message| match &**message {
                Message::Assistant(reply) => Some(reply),
                _ => None,
            })
            .collect();
        let calls: Vec<&str> = replies
            .iter()
            .flat_map(|reply| reply.tool_calls())
            .map(|call| call.name.as_str())
            .collect();
        assert_eq!(calls, ["find", "grep", "read", "edit", "bash"]);
        let thoughts = |block: &&Content| matches!(block, Content::Thinking(_));
        assert!(
            replies
                .iter()
                .flat_map(|r| &r.content)
                .any(|b| thoughts(&b))
        );

        let said = |reply: &AssistantMessage| Message::Assistant(reply.clone()).text();
        let greeting = said(replies[0]);
        assert!(
            greeting.contains("from a script, not from a model"),
            "{greeting}"
        );
        assert!(
            greeting.contains("\nexport ANTHROPIC_API_KEY="),
            "{greeting}"
        );
        let closing = said(replies[replies.len() - 1]);
        assert!(
            closing.contains("| --- |") && closing.contains("```bash"),
            "{closing}"
        );
    }

    #[test]
    fn any_message_gets_an_answer() {
        let script = demo_script();
        for message in ["", "hello", "why?", "stop", "which key", "set an API key"] {
            assert!(script.answer_to(message).is_some(), "{message:?}");
        }
    }
}
