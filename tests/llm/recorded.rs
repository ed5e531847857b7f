//! Streams recorded from real servers. In any split they fold to the message in their file; cut
//! anywhere, they end in a clear error.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};
use tiller::llm::anthropic::AnthropicDecoder;
use tiller::llm::google::GoogleDecoder;
use tiller::llm::openai::chat::ChatDecoder;
use tiller::llm::openai::responses::ResponsesDecoder;
use tiller::llm::{AssistantMessage, Billing, Content, Prices, StopReason, StreamEvent};

use super::kit;

/// The folders of recordings.
const WIRES: [&str; 4] = ["anthropic", "openai_chat", "openai_responses", "gemini"];

const PRICES: Prices = Prices {
    input: 1.0,
    output: 2.0,
    cache_read: 0.1,
    cache_write: 1.25,
    tiers: Vec::new(),
    service_tiers: BTreeMap::new(),
};

struct Recording {
    name: String,
    bytes: Vec<u8>,
    expected: Value,
}

fn recordings(wire: &str) -> Vec<Recording> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/llm/streams")
        .join(wire);
    let mut names: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    names.retain(|path| path.extension().is_some_and(|extension| extension == "sse"));
    names.sort();
    names
        .into_iter()
        .map(|path| {
            let json: Value =
                serde_json::from_slice(&fs::read(path.with_extension("json")).unwrap()).unwrap();
            Recording {
                name: path.file_stem().unwrap().to_string_lossy().into_owned(),
                bytes: fs::read(&path).unwrap(),
                expected: json["expected"].clone(),
            }
        })
        .collect()
}

fn fold<'a>(
    wire: &str,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (AssistantMessage, Vec<StreamEvent>) {
    match wire {
        "anthropic" => kit::fold(AnthropicDecoder::default(), &PRICES, pieces),
        "gemini" => kit::fold(GoogleDecoder::new(1), &PRICES, pieces),
        "openai_chat" => kit::fold(ChatDecoder::default(), &PRICES, pieces),
        _ => kit::fold(ResponsesDecoder::default(), &PRICES, pieces),
    }
}

/// The message in the format of the recordings' files.
fn seen(message: &AssistantMessage) -> (String, String, Vec<Value>) {
    let (mut text, mut thinking, mut calls) = (String::new(), String::new(), Vec::new());
    for block in &message.content {
        match block {
            Content::Text(block) => text.push_str(&block.text),
            Content::Thinking(block) => thinking.push_str(&block.thinking),
            Content::ToolCall(call) => {
                calls
                    .push(json!({ "id": call.id, "name": call.name, "arguments": call.arguments }));
            }
            Content::Image(_) => {}
        }
    }
    (text, thinking, calls)
}

/// The message of a recording, which has exactly one start and one end.
fn whole(wire: &str, recording: &Recording) -> AssistantMessage {
    let name = &recording.name;
    let (message, events) = fold(wire, [recording.bytes.as_slice()]);
    let last = events.last().unwrap();
    let ends = events
        .iter()
        .filter(|event| matches!(event, StreamEvent::Done { .. } | StreamEvent::Error(_)));
    assert_eq!(ends.count(), 1, "{name}: exactly one end");
    assert!(
        matches!(last, StreamEvent::Done { .. } | StreamEvent::Error(_)),
        "{name}: the end is last"
    );
    let starts = events
        .iter()
        .filter(|event| matches!(event, StreamEvent::Start { .. }));
    assert_eq!(starts.count(), 1, "{name}: one start");
    message
}

fn check(wire: &str, recording: &Recording) -> AssistantMessage {
    let (name, expected) = (&recording.name, &recording.expected);
    let message = whole(wire, recording);
    let (text, thinking, calls) = seen(&message);
    assert_eq!(text, expected["text"].as_str().unwrap(), "{name}");
    let expected_thinking = match &expected["thinking"] {
        Value::Array(blocks) => blocks
            .iter()
            .map(|block| block["thinking"].as_str().unwrap())
            .collect(),
        _ => expected["thinking_text"].as_str().unwrap().to_owned(),
    };
    assert_eq!(thinking, expected_thinking, "{name}");
    let cut_by_length = message.stop_reason == StopReason::Length;
    if !cut_by_length {
        assert_eq!(Value::Array(calls), expected["tool_calls"], "{name}");
    }
    assert_eq!(
        message.response_id.as_deref(),
        expected["id"].as_str(),
        "{name}"
    );
    assert_eq!(message.stop_reason, stop_reason(expected), "{name}");
    if message.stop_reason != StopReason::Error {
        assert_eq!(
            message.raw_stop_reason.as_deref(),
            expected["stop"].as_str(),
            "{name}"
        );
    }
    message
}

fn stop_reason(expected: &Value) -> StopReason {
    match expected["stop"].as_str() {
        Some("end_turn" | "stop") => StopReason::Stop,
        Some("tool_use" | "tool_calls") => StopReason::ToolUse,
        Some("max_tokens" | "length") => StopReason::Length,
        Some("refusal") => StopReason::Error,
        // Some servers give no reason after a call.
        None if expected["tool_calls"][0].is_object() => StopReason::ToolUse,
        other => panic!("{other:?}"),
    }
}

#[test]
fn anthropic_streams_fold_to_what_their_files_say() {
    let all = recordings("anthropic");
    assert!(all.len() > 15);
    for recording in &all {
        let message = check("anthropic", recording);
        let (name, usage) = (&recording.name, &recording.expected["usage"]);
        let count = |key: &str| usage[key].as_u64().unwrap_or_default();
        assert_eq!(message.usage.input, count("input_tokens"), "{name}");
        assert_eq!(message.usage.output, count("output_tokens"), "{name}");
        assert_eq!(
            message.usage.cache_read,
            count("cache_read_input_tokens"),
            "{name}"
        );
        assert_eq!(
            message.usage.cache_write,
            count("cache_creation_input_tokens"),
            "{name}"
        );
        assert_eq!(
            message.usage.cost,
            PRICES.cost(&message.usage, &Billing::default()),
            "{name}"
        );
        let signatures: Vec<&str> = message
            .content
            .iter()
            .filter_map(|block| match block {
                Content::Thinking(thinking) => thinking.thinking_signature.as_deref(),
                _ => None,
            })
            .collect();
        let expected: Vec<&str> = recording.expected["thinking"]
            .as_array()
            .unwrap()
            .iter()
            .map(|block| block["signature"].as_str().unwrap())
            .collect();
        assert_eq!(signatures, expected, "{name}");
        // Server tools leave no block.
        let blocks: Vec<&str> = message
            .content
            .iter()
            .map(|block| match block {
                Content::Text(_) => "text",
                Content::Thinking(_) => "thinking",
                Content::ToolCall(_) => "tool_use",
                Content::Image(_) => "image",
            })
            .collect();
        let known: Vec<&str> = recording.expected["block_types"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Value::as_str)
            .filter(|kind| matches!(*kind, "text" | "thinking" | "tool_use"))
            .collect();
        assert_eq!(blocks, known, "{name}");
    }
}

#[test]
fn chat_streams_fold_to_what_their_files_say() {
    let all = recordings("openai_chat");
    assert!(all.len() > 25);
    for recording in &all {
        let message = check("openai_chat", recording);
        let (name, expected) = (&recording.name, &recording.expected["usage"]);
        let usage = &message.usage;
        let prompt = usage.input + usage.cache_read + usage.cache_write;
        assert_eq!(
            prompt,
            expected["prompt_tokens"].as_u64().unwrap_or_default(),
            "{name}"
        );
        assert_eq!(
            usage.total_tokens,
            expected["total_tokens"].as_u64().unwrap_or_default(),
            "{name}"
        );
        match billed(recording) {
            Some(dollars) => assert!((usage.cost.total - dollars).abs() < 1e-9, "{name}"),
            None => assert_eq!(
                usage.cost,
                PRICES.cost(usage, &Billing::default()),
                "{name}"
            ),
        }
    }
}

/// The cost in US dollars that the host reports in its last usage.
fn billed(recording: &Recording) -> Option<f64> {
    let text = String::from_utf8_lossy(&recording.bytes);
    let mut events = text
        .lines()
        .rev()
        .filter_map(|line| line.strip_prefix("data: "));
    events.find_map(|data| serde_json::from_str::<Value>(data).ok()?["usage"]["cost"].as_f64())
}

// Google's counts, signatures on their parts, and calls without ids.
#[test]
fn gemini_streams_fold_to_what_their_files_say() {
    let all = recordings("gemini");
    assert!(all.len() > 10);
    for recording in &all {
        let (name, expected) = (&recording.name, &recording.expected);
        let (message, events) = fold("gemini", [recording.bytes.as_slice()]);
        let ends = events
            .iter()
            .filter(|event| matches!(event, StreamEvent::Done { .. } | StreamEvent::Error(_)));
        assert_eq!(ends.count(), 1, "{name}: exactly one end");
        assert!(matches!(events[0], StreamEvent::Start { .. }), "{name}");

        let (text, thinking, _) = seen(&message);
        assert_eq!(text, expected["text"].as_str().unwrap(), "{name}");
        assert_eq!(
            thinking,
            expected["thinking_text"].as_str().unwrap(),
            "{name}"
        );
        // The files list each piece of a call separately. Only a piece with a name begins a call.
        let known = expected["tool_calls"].as_array().unwrap();
        let known: Vec<&Value> = known.iter().filter(|it| it["name"].is_string()).collect();
        let calls: Vec<_> = message.tool_calls().collect();
        assert_eq!(calls.len(), known.len(), "{name}");
        let mut ids: Vec<&str> = Vec::new();
        for (call, known) in calls.iter().zip(&known) {
            assert_eq!(call.name, known["name"].as_str().unwrap(), "{name}");
            assert_eq!(
                call.thought_signature.as_deref(),
                known["thoughtSignature"].as_str(),
                "{name}"
            );
            if !name.contains("stream-tool-call-arguments") {
                assert_eq!(call.arguments, known["arguments"], "{name}");
            }
            assert!(!call.id.is_empty() && !ids.contains(&call.id.as_str()));
            ids.push(&call.id);
        }
        if name.contains("stream-tool-call-arguments") {
            let arguments: Vec<&Value> = calls.iter().map(|call| &call.arguments).collect();
            let expected = [
                &json!({ "location": "Boston" }),
                &json!({ "location": "San Francisco" }),
            ];
            assert_eq!(arguments, expected);
        }
        let signatures = message.content.iter().filter_map(|block| match block {
            Content::Text(text) => text.text_signature.as_deref(),
            Content::Thinking(thinking) => thinking.thinking_signature.as_deref(),
            Content::ToolCall(call) => call.thought_signature.as_deref(),
            Content::Image(_) => None,
        });
        let known = expected["thought_signatures"].as_array().unwrap();
        let known = known.iter().filter_map(Value::as_str);
        assert_eq!(
            signatures.collect::<Vec<_>>(),
            known.collect::<Vec<_>>(),
            "{name}"
        );

        let called = !calls.is_empty();
        let stop = if called {
            StopReason::ToolUse
        } else {
            StopReason::Stop
        };
        assert_eq!(message.stop_reason, stop, "{name}");
        assert_eq!(
            message.raw_stop_reason.as_deref(),
            expected["stop"].as_str(),
            "{name}"
        );
        assert!(message.response_id.is_some() && message.response_model.is_some());
        let usage = &message.usage;
        let count = |key: &str| expected["usage"][key].as_u64().unwrap_or_default();
        assert_eq!(usage.input, count("promptTokenCount"), "{name}");
        assert_eq!(
            usage.output,
            count("candidatesTokenCount") + count("thoughtsTokenCount"),
            "{name}"
        );
        let reasoning = Some(count("thoughtsTokenCount")).filter(|tokens| *tokens > 0);
        assert_eq!(usage.reasoning, reasoning, "{name}");
        assert_eq!(usage.total_tokens, count("totalTokenCount"), "{name}");
        assert_eq!(
            usage.cost,
            PRICES.cost(usage, &Billing::default()),
            "{name}"
        );
    }
}

#[test]
fn responses_streams_fold_to_what_their_files_say() {
    let all = recordings("openai_responses");
    assert!(all.len() > 20);
    for recording in &all {
        let (name, expected) = (&recording.name, &recording.expected);
        let message = whole("openai_responses", recording);
        let (text, thinking, _) = seen(&message);
        assert_eq!(text, expected["text"].as_str().unwrap(), "{name}");

        let items = expected["reasoning"].as_array().unwrap();
        let summaries = items.iter().flat_map(|item| {
            let parts = item["summary"].as_array().unwrap();
            parts.iter().map(|part| part.as_str().unwrap())
        });
        assert_eq!(
            thinking,
            summaries.collect::<Vec<_>>().join("\n\n"),
            "{name}"
        );
        let stored: Vec<Value> = message
            .content
            .iter()
            .filter_map(|block| match block {
                Content::Thinking(thinking) => {
                    serde_json::from_str(thinking.thinking_signature.as_deref()?).ok()
                }
                _ => None,
            })
            .collect();
        // The vendor encrypts an item again each time it sends it, and wants the finished item's
        // version.
        let text = String::from_utf8(recording.bytes.clone()).unwrap();
        let finished: Vec<Value> = text
            .lines()
            .filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok())
            .filter(|event: &Value| event["type"] == "response.output_item.done")
            .map(|event| event["item"].clone())
            .collect();
        // An item before one of the server's own tools is dropped with it.
        let ours = ["message", "function_call", "custom_tool_call", "reasoning"];
        let goes = |pair: &&[Value]| {
            pair[0]["type"] == "reasoning" && !ours.contains(&pair[1]["type"].as_str().unwrap())
        };
        let gone = finished.windows(2).filter(goes).count();
        assert_eq!(
            stored.len() + gone,
            items.len(),
            "{name}: an item is missing"
        );
        for stored in &stored {
            assert!(finished.contains(stored), "{name}: an item was changed");
            let same = |item: &&Value| item["encrypted_content"].is_string();
            assert_eq!(
                stored["encrypted_content"].is_string(),
                items.iter().any(|it| same(&it))
            );
        }

        let calls: Vec<Value> = message
            .tool_calls()
            .map(|call| {
                let (id, item) = call.id.split_once('|').unwrap_or((&call.id, ""));
                if call.custom {
                    return json!({ "id": id, "name": call.name, "input": call.arguments["input"] });
                }
                json!({ "id": id, "item_id": item, "name": call.name, "arguments": call.arguments })
            })
            .collect();
        let listed = |key: &str| expected[key].as_array().unwrap().clone();
        let expected_calls = [listed("tool_calls"), listed("custom_tool_calls")].concat();
        assert_eq!(calls, expected_calls, "{name}");

        let stop = match expected["status"].as_str().unwrap() {
            "failed" => StopReason::Error,
            "completed" if expected_calls.is_empty() => StopReason::Stop,
            "completed" => StopReason::ToolUse,
            other => panic!("{name}: {other}"),
        };
        assert_eq!(message.stop_reason, stop, "{name}");
        let usage = &message.usage;
        let prompt = usage.input + usage.cache_read + usage.cache_write;
        let count = |key: &str| expected["usage"][key].as_u64().unwrap_or_default();
        assert_eq!(prompt, count("input_tokens"), "{name}");
        assert_eq!(usage.output, count("output_tokens"), "{name}");
        assert_eq!(usage.total_tokens, count("total_tokens"), "{name}");
        assert_eq!(
            usage.cost,
            PRICES.cost(usage, &Billing::default()),
            "{name}"
        );
    }
}

#[test]
fn a_stream_byte_by_byte_folds_to_the_same() {
    for wire in WIRES {
        for recording in recordings(wire) {
            let whole = fold(wire, [recording.bytes.as_slice()]);
            let bytes = fold(wire, recording.bytes.chunks(1));
            assert_eq!(whole, bytes, "{}", recording.name);
        }
    }
}

#[test]
fn all_kinds_of_line_ends_fold_to_the_same() {
    for wire in WIRES {
        for recording in recordings(wire) {
            let whole = fold(wire, [recording.bytes.as_slice()]).0;
            let text = String::from_utf8(recording.bytes)
                .unwrap()
                .replace("\r\n", "\n");
            for end in ["\r\n", "\r"] {
                let other = format!("\u{feff}{}", text.replace('\n', end));
                // A byte order mark before a line that isn't a field changes nothing either.
                assert_eq!(
                    fold(wire, [other.as_bytes()]).0,
                    whole,
                    "{} with {end:?}",
                    recording.name
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_split_folds_to_the_same(wire in 0..WIRES.len(), pick in any::<prop::sample::Index>(), cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..20)) {
        let wire = WIRES[wire];
        let all = recordings(wire);
        let recording = &all[pick.index(all.len())];
        let bytes = recording.bytes.as_slice();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.index(bytes.len())).collect();
        cuts.sort_unstable();
        let (mut pieces, mut from) = (Vec::new(), 0);
        for cut in cuts {
            pieces.push(&bytes[from..cut]);
            from = cut;
        }
        pieces.push(&bytes[from..]);
        prop_assert_eq!(fold(wire, pieces), fold(wire, [bytes]));
    }
}

#[test]
fn a_stream_cut_anywhere_ends_in_a_clear_error_or_is_complete() {
    for wire in WIRES {
        for recording in recordings(wire) {
            let (whole, _) = fold(wire, [recording.bytes.as_slice()]);
            // Every byte of short recordings. For long ones, enough cuts to hit every kind of
            // place.
            let step = 1 + recording.bytes.len() / 400;
            for end in (0..recording.bytes.len()).step_by(step) {
                let (message, events) = fold(wire, [&recording.bytes[..end]]);
                let name = &recording.name;
                match events.last() {
                    Some(StreamEvent::Error(error)) => {
                        assert_eq!(message.stop_reason, StopReason::Error);
                        let refused = whole.stop_reason == StopReason::Error;
                        assert!(
                            refused || error.message == "lab/m: stream ended early",
                            "{name} at {end}: {error}"
                        );
                    }
                    Some(StreamEvent::Done { .. }) => {
                        assert_eq!(message.content, whole.content, "{name} at {end}: complete");
                        assert_eq!(message.stop_reason, whole.stop_reason, "{name} at {end}");
                    }
                    other => panic!("{name} at {end} ends in {other:?}"),
                }
            }
        }
    }
}
