//! A prompt, an answer, the end of the run.

use tiller::agent::RunOutcome;

use super::fixture::{agent, say};

#[tokio::test]
async fn a_text_answer_ends_the_run() {
    let mut agent = agent(vec![say("Hello.")], vec![]);
    agent.prompt("Hi");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(
        agent.story(),
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
    assert_eq!(agent.stored(), ["user: Hi", "assistant: Hello."]);
}
