//! How answers end on Anthropic's wire, and what a server's own tools leave in the stream.

use serde_json::{Value, json};
use tiller::llm::anthropic::AnthropicDecoder;
use tiller::llm::openai::responses::ResponsesDecoder;
use tiller::llm::{
    AssistantMessage, Catalog, Content, ErrorClass, Message, Prices, StopReason, StreamEvent,
    ThinkingLevel, anthropic,
};

use super::kit::{self, request, sse};

fn fold(events: &[Value]) -> (AssistantMessage, Vec<StreamEvent>) {
    let stream = sse(events);
    kit::fold(
        AnthropicDecoder::default(),
        &Prices::default(),
        [stream.as_bytes()],
    )
}

/// A text block, opened and closed.
fn text() -> Vec<Value> {
    vec![
        json!({ "type": "message_start", "message": { "id": "m" } }),
        json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "Whole." } }),
        json!({ "type": "content_block_stop", "index": 0 }),
    ]
}

fn delta(reason: &Value, details: &Value) -> Value {
    json!({ "type": "message_delta", "delta": { "stop_reason": reason, "stop_details": details } })
}

fn class(events: &[StreamEvent]) -> Option<ErrorClass> {
    match events.last() {
        Some(StreamEvent::Error(error)) => Some(error.class),
        _ => None,
    }
}

#[test]
fn an_answer_is_complete_with_a_stop_reason_and_no_open_block() {
    let mut events = text();
    events.push(delta(&json!("end_turn"), &Value::Null));
    let (message, seen) = fold(&events);
    assert_eq!(
        (message.stop_reason, class(&seen)),
        (StopReason::Stop, None)
    );
    // Without a reason, or within a block, something is missing.
    for missing in [2, 3] {
        let mut cut = events.clone();
        cut.remove(missing);
        assert_eq!(
            class(&fold(&cut).1),
            Some(ErrorClass::Retryable),
            "{missing}"
        );
    }
}

#[test]
fn only_a_known_stop_reason_is_success() {
    use ErrorClass::{Refused, Retryable};
    for (reason, expected) in [
        (json!("end_turn"), Ok(StopReason::Stop)),
        (json!("stop_sequence"), Ok(StopReason::Stop)),
        (json!("tool_use"), Ok(StopReason::Stop)),
        (json!("pause_turn"), Ok(StopReason::Stop)),
        (json!("max_tokens"), Ok(StopReason::Length)),
        (
            json!("model_context_window_exceeded"),
            Ok(StopReason::Length),
        ),
        (json!("refusal"), Err(Refused)),
        (json!("compaction"), Err(Retryable)),
        (json!("some_new_reason"), Err(Retryable)),
        (Value::Null, Err(Retryable)),
    ] {
        let mut events = text();
        events.push(delta(&reason, &Value::Null));
        events.push(json!({ "type": "message_stop" }));
        let (message, seen) = fold(&events);
        let comes = class(&seen).map_or(Ok(message.stop_reason), Err);
        assert_eq!(comes, expected, "{reason}");
        assert_eq!(message.is_paused(), reason == json!("pause_turn"));
    }
}

#[test]
fn a_refusal_says_its_category_and_what_to_do() {
    let mut events = text();
    let details = json!({ "type": "refusal", "category": "cyber", "explanation": "Not\nthis." });
    events.push(delta(&json!("refusal"), &details));
    events.push(json!({ "type": "message_stop" }));
    let (_, seen) = fold(&events);
    let error = kit::error(&seen);
    assert_eq!(
        error.message,
        "lab/m: the model refused to answer (cyber): Not this."
    );
    assert!(error.hint.as_ref().unwrap().contains("models.fallback"));
}

/// OpenAI rejects reasoning that returns without the item after it.
#[test]
fn reasoning_before_a_tool_of_the_server_is_not_sent_back() {
    let reasoning =
        json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x" });
    let search = json!({ "type": "web_search_call", "id": "ws_1", "status": "completed" });
    let message = json!({ "type": "message", "id": "msg_1", "content": [{ "type": "output_text", "text": "Found." }] });
    let signed = |items: &[&Value]| {
        let done = items.iter().enumerate().map(
            |(at, item)| json!({ "type": "response.output_item.done", "output_index": at, "item": item }),
        );
        let mut events: Vec<Value> = done.collect();
        events.push(json!({ "type": "response.completed", "response": { "status": "completed", "output": items } }));
        let stream = sse(&events);
        let prices = Prices::default();
        let (answer, _) = kit::fold(ResponsesDecoder::default(), &prices, [stream.as_bytes()]);
        assert_eq!(Message::Assistant(answer.clone()).text(), "Found.");
        answer
            .content
            .iter()
            .any(|block| matches!(block, Content::Thinking(it) if it.thinking_signature.is_some()))
    };
    assert!(signed(&[&reasoning, &message]));
    assert!(!signed(&[&reasoning, &search, &message]));
}

/// <https://platform.claude.com/docs/en/models/sonnet-5-5/whats-new-sonnet-5-5>
#[test]
fn the_default_model_can_be_told_not_to_think_first() {
    let catalog = Catalog::default();
    let sonnet = catalog
        .current()
        .known("anthropic", "claude-sonnet-5-5")
        .unwrap();
    for (level, expected) in [
        (ThinkingLevel::Off, json!({ "type": "between_tools" })),
        (
            ThinkingLevel::Low,
            json!({ "type": "adaptive", "display": "summarized", "block_binding": { "prefix_mismatch_behavior": "drop_block" } }),
        ),
    ] {
        let mut request = request(sonnet.clone(), vec![Message::user("x", 0)]);
        request.thinking = level;
        let body: Value = serde_json::from_slice(&anthropic::request::body(&request)).unwrap();
        assert_eq!(body["thinking"], expected);
        assert_eq!(body["output_config"], json!({ "effort": "low" }));
    }
}

#[test]
fn batch_only_models_are_not_listed() {
    let catalog = Catalog::default();
    let snapshot = catalog.current();
    let batch: Vec<_> = snapshot
        .ids()
        .filter(|(_, id)| id.ends_with(":batch"))
        .collect();
    assert_eq!(batch, []);
}
