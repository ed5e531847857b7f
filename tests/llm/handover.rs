//! One conversation over every wire and back to the first, in every order: tools and thinking at
//! each stop, and each server refuses what its vendor would.

use serde_json::json;
use tiller::llm::{Message, StopReason};

use super::kit::{answer, image, model, request, result, text, user, wires};
use crate::support::model_server::{ModelServer, Reply, Said, Script, Wire};

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

// M8, M9, M11
#[tokio::test]
async fn a_conversation_goes_over_every_wire_and_back() {
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
        // Nobody's words are lost on the way.
        for stop in 0..order.len() {
            let has = |part: &str| {
                said.iter().any(|said| match said {
                    Said::Assistant { text, thinking, .. } => {
                        text.contains(part) || thinking.contains(part)
                    }
                    Said::User(text) => text.contains(part),
                    _ => false,
                })
            };
            for part in ["Question", "Thought", "Stop"] {
                assert!(
                    has(&format!("{part} {stop}")),
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
            "{order:?}: the first and the last stop are its own"
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
            "results stand in the order of their calls"
        );
    }
}
