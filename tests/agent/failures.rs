//! A table of every way a model call can fail, over every wire. tiller retries what passes; it
//! tries the rest once and says what to do.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tiller::agent::{LoopRules, RetryRules, RunOutcome};
use tiller::llm::{Message, StopReason};

use super::fixture::*;
use crate::llm::kit;
use crate::support::model_server::{Cut, Failure, ModelServer, Reply, Script as Play, Wire};

/// What a failure leads to.
enum Comes {
    /// Retried, and the failure leaves no trace.
    Gone,
    /// Retried, and the partial answer stays.
    Kept,
    /// Not retried; the user reads these words.
    Told(&'static [&'static str]),
}

fn quick(max: u32) -> LoopRules {
    LoopRules {
        retry: RetryRules {
            max,
            base_ms: 1,
            jitter: false,
            ..RetryRules::default()
        },
        ..LoopRules::default()
    }
}

fn stage(wire: Wire, replies: Vec<Reply>, max: u32) -> (ModelServer, TestAgent) {
    stage_idle(wire, replies, max, Duration::from_millis(500))
}

/// Like `stage`, with a model that can be silent for `idle`.
fn stage_idle(
    wire: Wire,
    replies: Vec<Reply>,
    max: u32,
    idle: Duration,
) -> (ModelServer, TestAgent) {
    let server = ModelServer::start(Play::of(replies));
    let wires = kit::wires(&server).with_idle_timeout(idle);
    let agent = Setup {
        provider: Some(Arc::new(wires)),
        model: Some(kit::model(wire, &server.url(wire))),
        rules: quick(max),
        ..Setup::default()
    }
    .start();
    (server, agent)
}

/// Name, reply, result.
fn cases() -> Vec<(&'static str, Reply, Comes)> {
    use Comes::*;
    let page = "<html><head><title>Bad Gateway</title></head></html>";
    let http = |status, body| Reply::http(status, "application/json", body);
    let half = || Reply::text("half ");
    vec![
        ("429", Reply::error(Failure::RateLimit), Gone),
        (
            "429 with a wait",
            Reply::error(Failure::RateLimit).header("retry-after-ms", "30"),
            Gone,
        ),
        ("500", Reply::error(Failure::Server), Gone),
        ("overloaded", Reply::error(Failure::Overloaded), Gone),
        ("502 page", Reply::http(502, "text/html", page), Gone),
        ("503", http(503, ""), Gone),
        ("504", http(504, ""), Gone),
        ("529", http(529, "{}"), Gone),
        ("408", http(408, ""), Gone),
        ("409", http(409, ""), Gone),
        (
            "dropped before a byte",
            half().cut_after(0, Cut::Close),
            Gone,
        ),
        ("reset before a byte", half().cut_after(0, Cut::Reset), Gone),
        ("empty stream", Reply::new(), Gone),
        // A local server would have to read the same long prompt again from its start.
        (
            "silent",
            half().hold_headers("never"),
            Told(&["idle_timeout"]),
        ),
        ("stalled before a word", Reply::new().stall(), Gone),
        ("stalled", half().stall(), Kept),
        ("closed", half().cut(Cut::Close), Kept),
        ("ended early", half().cut(Cut::End), Kept),
        ("invalid JSON", half().raw("data: {\"oops\n\n"), Kept),
        ("error event", half().fail(Failure::Overloaded), Kept),
        (
            "error event at once",
            Reply::new().fail(Failure::Overloaded),
            Gone,
        ),
        ("400", Reply::error(Failure::Invalid), Told(&["400"])),
        (
            "401",
            Reply::error(Failure::Auth),
            Told(&["the provider refused the key (4", "_API_KEY"]),
        ),
        ("403", Reply::error(Failure::Forbidden), Told(&["403"])),
        (
            "404",
            Reply::error(Failure::NotFound),
            Told(&["404", "--model"]),
        ),
        ("422", http(422, "{}"), Told(&["422"])),
        ("quota", Reply::error(Failure::Quota), Told(&["billing"])),
        (
            "overflow",
            Reply::error(Failure::Overflow),
            Told(&["too long", "new session"]),
        ),
        (
            "a wait beyond all patience",
            Reply::error(Failure::RateLimit).header("retry-after", "600"),
            Told(&["again in 10 min"]),
        ),
        (
            "login page",
            Reply::http(200, "text/html", "<html>Log in</html>"),
            Told(&["web page", "base URL"]),
        ),
        ("no stream", http(200, "{}"), Told(&["plain JSON"])),
        (
            "our own fault, in mid-stream",
            half().fail(Failure::Invalid),
            Told(&["lab/", "half"]),
        ),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_failure_is_retried_or_reported() {
    for wire in Wire::ALL {
        for (name, reply, comes) in cases() {
            let at = format!("{wire:?} {name}");
            let is_silent = name == "silent" || name.starts_with("stalled");
            let idle = Duration::from_millis(if is_silent { 500 } else { 60_000 });
            let replies = vec![reply, Reply::text("Back.")];
            let (server, mut agent) = stage_idle(wire, replies, 1, idle);
            agent.prompt("Go");
            let outcome = agent.settled().await;
            let story = agent.story();
            let retried = story.iter().filter(|line| line.starts_with("retry 1/1"));
            let retried = retried.count();
            let kept = agent
                .stored()
                .iter()
                .filter(|line| line.contains("half"))
                .count();
            if let Comes::Told(words) = comes {
                let RunOutcome::Failed { message } = &outcome else {
                    panic!("{at}: {outcome:?}");
                };
                for word in words.iter().filter(|word| !["half", "lab/"].contains(word)) {
                    assert!(message.contains(word), "{at}: {message}");
                }
                assert_eq!(server.requests().len(), 1, "{at}");
                assert_eq!(retried, 0, "{at}");
                assert!(
                    message.lines().count() > 1
                        || name.contains("fault")
                        || name.contains("40")
                        || name == "422",
                    "{at} does not say what to do: {message}"
                );
                // The prompt is still there, so one command sends it again.
                agent.handle.go_on();
                assert_eq!(agent.settled().await, RunOutcome::Done, "{at}");
            } else {
                assert_eq!(outcome, RunOutcome::Done, "{at}: {story:#?}");
                assert_eq!(retried, 1, "{at}: {story:#?}");
                assert!(story.contains(&"retry 1 ok".to_owned()), "{at}");
                let expected = usize::from(matches!(comes, Comes::Kept));
                assert_eq!(kept, expected, "{at}: {:?}", agent.stored());
            }
            let requests = server.requests();
            assert_eq!(requests.len(), 2, "{at}");
            // No later request has the failed attempt: the second repeats the first.
            assert_eq!(requests[0].body, requests[1].body, "{at}");
            assert_eq!(agent.stored().last().unwrap(), "assistant: Back.", "{at}");
        }
    }
}

// A complete answer without content is a failure, even if the model thought. Enter retries it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_without_content_is_a_failure() {
    for wire in Wire::ALL {
        for empty in [
            Reply::new().say(""),
            Reply::new().say(" \n"),
            Reply::new().think("Hm."),
        ] {
            let (server, mut agent) = stage(wire, vec![empty, Reply::text("Back.")], 0);
            agent.prompt("Go");
            let outcome = agent.settled().await;
            let RunOutcome::Failed { message } = &outcome else {
                panic!("{wire:?}: {outcome:?}");
            };
            assert!(
                message.contains("the model sent an empty answer"),
                "{message}"
            );
            agent.handle.go_on();
            assert_eq!(agent.settled().await, RunOutcome::Done);
            let requests = server.requests();
            assert_eq!(requests[0].body, requests[1].body, "{wire:?}");
        }
    }
}

// The last answer hit the output limit. The outcome says so.
#[tokio::test]
async fn an_answer_cut_at_the_output_limit_is_reported() {
    let mut cut = vec![start()];
    cut.extend(text_block(0, "half"));
    cut.push(done(StopReason::Length));
    let answers = vec![cut.clone(), cut, say("rest")];
    let mut agent = agent(answers, vec![]);
    agent.prompt("Go");
    assert_eq!(agent.settled().await, RunOutcome::Truncated);
    agent.prompt("More");
    assert_eq!(agent.settled().await, RunOutcome::Truncated);
    agent.prompt("go on");
    assert_eq!(agent.settled().await, RunOutcome::Done);
}

// After the last retry the user sees the error and can send the prompt again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_failure_says_how_often_it_was_tried() {
    for wire in Wire::ALL {
        let mut replies = vec![Reply::error(Failure::Overloaded); 6];
        replies.push(Reply::text("Back."));
        let (server, mut agent) = stage(wire, replies, 5);
        agent.prompt("Go");
        let outcome = agent.settled().await;
        let RunOutcome::Failed { message } = outcome else {
            panic!("{outcome:?}");
        };
        assert!(message.contains("tried 6 times"), "{message}");
        assert_eq!(server.requests().len(), 6);
        let story = agent.story();
        let waits = story.iter().filter_map(|line| {
            let rest = line.strip_prefix("retry ")?;
            rest.split(" ms").next().filter(|_| rest.contains(" ms"))
        });
        let expected = ["1/5 in 1", "2/5 in 2", "3/5 in 4", "4/5 in 8", "5/5 in 16"];
        assert_eq!(waits.collect::<Vec<_>>(), expected);
        assert!(story.iter().any(|line| line.starts_with("retry 5 failed")));
        // The session has one failed message, not six.
        assert_eq!(agent.stored().len(), 2, "{:?}", agent.stored());
        agent.handle.go_on();
        assert_eq!(agent.settled().await, RunOutcome::Done);
        assert_eq!(agent.stored().last().unwrap(), "assistant: Back.");
    }
}

// The session has all events, for users and programs. No model sees them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_session_stores_retries_and_errors() {
    let replies = vec![
        Reply::error(Failure::Server),
        Reply::error(Failure::Invalid),
    ];
    let (_server, mut agent) = stage(Wire::Chat, replies, 5);
    agent.prompt("Go");
    agent.settled().await;
    let events: Vec<_> = agent
        .entries()
        .into_iter()
        .filter(|entry| entry["customType"] == "tiller.event")
        .map(|entry| entry["data"].clone())
        .collect();
    let names: Vec<_> = events.iter().map(|data| data["event"].as_str()).collect();
    let call = [Some("api_call_start"), Some("api_call_end")];
    let expected = [
        &[Some("agent_start")][..],
        &call,
        &[Some("retry")],
        &call,
        &[Some("error"), Some("agent_end")],
    ];
    assert_eq!(names, expected.concat());
    assert_eq!(
        (&events[3]["attempt"], &events[3]["maxAttempts"]),
        (&json!(1), &json!(5))
    );
    assert_eq!(events[2]["stopReason"], "error");
    assert_eq!(events[7]["outcome"], "failed");
    let last: Message = serde_json::from_value(
        agent
            .entries()
            .into_iter()
            .rfind(|entry| entry["type"] == "message")
            .unwrap()["message"]
            .clone(),
    )
    .unwrap();
    assert!(matches!(last, Message::Assistant(_)));
}
