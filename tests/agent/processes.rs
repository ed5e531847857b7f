//! A run and the real processes that it started. No process outlives its run, and no one waits for
//! it to die.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tiller::agent::process::{Orphans, Processes, Spawn};
use tiller::agent::{
    AgentEvent, Details, RunOutcome, RunState, SlowReader, ToolSettings, Toolbox, tools,
};
use tiller::llm::ThinkingLevel;

use super::fixture::*;
use crate::support::marked::MarkedProcesses;

fn with_bash(answers: Vec<Vec<Step>>) -> TestAgent {
    with_bash_in(
        Processes::with_supervisor(env!("CARGO_BIN_EXE_tiller"), Orphans::Leave),
        answers,
    )
}

fn with_bash_in(processes: Processes, answers: Vec<Vec<Step>>) -> TestAgent {
    Setup {
        answers,
        toolbox: Some(Toolbox::new(tools::builtin(&ToolSettings::default()))),
        processes: Some(processes),
        ..Setup::default()
    }
    .start()
}

fn bash(id: &str, command: &str) -> (String, Value) {
    (id.to_owned(), json!({ "command": command }))
}

fn calls(calls: &[(String, Value)]) -> Vec<Step> {
    let calls: Vec<_> = calls
        .iter()
        .map(|(id, args)| (id.as_str(), "bash", args.clone()))
        .collect();
    call(&calls)
}

/// Waits until the live output contains `text`.
async fn shown(agent: &mut TestAgent, text: &str) {
    agent
        .until(|event| {
            matches!(event, AgentEvent::ToolUpdate { details, .. }
                if matches!(&**details, Details::Command(command) if command.output.contains(text)))
        })
        .await;
}

fn state(wanted: fn(&RunState) -> bool) -> impl Fn(&AgentEvent) -> bool {
    move |event| matches!(event, AgentEvent::State(state) if wanted(state))
}

#[tokio::test]
async fn an_abort_does_not_wait_for_processes_that_ignore_it() {
    let marked = MarkedProcesses::new();
    let script = marked.script("trap '' TERM; echo begun; setsid SLEEP & SLEEP & SLEEP");
    let mut agent = with_bash(vec![
        calls(&[bash("c1", &script), bash("c2", "echo never")]),
        say("ok"),
    ]);
    agent.prompt("Go");
    shown(&mut agent, "begun").await;
    marked.wait_for(3).await;
    agent.handle.abort();
    assert_eq!(agent.settled().await, RunOutcome::Aborted);
    assert_eq!(
        agent.stored()[2..],
        [
            "c1!: Execution cancelled\nbegun",
            "c2!: Execution cancelled before start"
        ]
    );
    let stopping = agent
        .story()
        .iter()
        .any(|line| line.starts_with("state Stopping"));
    assert!(stopping, "{:?}", agent.story());

    // The next run doesn't wait for dying processes either.
    agent.prompt("again");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    marked.wait_for_none().await;
}

// The agent is idle again once the last process is dead.
#[tokio::test]
async fn stopping_ends_with_the_last_process_and_a_second_abort_kills() {
    let mut took = Vec::new();
    for second_abort in [false, true] {
        let marked = MarkedProcesses::new();
        let script = marked.script("trap '' TERM; echo begun; SLEEP & SLEEP");
        let mut agent = with_bash(vec![calls(&[bash("c1", &script)])]);
        agent.prompt("Go");
        shown(&mut agent, "begun").await;
        marked.wait_for(2).await;
        let start = Instant::now();
        agent.handle.abort();
        agent
            .until(state(|state| matches!(state, RunState::Stopping { .. })))
            .await;
        if second_abort {
            agent.handle.abort();
        }
        agent.until(state(|state| *state == RunState::Idle)).await;
        marked.assert_none().await;
        took.push(start.elapsed());
    }
    assert!(
        took[0] >= Duration::from_millis(1_900),
        "the processes had no time to end"
    );
    assert!(took[1] < took[0], "the second abort did not kill: {took:?}");
}

// The next run starts while processes of the last one die. The agent must never appear idle
// meanwhile.
#[tokio::test]
async fn the_next_run_is_not_idle_when_the_last_process_is_gone() {
    let marked = MarkedProcesses::new();
    let script = marked.script("trap '' TERM; echo begun; SLEEP & SLEEP");
    let mut agent = with_bash(vec![calls(&[bash("c1", &script)]), say("ok")]);
    agent.prompt("Go");
    shown(&mut agent, "begun").await;
    marked.wait_for(2).await;
    agent.handle.abort();
    assert_eq!(agent.settled().await, RunOutcome::Aborted);
    // While this subscriber reads nothing, the agent hears nothing of the next run.
    let stuck = agent.handle.subscribe(SlowReader::Drop);
    for level in [ThinkingLevel::Low, ThinkingLevel::High].repeat(200) {
        agent.handle.set_thinking(level);
    }
    agent.prompt("again");
    marked.wait_for_none().await;
    // Make sure that the agent has seen the last process die: it handles later commands after that.
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
    drop(stuck);
    agent.seen.clear();
    assert_eq!(agent.settled().await, RunOutcome::Done);
    let story = agent.story();
    let state = story.iter().find(|line| line.starts_with("state"));
    assert!(state.unwrap().starts_with("state Running"), "{story:?}");
}

// Processes that a command leaves running end with the run, even after a success.
#[tokio::test]
async fn leftovers_end_with_the_run() {
    let marked = MarkedProcesses::new();
    let script = marked.script("setsid SLEEP >/dev/null 2>&1 & echo started");
    let gate = Gate::new();
    let mut last = vec![start(), Step::Wait(gate.clone())];
    last.extend(say("done")[1..].to_vec());
    let mut agent = with_bash(vec![calls(&[bash("c1", &script)]), last]);
    agent.prompt("Go");
    gate.reached().await;
    marked.wait_for(1).await;
    gate.open();
    assert_eq!(agent.settled().await, RunOutcome::Done);
    marked.wait_for_none().await;
}

// The other processes can belong to a key command or to another agent.
#[tokio::test]
async fn a_run_ends_only_what_it_started() {
    let marked = MarkedProcesses::new();
    let other = MarkedProcesses::new();
    let processes = Processes::with_supervisor(env!("CARGO_BIN_EXE_tiller"), Orphans::Leave);
    let spawn = Spawn {
        command: other.script("SLEEP & SLEEP"),
        cwd: std::env::temp_dir(),
        environment: std::env::vars_os().collect(),
        sandbox: None,
    };
    let running = processes
        .start(spawn, &tokio_util::sync::CancellationToken::new())
        .unwrap();
    other.wait_for(3).await;
    let script = marked.script("echo begun; SLEEP & SLEEP");
    let mut agent = with_bash_in(processes.scope(), vec![calls(&[bash("c1", &script)])]);
    agent.prompt("Go");
    shown(&mut agent, "begun").await;
    agent.handle.abort();
    agent.handle.abort();
    assert_eq!(agent.settled().await, RunOutcome::Aborted);
    marked.wait_for_none().await;
    assert_eq!((processes.alive(), other.living().len()), (1, 3));
    drop(running);
    processes.empty().await;
    other.assert_none().await;
}

// Two edits of one file in one turn both apply, and every tool works through the loop.
#[tokio::test]
async fn real_tools_work_through_the_loop() {
    let mut agent = with_bash(vec![
        call(&[(
            "c1",
            "write",
            json!({ "path": "a.txt", "content": "one\ntwo\n" }),
        )]),
        call(&[
            (
                "c2",
                "edit",
                json!({ "file_path": "a.txt", "old_text": "one", "new_text": "1" }),
            ),
            (
                "c3",
                "edit",
                json!({ "file_path": "a.txt", "old_text": "two", "new_text": "2" }),
            ),
        ]),
        call(&[
            ("c4", "read", json!({ "file_path": "a.txt" })),
            ("c5", "grep", json!({ "pattern": "2" })),
            ("c6", "edit", json!({ "old_text": 5 })),
        ]),
        say("ok"),
    ]);
    agent.prompt("Go");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    let file = std::fs::read_to_string(agent.cwd.join("a.txt")).unwrap();
    assert_eq!(file, "1\n2\n");
    let results = agent.request(3);
    assert!(
        results.contains(&"c5: a.txt:2: 2".to_owned()),
        "{results:?}"
    );
    let refused = results.last().unwrap();
    assert!(
        refused.starts_with("c6!: error: invalid input: Missing required parameter: "),
        "{refused}"
    );
    // The session stores the diff for users, and the model doesn't get it.
    let stored = std::fs::read_to_string(&agent.session).unwrap();
    assert!(stored.contains(r#""kind":"diff""#));
    assert!(
        !results.iter().any(|line| line.contains("-1 one")),
        "{results:?}"
    );
}
