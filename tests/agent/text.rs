//! A prompt, an answer, the end.

use std::time::Duration;

use tiller::agent::RunOutcome;

use super::fixture::{Gate, Step, bench, message_line, say};

// A2, B1, E1, E3
#[tokio::test]
async fn a_text_answer_ends_the_run() {
    let mut bench = bench(vec![say("Hello.")], vec![]);
    bench.prompt("Hi");
    assert_eq!(bench.settled().await, RunOutcome::Done);
    assert_eq!(
        bench.story(),
        [
            "agent start",
            "turn start 1",
            "message start user: Hi",
            "message end user: Hi",
            "state Running { phase: Requesting }",
            "message start assistant: ",
            "state Running { phase: Streaming }",
            "message end assistant: Hello.",
            "turn end 0 results",
            "agent end Done 2 messages",
            "state Idle",
            "settled aborted=false",
        ]
    );
    assert_eq!(bench.stored(), ["user: Hi", "assistant: Hello."]);
}

/// What a prompt will need is ready before it is sent, but only while nothing runs: then the
/// conversation still grows.
#[tokio::test]
async fn the_next_request_is_made_ready_while_the_person_types() {
    let gate = Gate::new();
    let mut bench = bench(vec![say("one"), vec![Step::Wait(gate.clone())]], vec![]);
    bench.prompt("first");
    bench.settled().await;
    let prepared = bench.script.preparations();
    bench.handle.warm();
    let request = tokio::task::spawn_blocking(move || {
        let first = prepared.recv_timeout(Duration::from_secs(20)).unwrap();
        (first, prepared)
    });
    let (request, prepared) = request.await.unwrap();
    let said: Vec<_> = request.messages.iter().map(|it| message_line(it)).collect();
    assert_eq!(said, ["user: first", "assistant: one"]);

    bench.prompt("second");
    gate.reached().await;
    bench.handle.warm();
    bench.handle.abort();
    bench.settled().await;
    assert!(prepared.try_recv().is_err());
    let sent = &bench.script.requests()[1];
    assert_eq!(request.system, sent.system);
    assert_eq!(request.tools, sent.tools);
    assert_eq!(request.session_id, sent.session_id);
    for (ready, sent) in request.messages.iter().zip(&sent.messages) {
        assert!(std::sync::Arc::ptr_eq(ready, sent));
    }
}
