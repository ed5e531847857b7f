//! The question for a call that changes files shows the whole change, and the call makes exactly
//! that change.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::sync::Arc;

use serde_json::{Value, json};
use tiller::agent::permission::{Action, Origin, PermissionMode, Policy, Rule};
use tiller::agent::tool::{Details, DiffDetails};
use tiller::agent::{AgentEvent, Answer, PermissionOptions, Question, RunOutcome};

use super::fixture::*;
use super::permission::{asked, permission, setup, working};
use crate::support::everything_allowed;

const BEFORE: &str = "one\ntwo\nthree\n";

fn edit(old: &str) -> (&'static str, Value) {
    let args = json!({"file_path": "a.txt", "old_text": old, "new_text": "2"});
    ("edit", args)
}

fn patch(lines: &str) -> (&'static str, Value) {
    let patch = format!("*** Begin Patch\n{lines}\n*** End Patch");
    ("apply_patch", json!({ "patch": patch }))
}

/// An agent in mode `ask`, with one file in its folder.
fn asking(call: (&str, Value)) -> TestAgent {
    let agent = working(PermissionMode::Ask, true, &[call]);
    fs::write(agent.cwd.join("a.txt"), BEFORE).unwrap();
    agent
}

fn diff(details: &Details) -> &DiffDetails {
    match details {
        Details::Diff(diff) => diff,
        other => panic!("{other:?}"),
    }
}

fn shown(question: &Question) -> &DiffDetails {
    diff(&permission(question).details)
}

fn content(agent: &TestAgent) -> String {
    fs::read_to_string(agent.cwd.join("a.txt")).unwrap()
}

#[tokio::test]
async fn the_question_shows_the_exact_change() {
    let write = json!({"file_path": "a.txt", "content": "one\n2\nthree\n"});
    for call in [
        edit("two"),
        ("write", write),
        patch("*** Update File: a.txt\n@@\n one\n-two\n+2"),
    ] {
        let tool = call.0;
        let mut agent = asking(call);
        agent.prompt("Go");
        let cell = agent
            .until(|event| matches!(event, AgentEvent::ToolUpdate { .. }))
            .await;
        let AgentEvent::ToolUpdate { details, .. } = cell else {
            unreachable!()
        };
        let question = asked(&mut agent).await;
        assert_eq!(*details, *permission(&question).details, "{tool}");
        let diff = " 1 one\n-2 two\n+2 2\n 3 three";
        assert_eq!(shown(&question).diff, diff, "{tool}");
        assert_eq!(content(&agent), BEFORE, "{tool}");
        agent.handle.answer(question.id, Answer::once());
        let end = agent
            .until(|event| matches!(event, AgentEvent::ToolEnd { .. }))
            .await;
        let AgentEvent::ToolEnd { details: made, .. } = end else {
            unreachable!()
        };
        assert_eq!(made, details, "{tool}");
        assert_eq!(agent.settled().await, RunOutcome::Done);
        assert_eq!(content(&agent), "one\n2\nthree\n", "{tool}");
    }
}

#[tokio::test]
async fn a_call_that_changes_nothing_is_not_asked() {
    let same = || ("write", json!({"file_path": "a.txt", "content": BEFORE}));
    let mut agent = asking(same());
    let node = |agent: &TestAgent| fs::metadata(agent.cwd.join("a.txt")).unwrap().ino();
    let before = node(&agent);
    agent.prompt("Go");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    let result = agent.request(1).pop().unwrap();
    assert!(result.contains("nothing was written"), "{result}");
    assert_eq!(node(&agent), before);
    // A rule with `ask` applies even here. The question says that the call changes nothing.
    let rule = Rule {
        path: Some("*.txt".into()),
        ..Rule::of_tool("write", Action::Ask, Origin::Session)
    };
    let policy = Policy::new(PermissionMode::Auto, vec![rule]);
    let mut agent = Setup {
        permission: Some(PermissionOptions {
            policy,
            ..everything_allowed()
        }),
        ..setup(PermissionMode::Auto, true, &[same()])
    }
    .start();
    fs::write(agent.cwd.join("a.txt"), BEFORE).unwrap();
    agent.prompt("Go");
    let question = asked(&mut agent).await;
    let reason = &permission(&question).reason;
    assert!(reason.ends_with("; it changes nothing"), "{reason}");
    agent.handle.answer(question.id, Answer::once());
    assert_eq!(agent.settled().await, RunOutcome::Done);
}

#[tokio::test]
async fn a_call_that_cannot_succeed_fails_without_a_question() {
    type Prepare = fn(&TestAgent);
    let nothing: Prepare = |_| {};
    let read_only: Prepare = |agent| {
        let mode = fs::Permissions::from_mode(0o444);
        fs::set_permissions(agent.cwd.join("a.txt"), mode).unwrap();
    };
    for (call, prepare, told) in [
        (edit("four"), nothing, "c0!: Could not find the exact text"),
        (edit("two"), read_only, "c0!: Failed to write file: "),
        (patch("nonsense"), nothing, "c0!: Invalid patch"),
        (
            patch("*** Delete File: none.txt"),
            nothing,
            "c0!: The patch was not applied",
        ),
    ] {
        let mut agent = asking(call);
        prepare(&agent);
        agent.prompt("Go");
        // A question would block the run.
        assert_eq!(agent.settled().await, RunOutcome::Done, "{told}");
        let result = agent.request(1).pop().unwrap();
        assert!(result.starts_with(told), "{result}");
        assert_eq!(content(&agent), BEFORE);
    }
}

#[tokio::test]
async fn a_file_that_changes_during_the_question_is_asked_again() {
    let mut agent = asking(edit("two"));
    agent.prompt("Go");
    let first = asked(&mut agent).await;
    fs::write(agent.cwd.join("a.txt"), "zero\none\ntwo\n").unwrap();
    agent.handle.answer(first.id, Answer::once());
    let second = asked(&mut agent).await;
    assert!(second.id > first.id);
    assert_eq!(shown(&second).diff, " 1 zero\n 2 one\n-3 two\n+3 2");
    let reason = &permission(&second).reason;
    let why = "; the file changed after you allowed it";
    assert!(reason.ends_with(why), "{reason}");
    assert_eq!(content(&agent), "zero\none\ntwo\n");
    // A rewrite with the same bytes is the same change.
    fs::write(agent.cwd.join("a.txt"), "zero\none\ntwo\n").unwrap();
    agent.handle.answer(second.id, Answer::once());
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(content(&agent), "zero\none\n2\n");
}

#[tokio::test]
async fn a_change_that_became_impossible_is_not_made() {
    let mut agent = asking(edit("two"));
    agent.prompt("Go");
    let question = asked(&mut agent).await;
    fs::write(agent.cwd.join("a.txt"), "other\n").unwrap();
    agent.handle.answer(question.id, Answer::once());
    assert_eq!(agent.settled().await, RunOutcome::Done);
    let result = agent.request(1).pop().unwrap();
    assert!(result.starts_with("c0!: Could not find"), "{result}");
    assert_eq!(content(&agent), "other\n");
}

#[tokio::test]
async fn a_failure_does_not_reveal_a_protected_file() {
    let hidden = Rule {
        path: Some("a.txt".into()),
        ..Rule::of_tool("read", Action::Ask, Origin::Session)
    };
    let call = patch("*** Update File: a.txt\n@@\n one\n-wrong\n+2");
    let mut agent = Setup {
        permission: Some(PermissionOptions {
            policy: Policy::new(PermissionMode::Ask, vec![hidden]),
            ..everything_allowed()
        }),
        ..setup(PermissionMode::Ask, true, &[call])
    }
    .start();
    fs::write(agent.cwd.join("a.txt"), BEFORE).unwrap();
    agent.prompt("Go");
    let question = asked(&mut agent).await;
    assert_eq!(shown(&question).diff, "");
    let no = Answer::Refuse { reason: None };
    agent.handle.answer(question.id, no);
    assert_eq!(agent.settled().await, RunOutcome::Done);
    let result = agent.request(1).pop().unwrap();
    assert_eq!(result, "c0!: Not permitted: the user denied this call.");
}

#[tokio::test]
async fn a_change_without_a_question_is_computed_once() {
    let mut agent = working(PermissionMode::Full, true, &[edit("two")]);
    fs::write(agent.cwd.join("a.txt"), BEFORE).unwrap();
    agent.prompt("Go");
    let end = |event: &AgentEvent| {
        matches!(
            event,
            AgentEvent::ToolUpdate { .. } | AgentEvent::ToolEnd { .. }
        )
    };
    let first = agent.until(end).await;
    assert!(matches!(first, AgentEvent::ToolEnd { .. }), "{first:?}");
    let AgentEvent::ToolEnd { details, .. } = first else {
        unreachable!()
    };
    assert_eq!(diff(&Arc::clone(&details)).added, 1);
}
