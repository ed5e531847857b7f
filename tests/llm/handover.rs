//! Conversations that move over every wire and back to the first. They have tools and thinking at
//! each stop, in each order, with random damage. Each mock server rejects what its vendor would.

use futures_util::StreamExt;
use proptest::prelude::*;
use serde_json::{Value, json};
use tiller::llm::{
    AssistantMessage, Client, Content, CustomFormat, Image, Message, Model, Provider, Request,
    StopReason, ThinkingLevel, ToolCall, ToolSpec,
};

use super::kit::{answer, image, model, request, result, text, tool, user, wires, with_quirks};
use crate::support::model_server::{Failure, ModelServer, Reply, Said, Script, Step, Wire};

/// All orders of `wires`.
fn orders(wires: &[Wire]) -> Vec<Vec<Wire>> {
    if wires.is_empty() {
        return vec![Vec::new()];
    }
    let mut orders = Vec::new();
    for (at, first) in wires.iter().enumerate() {
        let mut rest = wires.to_vec();
        rest.remove(at);
        for mut order in self::orders(&rest) {
            order.insert(0, *first);
            orders.push(order);
        }
    }
    orders
}

#[tokio::test]
async fn a_conversation_moves_over_every_wire_and_back() {
    for mut order in orders(&Wire::ALL) {
        order.push(order[0]);
        let replies = order.iter().enumerate().flat_map(|(stop, _)| {
            let first = Reply::new()
                .think(format!("Thought {stop}."))
                .say(format!("Stop {stop}."))
                .and_call("read", json!({ "path": format!("{stop}.rs") }))
                .and_call("grep", json!({ "path": "b" }));
            [first, Reply::text(format!("Done {stop}."))]
        });
        let server = ModelServer::start(Script::of(replies));
        let wires = wires(&server);
        let mut messages = Vec::new();
        for (stop, wire) in order.iter().enumerate() {
            let model = model(*wire, &server.url(*wire));
            messages.push(user(vec![text(&format!("Question {stop}")), image()]));
            let (first, events) = answer(&wires, request(model.clone(), messages.clone())).await;
            assert_eq!(
                first.stop_reason,
                StopReason::ToolUse,
                "{order:?}: {events:?}"
            );
            let ids: Vec<String> = first.tool_calls().map(|call| call.id.clone()).collect();
            messages.push(Message::Assistant(first));
            messages.push(result(&ids[1], vec![text("no such file")], true));
            messages.push(result(&ids[0], vec![text("contents"), image()], false));
            let (second, events) = answer(&wires, request(model, messages.clone())).await;
            assert_eq!(
                second.stop_reason,
                StopReason::Stop,
                "{order:?}: {events:?}"
            );
            messages.push(Message::Assistant(second));
        }
        let requests = server.requests();
        assert_eq!(requests.len(), 2 * order.len());
        let last = &requests[requests.len() - 1];
        let said = last.said();
        // All text survives the trip. Only the model's own thinking does.
        for (stop, wire) in order.iter().enumerate() {
            let has = |part: &str| {
                said.iter().any(|said| match said {
                    Said::Assistant { text, thinking, .. } => {
                        text.contains(part) || thinking.contains(part)
                    }
                    Said::User(text) => text.contains(part),
                    _ => false,
                })
            };
            for (part, kept) in [
                ("Question", true),
                ("Thought", *wire == order[0]),
                ("Stop", true),
            ] {
                assert_eq!(
                    has(&format!("{part} {stop}")),
                    kept,
                    "{order:?}: {part} {stop} of {said:#?}"
                );
            }
        }
        let own = said.iter().filter(
            |said| matches!(said, Said::Assistant { thinking, .. } if thinking.contains("Thought")),
        );
        assert_eq!(
            own.count(),
            2,
            "{order:?}: only the first and the last stop have its own data"
        );
        let calls = said.iter().map(|said| match said {
            Said::Assistant { calls, .. } => calls.len(),
            _ => 0,
        });
        assert_eq!(calls.sum::<usize>(), 2 * order.len());
        assert_eq!(last.results().len(), 2 * order.len());
        assert_eq!(
            last.results()[0].lines().next(),
            Some("contents"),
            "results must be in the order of their calls"
        );
    }
}

/// A request that also offers a free-text tool.
fn offer(model: Model, messages: Vec<Message>) -> Request {
    let patch = ToolSpec {
        custom: Some(CustomFormat {
            syntax: "lark".into(),
            definition: "start: /.+/s".into(),
        }),
        ..tool("apply_patch")
    };
    let mut request = request(model, messages);
    request.tools.push(patch);
    request
}

/// An answer that the user aborts after this many events.
async fn cut_off(wires: &Client, request: Request, events: usize) -> AssistantMessage {
    let mut message = AssistantMessage {
        api: request.model.api.as_str().into(),
        provider: request.model.provider.clone(),
        model: request.model.id.clone(),
        ..AssistantMessage::default()
    };
    let mut stream = wires.stream(request).take(events);
    while let Some(event) = stream.next().await {
        message.apply(&event);
    }
    message.stop_reason = StopReason::Aborted;
    message
}

fn custom_patch() -> Reply {
    let input = "*** Begin Patch\n*** Delete File: a\n*** End Patch";
    Reply::new()
        .think("A patch.")
        .and_call("apply_patch", json!({ "input": input }))
}

fn redacted() -> Reply {
    Reply::new()
        .step(Step::Redacted("b3BhcXVl".into()))
        .think("Both.")
        .say("Reading both.")
        .and_call("read", json!({ "path": "a" }))
        .and_call("grep", json!({ "path": "b" }))
}

/// A model gets its own messages back unchanged, wherever the conversation went in between.
#[tokio::test]
async fn a_model_gets_its_own_messages_back_unchanged() {
    for home in Wire::ALL {
        let stops = [home]
            .into_iter()
            .chain(Wire::ALL.into_iter().filter(|wire| *wire != home));
        let stops: Vec<Wire> = stops.chain([home]).collect();
        let replies = stops.iter().flat_map(|_| {
            let half = Reply::new().think("Half.").say("Half an").stall();
            let broken = Reply::text("Broken").fail(Failure::Server);
            [
                redacted(),
                custom_patch(),
                half,
                broken,
                Reply::text("Done."),
            ]
        });
        let server = ModelServer::start(Script::of(replies));
        let wires = wires(&server);
        let mut messages = Vec::new();
        let mut first_stop = Value::Null;
        for (stop, wire) in stops.iter().enumerate() {
            let model = model(*wire, &server.url(*wire));
            messages.push(user(vec![text(&format!("Question {stop}")), image()]));
            for _ in 0..2 {
                let (said, events) = answer(&wires, offer(model.clone(), messages.clone())).await;
                assert_eq!(
                    said.stop_reason,
                    StopReason::ToolUse,
                    "{wire:?}: {events:?}"
                );
                let calls: Vec<ToolCall> = said.tool_calls().cloned().collect();
                messages.push(Message::Assistant(said));
                for call in calls {
                    messages.push(result(&call.id, vec![text("contents"), image()], false));
                }
            }
            let request = || offer(model.clone(), messages.clone());
            let half = cut_off(&wires, request(), 4).await;
            assert!(!half.content.is_empty());
            let (broken, _) = answer(&wires, request()).await;
            assert_eq!(broken.stop_reason, StopReason::Error);
            messages.push(Message::Assistant(half));
            messages.push(Message::Assistant(broken));
            messages.push(Message::user("and now?", 0));
            let (done, events) = answer(&wires, offer(model, messages.clone())).await;
            assert_eq!(done.stop_reason, StopReason::Stop, "{wire:?}: {events:?}");
            messages.push(Message::Assistant(done));
            if stop == 0 {
                first_stop = conversation(*wire, &server.request(4).body);
            }
        }
        let requests = server.requests();
        let last = requests.last().unwrap();
        // The model's own part is there byte for byte, including opaque parts.
        let first_stop = first_stop.as_array().unwrap().clone();
        let again = conversation(home, &last.body);
        let again = again.as_array().unwrap();
        assert_eq!(first_stop[..], again[..first_stop.len()], "{home:?}");
        let text = last.text();
        assert!(!text.contains("Broken"), "a failed answer was sent");
        // Thinking that another model encrypted is useless to this model.
        let opaque = text.matches("b3BhcXVl").count();
        let keeps = matches!(home, Wire::Anthropic | Wire::Responses);
        let own = if keeps { 2 } else { 0 };
        assert_eq!(opaque, own, "{home:?}");
        assert!(!text.contains("<thinking>"), "{home:?}: {text}");
    }
}

/// The conversation in a request, without cache markers.
fn conversation(wire: Wire, body: &Value) -> Value {
    fn unmarked(value: &mut Value) {
        match value {
            Value::Object(map) => {
                map.remove("cache_control");
                map.values_mut().for_each(unmarked);
            }
            Value::Array(list) => list.iter_mut().for_each(unmarked),
            _ => {}
        }
    }
    let field = match wire {
        Wire::Responses => "input",
        Wire::Google => "contents",
        Wire::Anthropic | Wire::Chat => "messages",
    };
    let mut body = body[field].clone();
    unmarked(&mut body);
    body
}

/// One stop of a walk, as numbers: wire, model, kind of answer, thinking level, results, and where
/// it is cut.
type Stop = (usize, usize, u8, usize, u8, usize);

/// Two models of each wire, from generations that accept different requests.
fn models(server: &ModelServer) -> Vec<[Model; 2]> {
    let of = |wire: Wire| {
        let new = model(wire, &server.url(wire));
        let mut old = new.clone();
        match wire {
            Wire::Anthropic => {
                old.id = "claude-sonnet-4-5".into();
                old.quirks.thinking_binding = false;
            }
            Wire::Google => old.id = "gemini-2.5-pro".into(),
            Wire::Responses => old.id = "gpt-4.1".into(),
            Wire::Chat => old.provider = "groq".into(),
        }
        old.vision = false;
        [new, with_quirks(old)]
    };
    Wire::ALL.into_iter().map(of).collect()
}

/// What a server sends at a stop. A stream to be cut never ends.
fn reply((_, _, kind, _, _, _): &Stop) -> Reply {
    let call = || {
        Reply::new()
            .think("Hm.")
            .and_call("read", json!({ "path": "a" }))
    };
    match kind {
        0 => Reply::text("Yes."),
        1 => Reply::new().think("Hm.").say("Yes."),
        2 => call(),
        3 => redacted(),
        4 => custom_patch(),
        5 => Reply::new()
            .say("First.")
            .and_call("no such tool!", json!({})),
        6 => call().say("Late words.").stall(),
        7 => Reply::new()
            .think("Hm.")
            .say("Half")
            .fail(Failure::Overloaded),
        8 => Reply::new()
            .say("Cut")
            .call_text("read", "{\"pa")
            .stop("length"),
        _ => Reply::new().think("Only thoughts."),
    }
}

fn results(calls: &[ToolCall], form: u8) -> Vec<Message> {
    let odd = Content::Image(Image {
        data: "aGk=".into(),
        mime_type: "image/bmp".into(),
    });
    let content = |at: usize| match (usize::from(form) + at) % 5 {
        0 => vec![text("contents")],
        1 => vec![text(" "), image()],
        2 => vec![],
        3 => vec![image(), odd.clone(), text("more")],
        _ => vec![text("failed"), image()],
    };
    let all = calls.iter().enumerate();
    let mut all: Vec<Message> = all
        .map(|(at, call)| result(&call.id, content(at), form.is_multiple_of(2)))
        .collect();
    match form {
        // As after a crash: some results, none, or another order.
        5 => all.clear(),
        6 => drop(all.pop()),
        7 => all.reverse(),
        _ => {}
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    // After any conversation at all, the next request is valid for its provider.
    #[test]
    fn any_walk_over_the_wires_is_valid_at_each_step(
        stops in proptest::collection::vec((0usize..4, 0usize..2, 0u8..10, 0usize..3, 0u8..8, 1usize..8), 1..9),
        tools in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let replies = stops.iter().map(reply).chain([Reply::text("Done.").repeat()]);
        let server = ModelServer::start(Script::of(replies));
        server.expect_refusals();
        let wires = wires(&server);
        let models = models(&server);
        let levels = [ThinkingLevel::Off, ThinkingLevel::Medium, ThinkingLevel::High];
        let mut messages = vec![Message::user("begin", 0)];
        runtime.block_on(async {
            for stop in &stops {
                let (wire, generation, kind, level, form, cut) = *stop;
                let mut request = offer(models[wire][generation].clone(), messages.clone());
                request.thinking = levels[level];
                let said = if kind == 6 {
                    cut_off(&wires, request, cut).await
                } else {
                    answer(&wires, request).await.0
                };
                let calls: Vec<ToolCall> = said.tool_calls().cloned().collect();
                messages.push(Message::Assistant(said));
                messages.extend(results(&calls, form));
                if calls.is_empty() || form % 3 == 0 {
                    messages.push(user(vec![text("go on"), image()]));
                }
            }
            for model in models.iter().flatten() {
                for level in levels {
                    let mut request = offer(model.clone(), messages.clone());
                    request.thinking = level;
                    if !tools {
                        request.tools.clear();
                        request.thinking_from = request.messages.len();
                    }
                    let (last, _) = answer(&wires, request).await;
                    assert_eq!(last.stop_reason, StopReason::Stop, "{last:?}");
                }
            }
        });
        for sent in server.requests() {
            prop_assert!(sent.refused.is_none(), "{:?}: {:?}\n{}", sent.wire, sent.refused, sent.text());
        }
    }
}
