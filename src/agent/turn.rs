//! One response of a model: the request goes out, the stream is folded and passed on, the message
//! is finished. A stream that is cut short ends as an aborted message that keeps what was said.
//! Names no vendor, runs no tool.

use std::sync::Arc;

use futures_util::StreamExt;
use tokio::select;

use super::call_ids::CallIds;
use super::desk::{Desk, Turn};
use super::event::{AgentEvent, Phase, now_ms};
use super::kit::Kit;
use crate::llm::{
    AssistantMessage, ErrorClass, LlmError, Message, Request, StopReason, StreamEvent, ToolCall,
};

/// What a model call came to.
#[derive(Debug)]
pub(super) struct Reply {
    /// The assistant message as stored.
    pub message: Arc<Message>,
    /// Why it ended.
    pub stop: StopReason,
    /// The tools it wants run.
    pub calls: Vec<ToolCall>,
    /// What went wrong, if the call failed.
    pub failure: Option<String>,
}

/// Makes the model call of `turn` and reports it piece by piece.
pub(super) async fn respond(desk: &Desk, kit: &Kit, turn: &Turn) -> Reply {
    desk.phase(Phase::Requesting).await;
    let mut message = empty_message(turn);
    let mut stream = kit.provider.stream(request(kit, turn));
    let mut ids = CallIds::new(&turn.messages);
    let mut started = false;
    loop {
        let event = select! {
            biased;
            () = turn.interrupt.cancelled() => None,
            event = stream.next() => Some(event.unwrap_or_else(ended_early)),
        };
        let Some(mut event) = event else {
            message.stop_reason = StopReason::Aborted;
            break;
        };
        if !started {
            started = true;
            desk.emit(message_start(&message)).await;
            desk.phase(Phase::Streaming).await;
        }
        ids.settle(&mut event);
        message.apply(&event);
        let over = matches!(event, StreamEvent::Done { .. } | StreamEvent::Error(_));
        desk.emit(AgentEvent::MessageUpdate { event }).await;
        if over {
            break;
        }
    }
    // Closes the socket before anything else happens.
    drop(stream);
    if !started {
        desk.emit(message_start(&message)).await;
    }
    finish(desk, message).await
}

async fn finish(desk: &Desk, mut message: AssistantMessage) -> Reply {
    if message.stop_reason == StopReason::Pending {
        message.stop_reason = StopReason::Stop;
    }
    let stop = message.stop_reason;
    let failure = (stop == StopReason::Error).then(|| {
        let text = message.error_message.clone();
        text.unwrap_or_else(|| String::from("The model call failed."))
    });
    // A failed message is never sent again, so results for its calls would answer nothing.
    let calls = match failure {
        None => message.tool_calls().cloned().collect(),
        Some(_) => Vec::new(),
    };
    let message = Arc::new(Message::Assistant(message));
    desk.emit(AgentEvent::MessageEnd {
        message: Arc::clone(&message),
    })
    .await;
    Reply {
        message,
        stop,
        calls,
        failure,
    }
}

fn request(kit: &Kit, turn: &Turn) -> Request {
    let tools = kit.toolbox.specs(turn.model.edit_format);
    Request {
        model: (*turn.model).clone(),
        system: kit.prompt.render(&tools, &turn.model),
        messages: turn.messages.clone(),
        tools,
        thinking: turn.thinking,
        max_output: None,
        session_id: Some(kit.conversation_id.clone()),
    }
}

fn empty_message(turn: &Turn) -> AssistantMessage {
    AssistantMessage {
        api: turn.model.api.as_str().to_owned(),
        provider: turn.model.provider.clone(),
        model: turn.model.id.clone(),
        thinking_level: Some(turn.thinking.to_string()),
        timestamp: now_ms(),
        ..AssistantMessage::default()
    }
}

fn message_start(message: &AssistantMessage) -> AgentEvent {
    AgentEvent::MessageStart {
        message: Arc::new(Message::Assistant(message.clone())),
    }
}

/// A provider that just stops breaks its contract; the person should hear of it all the same.
fn ended_early() -> StreamEvent {
    StreamEvent::Error(LlmError::new(
        ErrorClass::Retryable,
        "The model's answer broke off before its end.",
    ))
}
