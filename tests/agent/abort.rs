//! Stops a run in each state it can be in.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use serde_json::json;
use tiller::agent::permission::{PermissionMode, Policy};
use tiller::agent::{AgentEvent, Delivery, PermissionOptions, QueueKind, RunOutcome, RunState};
use tiller::llm::StopReason;

use super::fixture::*;
use super::killed::external;
use super::steering::queued;

/// Aborts while the run's stream or tools still wait. The abort must not wait for them.
async fn abort(agent: &mut TestAgent) {
    agent.handle.abort();
    assert_eq!(agent.settled().await, RunOutcome::Aborted);
    assert!(matches!(
        agent.seen.last().unwrap().kind,
        AgentEvent::AgentSettled { aborted: true }
    ));
    assert_eq!(agent.script.live_streams(), 0, "the socket is still open");
}

/// Checks that the agent takes the next prompt and that every call has one result.
async fn takes_the_next_prompt(agent: &mut TestAgent) {
    let requests = agent.script.requests().len();
    agent.prompt("again");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(
        agent.script.requests().len(),
        requests + 1,
        "expected exactly one new request"
    );
    let mut open: Vec<String> = Vec::new();
    for message in &agent.script.requests()[requests].messages {
        match &**message {
            tiller::llm::Message::Assistant(answer) => {
                assert_eq!(open, [""; 0], "calls without a result");
                open = answer.tool_calls().map(|call| call.id.clone()).collect();
            }
            tiller::llm::Message::ToolResult(result) => {
                let at = open.iter().position(|id| *id == result.tool_call_id);
                open.remove(at.expect("a result without a call"));
            }
            tiller::llm::Message::User(_) => assert_eq!(open, [""; 0]),
        }
    }
}

// Another program that asks right behind its prompt must not see an idle agent.
#[tokio::test]
async fn a_run_is_active_as_soon_as_its_message_is_accepted() {
    let agent = agent(vec![vec![Step::Wait(Gate::new())]], vec![]);
    agent.handle.submit(external("one")).await.unwrap();
    let snapshot = agent.handle.snapshot().await.unwrap();
    assert!(matches!(snapshot.state, RunState::Running { .. }));
}

// An abort that comes late must not stop the run that another message has started.
#[tokio::test]
async fn an_abort_of_one_run_leaves_the_next_alone() {
    let gate = Gate::new();
    let waits = vec![Step::Wait(gate.clone())];
    let mut agent = agent(vec![say("one"), waits], vec![]);
    let run = |delivery| match delivery {
        Ok(Delivery::Started(run)) => run,
        other => panic!("{other:?}"),
    };
    let first = run(agent.handle.submit(external("one")).await);
    assert_eq!(agent.settled().await, RunOutcome::Done);
    let second = run(agent.handle.submit(external("two")).await);
    assert!(second > first);
    gate.reached().await;
    agent.handle.abort_run(first);
    agent.handle.abort_run(second);
    assert_eq!(agent.settled().await, RunOutcome::Aborted);
    let of = |run| {
        agent
            .seen
            .iter()
            .filter(move |event| event.run == Some(run))
    };
    let ends = |run| of(run).filter(|event| matches!(event.kind, AgentEvent::AgentEnd { .. }));
    assert_eq!((ends(first).count(), ends(second).count()), (1, 1));
}

#[tokio::test]
async fn an_abort_ends_a_wait_for_headers() {
    let gate = Gate::new();
    let mut agent = agent(vec![vec![Step::Wait(gate.clone())], say("ok")], vec![]);
    agent.prompt("Go");
    gate.reached().await;
    abort(&mut agent).await;
    assert_eq!(agent.stored(), ["user: Go", "assistant: "]);
    takes_the_next_prompt(&mut agent).await;
}

#[tokio::test]
async fn an_abort_while_streaming_keeps_the_partial_answer() {
    let gate = Gate::new();
    let mut answer = vec![start()];
    answer.extend(text_block(0, "I was about"));
    answer.extend(call_block(1, "c1", "a", "{}"));
    answer.push(Step::Wait(gate.clone()));
    let mut agent = agent(
        vec![answer, say("ok")],
        vec![("a", false, Act::Succeed("never".into()))],
    );
    agent.prompt("Go");
    gate.reached().await;
    abort(&mut agent).await;
    assert_eq!(
        agent.stored(),
        [
            "user: Go",
            "assistant: I was about[c1]",
            "c1!: Execution cancelled before start",
        ]
    );
    assert!(agent.log.lock().unwrap().is_empty());
    takes_the_next_prompt(&mut agent).await;
}

#[tokio::test]
async fn an_abort_ends_the_run_although_a_command_ignores_it() {
    let gate = Gate::new();
    let mut agent = agent(
        vec![
            call(&[("c1", "sh", json!({})), ("c2", "sh", json!({}))]),
            say("ok"),
        ],
        vec![("sh", false, Act::Output("so far".into(), gate.clone()))],
    );
    agent.prompt("Go");
    gate.reached().await;
    abort(&mut agent).await;
    assert_eq!(
        agent.stored()[2..],
        [
            "c1!: Execution cancelled\nso far",
            "c2!: Execution cancelled before start",
        ]
    );
    let story = agent.story();
    let at = story
        .iter()
        .position(|line| line == "tool start c1 sh")
        .unwrap();
    assert_eq!(
        story[at..],
        [
            "tool start c1 sh",
            "tool end c1 Cancelled",
            "message start c1!: Execution cancelled\nso far",
            "message end c1!: Execution cancelled\nso far",
            "tool start c2 sh",
            "tool end c2 Cancelled",
            "message start c2!: Execution cancelled before start",
            "message end c2!: Execution cancelled before start",
            "turn end 2 results",
            "agent end Aborted 4 messages",
            "state Idle",
            "settled aborted=true",
        ]
    );
    takes_the_next_prompt(&mut agent).await;
}

#[tokio::test]
async fn an_abort_keeps_the_results_of_parallel_reads_that_ended() {
    let gates = [Gate::new(), Gate::new(), Gate::new()];
    let mut agent = agent(
        vec![
            call(&[
                ("c1", "a", json!({})),
                ("c2", "b", json!({})),
                ("c3", "c", json!({})),
                ("c4", "d", json!({})),
            ]),
            say("ok"),
        ],
        vec![
            ("a", true, Act::Gate(gates[0].clone())),
            ("b", true, Act::Obey(gates[1].clone())),
            ("c", true, Act::Obey(gates[2].clone())),
            ("d", false, Act::Succeed("never".into())),
        ],
    );
    agent.prompt("Go");
    for gate in &gates {
        gate.reached().await;
    }
    gates[1].open();
    agent
        .until(|event| matches!(event, AgentEvent::ToolEnd { .. }))
        .await;
    abort(&mut agent).await;
    let mut stored = agent.stored()[2..].to_vec();
    assert_eq!(
        stored[0], "c2: b done",
        "b ended first, so its result comes first"
    );
    stored.sort();
    assert_eq!(
        stored,
        [
            "c1!: Execution cancelled",
            "c2: b done",
            "c3!: Execution cancelled",
            "c4!: Execution cancelled before start",
        ]
    );
    takes_the_next_prompt(&mut agent).await;
}

// Once a write has renamed its file it is done, whatever the user presses and however slow the
// disk.
#[tokio::test(start_paused = true)]
async fn a_tool_that_had_finished_reports_success() {
    let mut agent = agent(
        vec![call(&[("c1", "write", json!({}))]), say("ok")],
        vec![("write", false, Act::FinishWhenCancelled(80))],
    );
    agent.prompt("Go");
    let log = agent.log.clone();
    eventually(|| !log.lock().unwrap().is_empty()).await;
    abort(&mut agent).await;
    assert_eq!(agent.stored()[2..], ["c1: write done"]);
    takes_the_next_prompt(&mut agent).await;
}

// The queue returns to the editor, steering messages first.
#[tokio::test]
async fn an_abort_returns_the_queue_to_the_editor() {
    let gate = Gate::new();
    let mut agent = agent(
        vec![call(&[("c1", "a", json!({}))]), say("ok")],
        vec![("a", false, Act::Obey(gate.clone()))],
    );
    agent.prompt("Go");
    gate.reached().await;
    agent.follow_up("f1");
    agent.steer("s1");
    agent.follow_up("f2");
    agent.steer("s2");
    for _ in 0..4 {
        agent.until(queued).await;
    }
    abort(&mut agent).await;
    let story = agent.story();
    assert!(
        story.contains(&"returned s1 | s2 | f1 | f2".to_owned()),
        "{story:?}"
    );
    assert_eq!(
        story
            .iter()
            .filter(|line| line.starts_with("queue 0 0"))
            .count(),
        1
    );
    assert_eq!(agent.stored()[2..], ["c1!: Execution cancelled"]);
    takes_the_next_prompt(&mut agent).await;
}

// This also holds if the agent reads the messages and the abort together.
#[tokio::test]
async fn messages_right_before_an_abort_return_to_the_editor() {
    let gate = Gate::new();
    let mut agent = agent(vec![vec![Step::Wait(gate.clone())], say("ok")], vec![]);
    agent.prompt("Go");
    gate.reached().await;
    agent.follow_up("f");
    agent.steer("s");
    abort(&mut agent).await;
    let returned = agent.seen.iter().find_map(|event| match &event.kind {
        AgentEvent::QueueReturned { messages, .. } => Some(messages.clone()),
        _ => None,
    });
    let kinds: Vec<_> = returned.unwrap().iter().map(|it| it.kind).collect();
    assert_eq!(kinds, [QueueKind::Steering, QueueKind::FollowUp]);
    assert_eq!(agent.script.requests().len(), 1);
    takes_the_next_prompt(&mut agent).await;
}

#[tokio::test]
async fn messages_after_an_abort_keep_their_kinds() {
    let gate = Gate::new();
    let answers = vec![vec![Step::Wait(gate.clone())], say("one"), say("two")];
    let mut agent = agent(answers, vec![]);
    agent.prompt("Go");
    gate.reached().await;
    agent.handle.abort();
    agent.follow_up("instead");
    agent.follow_up("then");
    let end = |event: &AgentEvent| matches!(event, AgentEvent::AgentEnd { .. });
    agent.until(end).await;
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(
        agent.stored()[3..],
        [
            "user: instead",
            "assistant: one",
            "user: then",
            "assistant: two"
        ]
    );
}

#[tokio::test]
async fn a_prompt_right_after_an_abort_starts_the_next_run() {
    let gate = Gate::new();
    let mut agent = agent(vec![vec![Step::Wait(gate.clone())], say("ok")], vec![]);
    agent.prompt("Go");
    gate.reached().await;
    agent.handle.abort();
    agent.prompt("instead");
    let end = |event: &AgentEvent| matches!(event, AgentEvent::AgentEnd { .. });
    agent.until(end).await;
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(
        agent.stored(),
        [
            "user: Go",
            "assistant: ",
            "note: [interrupted by the user]",
            "user: instead",
            "assistant: ok"
        ]
    );
}

#[tokio::test]
async fn an_abort_with_nothing_to_stop_changes_nothing() {
    let mut agent = agent(vec![say("one"), say("two")], vec![]);
    agent.handle.abort();
    agent.prompt("Go");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    agent.handle.abort();
    agent.handle.abort();
    agent.prompt("Go on");
    assert_eq!(agent.settled().await, RunOutcome::Done);
}

#[tokio::test]
async fn shutdown_ends_the_run_and_the_events() {
    let gate = Gate::new();
    let mut agent = agent(
        vec![call(&[("c1", "a", json!({}))])],
        vec![("a", false, Act::Gate(gate.clone()))],
    );
    agent.prompt("Go");
    gate.reached().await;
    within(agent.handle.shutdown()).await;
    while let Some(event) = within(agent.events.recv()).await {
        agent.seen.push(event);
    }
    let story = agent.story();
    assert_eq!(story.last().unwrap(), "settled aborted=true");
    assert_eq!(agent.stored()[2..], ["c1!: Execution cancelled"]);
    // A second shutdown finds no agent and succeeds all the same.
    within(agent.handle.shutdown()).await;
}

// A tool that fails because it was cancelled counts as cancelled.
#[tokio::test]
async fn a_tool_that_obeys_an_abort_is_cancelled_not_failed() {
    let gate = Gate::new();
    let mut agent = agent(
        vec![call(&[("c1", "a", json!({}))]), say("ok")],
        vec![("a", false, Act::Obey(gate.clone()))],
    );
    agent.prompt("Go");
    gate.reached().await;
    abort(&mut agent).await;
    assert_eq!(agent.stored()[2..], ["c1!: Execution cancelled"]);
    let entries = agent.entries();
    let mut answers = entries
        .iter()
        .filter(|entry| entry["message"]["role"] == "assistant");
    let answer = &answers.next().unwrap()["message"];
    assert_eq!(answer["stopReason"], json!(StopReason::ToolUse));
}

// Another program can hold the store's lock, and covering a large tree takes time.
#[tokio::test]
async fn an_abort_ends_the_wait_for_the_undo_store() {
    let mut agent = agent(
        vec![call(&[("c1", "a", json!({}))]), say("ok")],
        vec![("a", false, Act::Succeed("never".into()))],
    );
    let store = agent.folder.path().join("undo");
    std::fs::create_dir(&store).unwrap();
    let lock = std::fs::File::create(store.join("lock")).unwrap();
    lock.lock().unwrap();
    agent.prompt("Go");
    // The folder appears right before the wait for the lock.
    eventually(|| store.join("turns").exists()).await;
    abort(&mut agent).await;
    drop(lock);
    assert_eq!(
        agent.stored()[2..],
        ["c1!: Execution cancelled before start"]
    );
    takes_the_next_prompt(&mut agent).await;
}

/// Blocks the only thread for blocking work, like a disk that doesn't answer.
struct HungDisk {
    /// Dropping this makes the disk answer.
    _hold: mpsc::Sender<()>,
    /// True if a watchdog had to end the test.
    timed_out: Arc<AtomicBool>,
}

impl HungDisk {
    fn begin() -> Self {
        let (hold, end) = mpsc::channel::<()>();
        let timed_out = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&timed_out);
        tokio::task::spawn_blocking(move || {
            let ended = end.recv_timeout(Duration::from_secs(20));
            let late = matches!(ended, Err(mpsc::RecvTimeoutError::Timeout));
            flag.store(late, Ordering::Relaxed);
        });
        Self {
            _hold: hold,
            timed_out,
        }
    }
}

/// Plays `work` on a paused clock with one thread for blocking work. While that thread hangs, no
/// timeout can fire.
fn with_one_thread_for_the_disk(work: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(1)
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(work);
}

// Covers each disk access before and after a call: the gate, the judge, the undo files, late looks.
#[test]
fn an_abort_does_not_wait_for_a_hung_disk() {
    let asks = || PermissionOptions {
        policy: Policy::new(PermissionMode::Ask, Vec::new()),
        ..crate::support::everything_allowed()
    };
    let gate = Gate::new();
    for _ in 0..60 {
        gate.open();
    }
    for (read_only, act, is_judged) in [
        (true, Act::Succeed("done".to_owned()), true),
        (false, Act::Succeed("done".to_owned()), false),
        (false, Act::Write(gate), false),
    ] {
        let mut ends = Vec::new();
        for step in 0..60 {
            let (ends, act) = (&mut ends, act.clone());
            with_one_thread_for_the_disk(async move {
                let mut agent = Setup {
                    answers: vec![call(&[("c1", "a", json!({}))]), say("ok"), say("ok")],
                    tools: vec![("a", read_only, act)],
                    permission: is_judged.then(asks),
                    ..Setup::default()
                }
                .start();
                agent.prompt("Go");
                agent
                    .until(|event| matches!(event, AgentEvent::ToolStart { .. }))
                    .await;
                for _ in 0..step {
                    tokio::task::yield_now().await;
                    // The thread for blocking work is a different one.
                    thread::yield_now();
                }
                let disk = HungDisk::begin();
                agent.handle.abort();
                let outcome = agent.settled().await;
                assert!(!disk.timed_out.load(Ordering::Relaxed), "step {step}");
                drop(disk);
                if outcome == RunOutcome::Aborted {
                    takes_the_next_prompt(&mut agent).await;
                }
                ends.push(result(&agent));
            });
        }
        let unstarted = "c1!: Execution cancelled before start".to_owned();
        assert!(ends.contains(&unstarted), "{ends:?}");
    }
}

fn result(agent: &TestAgent) -> String {
    let stored = agent.stored();
    let result = stored.iter().find(|line| line.starts_with("c1"));
    result.expect("the call has a result").clone()
}

// The events already report what the call did.
#[test]
fn an_abort_does_not_wait_for_the_disk_after_a_call() {
    for act in [Act::Gate, Act::Write] {
        with_one_thread_for_the_disk(async move {
            let gate = Gate::new();
            let mut agent = agent(
                vec![call(&[("c1", "a", json!({}))]), say("ok")],
                vec![("a", false, act(gate.clone()))],
            );
            agent.prompt("Go");
            gate.reached().await;
            let disk = HungDisk::begin();
            gate.open();
            let log = agent.log.clone();
            eventually(|| log.lock().unwrap().len() == 2).await;
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
            agent.handle.abort();
            assert_eq!(agent.settled().await, RunOutcome::Aborted);
            assert!(!disk.timed_out.load(Ordering::Relaxed));
            drop(disk);
            assert_eq!(result(&agent), "c1: a done");
            takes_the_next_prompt(&mut agent).await;
        });
    }
}

// The thread is lost, but the call still gets a result.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_ignores_an_abort_is_abandoned() {
    let (hold, end) = mpsc::channel();
    let end = Arc::new(Mutex::new(end));
    let mut agent = agent(
        vec![call(&[("c1", "a", json!({}))]), say("ok")],
        vec![("a", false, Act::Stuck(end))],
    );
    agent.prompt("Go");
    agent
        .until(|event| matches!(event, AgentEvent::MessageEnd { message } if message_line(message).contains("c1")))
        .await;
    agent.handle.abort();
    assert_eq!(agent.settled().await, RunOutcome::Aborted);
    assert_eq!(result(&agent), "c1!: Execution cancelled before start");
    takes_the_next_prompt(&mut agent).await;
    drop(hold);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shutdown_abandons_a_run_that_ignores_it() {
    let (hold, end) = mpsc::channel();
    let end = Arc::new(Mutex::new(end));
    let mut agent = agent(
        vec![call(&[("c1", "a", json!({}))])],
        vec![("a", false, Act::Stuck(end))],
    );
    agent.prompt("Go");
    agent
        .until(|event| matches!(event, AgentEvent::MessageEnd { message } if message_line(message).contains("c1")))
        .await;
    within(agent.handle.shutdown()).await;
    assert_eq!(result(&agent), "c1!: Execution cancelled before start");
    drop(hold);
}
