//! The permission policy for calls: which run, when tiller asks, and what each answer does.

use std::fs;
use std::sync::Arc;

use serde_json::{Value, json};
use tiller::agent::permission::{Action, Origin, PermissionMode, Policy, Rule};
use tiller::agent::process::{Orphans, Processes};
use tiller::agent::tool::Details;
use tiller::agent::tools::{ToolSettings, builtin};
use tiller::agent::{
    AgentEvent, Answer, PermissionOptions, PermissionSubject, Question, RunOutcome, Subject,
    Toolbox,
};

use super::fixture::*;
use crate::support::everything_allowed;

/// An agent with the real tools that makes these calls, one per turn.
pub fn working(mode: PermissionMode, has_user: bool, calls: &[(&str, Value)]) -> TestAgent {
    setup(mode, has_user, calls).start()
}

pub fn setup(mode: PermissionMode, has_user: bool, calls: &[(&str, Value)]) -> Setup {
    let calls = calls.iter().enumerate();
    let mut answers: Vec<_> = calls
        .map(|(at, (tool, args))| call(&[(&format!("c{at}"), *tool, args.clone())]))
        .collect();
    answers.push(say("Done."));
    Setup {
        answers,
        toolbox: Some(Toolbox::new(builtin(&ToolSettings::default()))),
        permission: Some(PermissionOptions {
            policy: Policy::new(mode, Vec::new()),
            ..everything_allowed()
        }),
        has_user,
        ..Setup::default()
    }
}

pub async fn asked(agent: &mut TestAgent) -> Arc<Question> {
    let is_it =
        |event: &AgentEvent| matches!(event, AgentEvent::Questions { open } if !open.is_empty());
    let AgentEvent::Questions { open } = agent.until(is_it).await else {
        unreachable!()
    };
    Arc::clone(&open[0])
}

pub fn permission(question: &Question) -> &PermissionSubject {
    match &question.subject {
        Subject::Permission(subject) => subject,
        Subject::Choice(choice) => panic!("{choice:?}"),
    }
}

fn write(path: &str) -> (&'static str, Value) {
    ("write", json!({"file_path": path, "content": "new\n"}))
}

#[tokio::test]
async fn a_call_runs_when_the_user_allows_it() {
    for (answer, told, there) in [
        (Answer::once(), "c0: Successfully wrote", true),
        (
            Answer::Refuse { reason: None },
            "c0!: Not permitted: the user denied this call.",
            false,
        ),
        (
            Answer::Refuse {
                reason: Some("use b.txt".into()),
            },
            "c0!: Not permitted: the user denied this call and says: use b.txt",
            false,
        ),
    ] {
        let mut agent = working(PermissionMode::Ask, true, &[write("a.txt")]);
        agent.prompt("Go");
        let question = asked(&mut agent).await;
        assert_eq!(question.tool, "write");
        assert!(!permission(&question).reason.is_empty());
        assert!(!agent.cwd.join("a.txt").exists());
        agent.handle.answer(question.id, answer);
        assert_eq!(agent.settled().await, RunOutcome::Done);
        let result = agent.request(1).pop().unwrap();
        assert!(result.starts_with(told), "{result}");
        assert_eq!(agent.cwd.join("a.txt").exists(), there);
    }
}

#[tokio::test]
async fn a_new_rule_answers_later_calls() {
    let mut agent = working(
        PermissionMode::Ask,
        true,
        &[write("a.txt"), write("b.txt"), write("/etc/tiller-test")],
    );
    agent.prompt("Go");
    let question = asked(&mut agent).await;
    let rule = Rule {
        path: Some("*.txt".into()),
        ..Rule::of_tool("write", Action::Allow, Origin::Session)
    };
    agent
        .handle
        .answer(question.id, Answer::Allow { rules: vec![rule] });
    let question = asked(&mut agent).await;
    assert_eq!(question.call_id, "c2", "{question:?}");
    assert_eq!(
        fs::read_to_string(agent.cwd.join("b.txt")).unwrap(),
        "new\n"
    );
    agent
        .handle
        .answer(question.id, Answer::Refuse { reason: None });
    assert_eq!(agent.settled().await, RunOutcome::Done);
}

#[tokio::test]
async fn a_mode_applies_from_the_next_call_and_the_model_hears_with_the_next_message() {
    let mut agent = working(PermissionMode::Ask, true, &[write("a.txt"), write("b.txt")]);
    agent.prompt("Go");
    let question = asked(&mut agent).await;
    agent.handle.set_permission(PermissionMode::Plan);
    agent.handle.answer(question.id, Answer::once());
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert!(agent.cwd.join("a.txt").exists());
    assert!(!agent.cwd.join("b.txt").exists());
    let result = agent.request(2).pop().unwrap();
    assert!(
        result.starts_with("c1!: Not permitted: Plan mode"),
        "{result}"
    );
    let first = agent.request(0).join("\n");
    assert!(first.contains("[Permission mode: ask. "), "{first}");
    agent.prompt("More");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    let told = agent.request(3).join("\n");
    assert_eq!(
        told.matches("[Permission mode: plan. ").count(),
        1,
        "{told}"
    );
    assert_eq!(told.matches("[Permission mode: ").count(), 2, "{told}");
}

#[tokio::test]
async fn a_mode_is_repeated_after_a_summary() {
    let answers = ["One.", "Two.", "Summary.", "Three."];
    let mut agent = Setup {
        answers: answers.map(say).into(),
        permission: Some(PermissionOptions {
            policy: Policy::new(PermissionMode::Plan, Vec::new()),
            ..everything_allowed()
        }),
        ..Setup::default()
    }
    .start();
    for text in ["First ".repeat(200), "Second".to_owned()] {
        agent.prompt(&text);
        assert_eq!(agent.settled().await, RunOutcome::Done);
    }
    agent.handle.compact(None);
    let settled = |event: &AgentEvent| matches!(event, AgentEvent::AgentSettled { .. });
    agent.until(settled).await;
    agent.prompt("Third");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    let told = agent.request(3).join("\n");
    assert!(told.contains("Summary."), "{told}");
    assert_eq!(
        told.matches("[Permission mode: plan. ").count(),
        1,
        "{told}"
    );
}

#[tokio::test]
async fn without_a_user_the_refusal_names_the_rule_that_would_allow_it() {
    let mut agent = working(PermissionMode::Ask, false, &[write("a.txt")]);
    agent.prompt("Go");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    let result = agent.request(1).pop().unwrap();
    for words in [
        "c0!: Not permitted: ",
        "This run can't ask the user.",
        "[[permission.rules]]",
        "action = \"allow\"",
    ] {
        assert!(result.contains(words), "{words}: {result}");
    }
}

#[tokio::test]
async fn a_refusal_that_no_rule_can_lift_says_what_to_do() {
    let command = ("bash", json!({"command": "eval \"$X\""}));
    let own = Rule::of_tool("write", Action::Ask, Origin::Session);
    let full = "or use --permission full.";
    let compound = ("bash", json!({"command": "make && ssh host"}));
    for (call, rules, way_out) in [
        (command, Vec::new(), full),
        (write(".git/hooks/x"), Vec::new(), full),
        (compound, Vec::new(), "Run it alone: ssh host"),
        (write("a.txt"), vec![own], "The user can change that rule,"),
    ] {
        let policy = Policy::new(PermissionMode::Ask, rules);
        let mut setup = setup(PermissionMode::Ask, false, &[call]);
        setup.permission = Some(PermissionOptions {
            policy,
            ..everything_allowed()
        });
        let mut agent = setup.start();
        agent.prompt("Go");
        assert_eq!(agent.settled().await, RunOutcome::Done);
        let result = agent.request(1).pop().unwrap();
        for words in [way_out, "run tiller without -p"] {
            assert!(result.contains(words), "{words}: {result}");
        }
    }
}

#[tokio::test]
async fn in_full_mode_a_new_session_gets_no_mode_note() {
    let mut agent = working(PermissionMode::Full, true, &[write("a.txt")]);
    agent.prompt("Go");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert!(!agent.request(1).join("\n").contains("Permission mode"));
    agent.handle.set_permission(PermissionMode::Auto);
    agent.prompt("More");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    let told = agent.request(2).join("\n");
    assert!(told.contains("[Permission mode: auto. "), "{told}");
}

/// A real supervisor, if it can confine commands here as `auto` promises.
pub fn confining() -> Option<Processes> {
    let processes = Processes::with_supervisor(env!("CARGO_BIN_EXE_tiller"), Orphans::Leave);
    let reasons = processes.sandbox_support().reasons();
    if reasons.is_empty() {
        return Some(processes);
    }
    #[expect(clippy::print_stdout, reason = "a test that shows nothing says so")]
    {
        println!("SKIPPED: {}", reasons.join(", "));
    }
    None
}

#[tokio::test]
async fn a_command_that_the_sandbox_stopped_can_rerun_without_it() {
    for (answer, told, there) in [
        (
            Answer::once(),
            "The user let it rerun without the sandbox",
            true,
        ),
        (
            Answer::Refuse {
                reason: Some("leave it".into()),
            },
            "declined to rerun it without the sandbox, and says: leave it]",
            false,
        ),
    ] {
        let Some(processes) = confining() else {
            return;
        };
        // Not in the temporary folder, because the session can write there anyway.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let outside = folder.path().join("outside");
        let command = format!("touch {} && echo made", outside.display());
        let bash = ("bash", json!({"command": command}));
        let mut agent = Setup {
            processes: Some(processes),
            ..setup(PermissionMode::Auto, true, &[bash])
        }
        .start();
        agent.prompt("Go");
        let question = asked(&mut agent).await;
        let subject = permission(&question);
        let reason = &subject.reason;
        assert!(reason.starts_with("its output contains “"), "{reason}");
        assert!(
            reason.ends_with("which can write only in the project, may have blocked it"),
            "{reason}"
        );
        assert_eq!(subject.again.as_deref(), Some("without the sandbox"));
        agent.handle.answer(question.id, answer);
        assert_eq!(agent.settled().await, RunOutcome::Done);
        let result = agent.request(1).pop().unwrap();
        assert!(result.contains(told), "{result}");
        assert_eq!(outside.exists(), there);
    }
}

/// The next `git status` there would run programs that the settings name.
#[tokio::test]
async fn a_file_tool_asks_before_it_completes_a_repository() {
    let write = |path: &str| ("write", json!({"file_path": path, "content": "x\n"}));
    let calls = [write("d/HEAD"), write("d/objects/a"), write("d/config")];
    let at_once = "*** Begin Patch\n*** Add File: e/HEAD\n+x\n*** Add File: e/refs/a\n+x\n\
                   *** Add File: e/objects/a\n+x\n*** End Patch";
    let patch = ("apply_patch", json!({"patch": at_once}));
    let last = [write("d/refs/a"), write("d/refs2"), patch];
    let mut agent = setup(PermissionMode::Auto, true, &[&calls[..], &last].concat()).start();
    agent.prompt("Go");
    for (id, path) in [("c3", "d/refs/a"), ("c5", "e/HEAD")] {
        let question = asked(&mut agent).await;
        assert_eq!(question.call_id, id, "{question:?}");
        let reason = &permission(&question).reason;
        assert!(
            reason.contains(&format!("other programs may run code from {path}")),
            "{reason}"
        );
        let no = Answer::Refuse { reason: None };
        agent.handle.answer(question.id, no);
    }
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert!(agent.cwd.join("d/config").exists() && !agent.cwd.join("d/refs").exists());
}

#[tokio::test]
async fn a_command_in_plan_mode_changes_nothing_and_asks_nothing() {
    let Some(processes) = confining() else {
        return;
    };
    let command = "echo looked; touch here";
    let bash = ("bash", json!({ "command": command }));
    let mut agent = Setup {
        processes: Some(processes),
        ..setup(PermissionMode::Plan, true, &[bash])
    }
    .start();
    agent.prompt("Go");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    let result = agent.request(1).pop().unwrap();
    for words in [
        "looked",
        "plan mode's sandbox, which is read-only and has no network",
    ] {
        assert!(result.contains(words), "{result}");
    }
    assert!(!agent.cwd.join("here").exists());
    let shown = "plan mode: the project is read-only · Shift+Tab changes the mode";
    let is_shown = agent.seen.iter().any(|event| match &event.kind {
        AgentEvent::ToolEnd { details, .. } => {
            matches!(&**details, Details::Command(it) if it.output.ends_with(shown))
        }
        _ => false,
    });
    assert!(is_shown && !result.contains(shown), "{result}");
}

#[tokio::test]
async fn a_rule_that_lifts_the_sandbox_still_asks_outside_the_project() {
    let commands = [
        "true",
        "mkdir sub; cd sub && true",
        "cd link && true",
        "cd sub; cd link && true",
        "git --git-dir=../out status",
    ];
    let calls = commands.map(|command| ("bash", json!({"command": command})));
    let setup = setup(PermissionMode::Auto, true, &calls);
    let free = |prefix: &[&str]| Rule {
        prefix: prefix.iter().map(|&word| word.to_owned()).collect(),
        sandbox: false,
        ..Rule::of_tool("bash", Action::Allow, Origin::Session)
    };
    let rules = vec![free(&["true"]), free(&["mkdir"]), free(&["git", "status"])];
    let mut agent = Setup {
        permission: Some(PermissionOptions {
            policy: Policy::new(PermissionMode::Auto, rules),
            ..everything_allowed()
        }),
        ..setup
    }
    .start();
    fs::create_dir(agent.cwd.with_file_name("out")).unwrap();
    std::os::unix::fs::symlink("../out", agent.cwd.join("link")).unwrap();
    agent.prompt("Go");
    let question = asked(&mut agent).await;
    assert_eq!(question.call_id, "c2", "{question:?}");
    let reason = &permission(&question).reason;
    assert_eq!(reason, "a rule allows it, but only inside the project");
    let no = Answer::Refuse { reason: None };
    agent.handle.answer(question.id, no);
    // The rule doesn't cover two commands in one line, or a command sent to another folder.
    assert_eq!(agent.settled().await, RunOutcome::Done);
}

#[tokio::test]
async fn a_missing_sandbox_is_reported_once_with_the_reason() {
    let touch = |name: &str| ("bash", json!({"command": format!("touch {name}")}));
    let supervisor = Processes::with_supervisor("/nonexistent/tiller", Orphans::Leave);
    let mut agent = Setup {
        processes: Some(supervisor),
        ..setup(PermissionMode::Auto, true, &[touch("a"), touch("b")])
    }
    .start();
    agent.prompt("Go");
    let mut notices = Vec::new();
    loop {
        let event = agent.until(|_| true).await;
        match event {
            AgentEvent::Notice { text, .. } => notices.push(text),
            AgentEvent::Questions { open } if !open.is_empty() => {
                let no = Answer::Refuse { reason: None };
                agent.handle.answer(open[0].id, no);
            }
            AgentEvent::AgentSettled { .. } => break,
            _ => {}
        }
    }
    assert_eq!(agent.script.requests().len(), 3);
    let told = "The sandbox doesn't work here, so auto asks before commands, like ask mode: ";
    let told: Vec<_> = notices
        .iter()
        .filter(|text| text.starts_with(told))
        .collect();
    assert_eq!(told.len(), 1, "{notices:?}");
    // The second in a container, which can't change what the machine allows.
    let ends = ["run tiller doctor", "use --permission full"];
    assert!(ends.iter().any(|end| told[0].ends_with(end)), "{told:?}");
}
