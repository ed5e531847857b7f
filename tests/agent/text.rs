//! A prompt, an answer, the end.

use tiller::agent::RunOutcome;

use super::fixture::{bench, say};

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
