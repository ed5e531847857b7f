//! The todo list. The user and the session have the list that the model sent last: between calls,
//! after a resume, and after a compaction.

use serde_json::{Value, json};
use tiller::agent::session::Session;
use tiller::agent::tools::{ToolSettings, builtin};
use tiller::agent::{AgentEvent, CompactionRules, Details, LoopRules, SessionWork, Toolbox};

use super::fixture::*;

fn list(statuses: &[&str]) -> Value {
    let items = statuses.iter().zip(["Look\naround", "Fix it", "Test it"]);
    let items = items.map(|(status, content)| json!({"content": content, "status": status}));
    json!({"todos": items.collect::<Vec<_>>()})
}

fn start(answers: Vec<Vec<Step>>) -> TestAgent {
    Setup {
        answers,
        toolbox: Some(Toolbox::new(builtin(&ToolSettings::default()))),
        rules: LoopRules {
            compaction: CompactionRules {
                keep_recent_tokens: 10,
                ..CompactionRules::default()
            },
            ..no_retries()
        },
        ..Setup::default()
    }
    .start()
}

/// The session's list as read when it is opened again.
async fn reopened(agent: &TestAgent) -> SessionWork {
    agent.handle.shutdown().await;
    let root = agent.folder.path().join("sessions");
    Session::open(&root, &agent.session).unwrap().0.facts().work
}

fn items(work: &SessionWork) -> String {
    work.todo.markdown()
}

#[tokio::test]
async fn the_last_list_replaces_the_others() {
    let mut agent = start(vec![
        call(&[("a", "todo", list(&["in_progress", "pending", "pending"]))]),
        call(&[(
            "b",
            "todo",
            json!({"todos": [{"content": "x", "status": "begun"}]}),
        )]),
        call(&[("c", "todo", list(&["completed", "in_progress", "pending"]))]),
        call(&[(
            "d",
            "write",
            json!({"file_path": "a.txt", "content": "one\ntwo\n"}),
        )]),
        say("Done."),
    ]);
    agent.prompt("Go");
    agent.settled().await;
    assert_eq!(
        agent.request(1).last().unwrap(),
        "a: 0 of 3 done; now: Look around"
    );
    let refused = agent.request(2).pop().unwrap();
    assert!(
        refused.starts_with("b!: error: invalid input: "),
        "{refused}"
    );
    assert_eq!(
        agent.request(3).last().unwrap(),
        "c: 1 of 3 done; now: Fix it"
    );
    let shown = agent.seen.iter().rev().find_map(|event| match &event.kind {
        AgentEvent::ToolEnd { details, .. } => match &**details {
            Details::Todo(list) => Some(list.markdown()),
            _ => None,
        },
        _ => None,
    });
    let expected = "- [x] Look around\n- [>] Fix it\n- [ ] Test it\n";
    assert_eq!(shown.as_deref(), Some(expected));
    let work = reopened(&agent).await;
    assert_eq!(items(&work), expected);
    let files = work.files.iter();
    let files: Vec<_> = files.map(|it| (&*it.path, it.added, it.removed)).collect();
    assert_eq!(files, [("a.txt", 2, 0)]);
}

#[tokio::test]
async fn a_summary_keeps_the_list_while_a_task_is_open() {
    for (statuses, left) in [
        (["completed", "in_progress", "pending"], true),
        (["completed", "completed", "completed"], false),
    ] {
        let mut agent = start(vec![
            call(&[
                ("a", "todo", list(&statuses)),
                (
                    "w",
                    "write",
                    json!({"file_path": "a.txt", "content": "one"}),
                ),
            ]),
            say("one"),
            say("two"),
            say("The summary."),
            say("three"),
        ]);
        agent.prompt("First");
        agent.settled().await;
        agent.prompt("Second");
        agent.settled().await;
        agent.handle.compact(None);
        agent
            .until(|event| matches!(event, AgentEvent::CompactionEnd { .. }))
            .await;
        agent.prompt("Third");
        agent.settled().await;
        let told = agent.request(4).join("\n");
        assert!(told.contains("The summary."), "{told}");
        let text = "## The current todo list\n\n- [x] Look around\n- [>] Fix it\n- [ ] Test it";
        assert_eq!(told.contains(text), left, "{told}");
        assert_eq!(told.contains("todo list"), left, "{told}");
        let work = reopened(&agent).await;
        assert_eq!(items(&work).contains("- [>] Fix it"), left);
        let files = work.files.iter();
        let files: Vec<_> = files.map(|it| (&*it.path, it.added)).collect();
        assert_eq!(
            files,
            [("a.txt", 0)],
            "the summary keeps the name, not the lines"
        );
    }
}
