//! Instruction files: what the prompt says, and how the model hears of changes without a rewrite of
//! the prompt.

use std::fs;
use std::sync::Arc;

use serde_json::json;
use tempfile::TempDir;
use tiller::agent::memory::InstructionSources;
use tiller::agent::{
    AgentEvent, CompactionRules, LoopRules, RunOutcome, ToolSettings, Toolbox, tools,
};

use super::fixture::{Act, Gate, Setup, Step, TestAgent, call, say};
use tiller::llm::{EditFormat, ErrorClass, LlmError, Model, StreamEvent};

/// An agent in a trusted project, with a user folder.
fn agent(answers: Vec<Vec<Step>>) -> (TestAgent, TempDir) {
    let user = tempfile::tempdir().unwrap();
    fs::write(user.path().join("AGENTS.md"), "Be brief.").unwrap();
    let setup = Setup {
        answers,
        tools: vec![("read", true, Act::Succeed("fine".into()))],
        instructions: InstructionSources {
            home: None,
            user: Some(user.path().to_owned()),
            project: true,
        },
        ..Setup::default()
    };
    (setup.start(), user)
}

async fn ask(agent: &mut TestAgent) {
    agent.prompt("Go");
    assert_eq!(agent.settled().await, RunOutcome::Done);
}

/// The system prompts that the session stores.
fn prompts(agent: &TestAgent) -> Vec<String> {
    let entries = agent.entries().into_iter();
    let prompts = entries.filter(|entry| entry["customType"] == "tiller.prompt");
    let text = |entry: serde_json::Value| entry["data"]["system"].as_str().unwrap().to_owned();
    prompts.map(text).collect()
}

#[tokio::test]
async fn a_changed_file_is_reported_once_and_the_prompt_stays() {
    let answers = (0..6).map(|_| say("ok")).collect();
    let (mut agent, _user) = agent(answers);
    let file = agent.cwd.join("AGENTS.md");
    fs::write(&file, "Use tabs.").unwrap();
    ask(&mut agent).await;
    ask(&mut agent).await;
    fs::write(&file, "Use blanks.").unwrap();
    ask(&mut agent).await;
    ask(&mut agent).await;
    fs::remove_file(&file).unwrap();
    ask(&mut agent).await;
    ask(&mut agent).await;

    let prompts = prompts(&agent);
    assert_eq!(prompts.len(), 1, "the prompt was made again");
    let mark = format!(
        "<instructions path=\"{}\">\n",
        file.canonicalize().unwrap_or(file.clone()).display()
    );
    let (before, after) = prompts[0].split_once("# Project instructions").unwrap();
    assert!(!before.is_empty() && after.contains("# Environment"));
    let (user, project) = (after.find("Be brief."), after.find("Use tabs."));
    assert!(user.is_some() && user < project, "{after}");

    let last = agent.request(5).join("\n");
    assert!(last.contains(&mark), "{last}");
    for (told, times) in [
        ("Use tabs.", 0),
        ("Be brief.", 0),
        ("Use blanks.\n</instructions>", 1),
        ("[Project instructions that no longer count: ", 1),
    ] {
        assert_eq!(last.matches(told).count(), times, "{told}: {last}");
    }
    for number in 1..6 {
        let (before, after) = (agent.request(number - 1), agent.request(number));
        assert_eq!(after[..before.len()], before);
    }
}

/// An agent with all tools, in a project where two folders have instructions.
fn nested(answers: Vec<Vec<Step>>, project: bool) -> TestAgent {
    let setup = Setup {
        answers,
        toolbox: Some(Toolbox::new(tools::builtin(&ToolSettings::default()))),
        instructions: InstructionSources {
            home: None,
            user: None,
            project,
        },
        ..Setup::default()
    };
    in_nested_project(setup)
}

fn in_nested_project(setup: Setup) -> TestAgent {
    let agent = setup.start();
    for (folder, text) in [("deep/er", "Deep rules."), ("other", "Other rules.")] {
        fs::create_dir_all(agent.cwd.join(folder)).unwrap();
        fs::write(agent.cwd.join(folder).join("AGENTS.md"), text).unwrap();
    }
    fs::write(agent.cwd.join("deep/er/a.rs"), "old").unwrap();
    agent
}

fn count(request: &[String], text: &str) -> usize {
    request.join("\n").matches(text).count()
}

#[tokio::test]
async fn touching_a_folder_loads_its_file_with_the_next_call() {
    let patch = "*** Begin Patch\n*** Add File: deep/er/b.rs\n+x\n*** End Patch";
    for (tool, arguments) in [
        ("read", json!({"file_path": "deep/er/a.rs"})),
        ("read", json!({"file_path": "./other/../deep/er/none.rs"})),
        ("write", json!({"file_path": "deep/er/c.rs", "content": ""})),
        (
            "edit",
            json!({"file_path": "@deep/er/a.rs", "old_text": "old", "new_text": "new"}),
        ),
        ("grep", json!({"pattern": "old", "path": "deep/er"})),
        ("ls", json!({"path": "deep/er/"})),
        ("apply_patch", json!({"patch": patch})),
        ("bash", json!({"command": "cd deep/er && cat a.rs"})),
    ] {
        let calls = call(&[("c1", tool, arguments.clone())]);
        let again = call(&[("c2", tool, arguments.clone())]);
        let mut agent = nested(vec![calls, again, say("ok"), say("ok")], true);
        ask(&mut agent).await;
        assert!(!prompts(&agent)[0].contains("rules."), "{arguments}");
        ask(&mut agent).await;
        for (number, times) in [(0, 0), (1, 1), (2, 1), (3, 1)] {
            let request = agent.request(number);
            assert_eq!(
                count(&request, "Deep rules."),
                times,
                "{arguments}: {request:?}"
            );
            assert_eq!(
                count(&request, "Other rules."),
                0,
                "{arguments}: {request:?}"
            );
        }
        // The note follows the result, and earlier messages stay.
        assert!(agent.request(1)[3].starts_with("note: [These project instructions"));
        for number in 1..4 {
            let (before, after) = (agent.request(number - 1), agent.request(number));
            assert_eq!(after[..before.len()], before, "{arguments}");
        }
    }
}

#[tokio::test]
async fn a_nested_file_is_sent_once_even_after_a_resume_and_only_if_trusted() {
    let calls = || call(&[("c1", "read", json!({"file_path": "deep/er/a.rs"}))]);
    let mut first = nested(vec![calls(), say("ok")], true);
    ask(&mut first).await;
    let resume = (Arc::clone(&first.folder), first.session.clone());
    let told = first.request(1);
    first.handle.shutdown().await;
    let setup = |project, answers| Setup {
        answers,
        toolbox: Some(Toolbox::new(tools::builtin(&ToolSettings::default()))),
        instructions: InstructionSources {
            home: None,
            user: None,
            project,
        },
        resume: Some(resume.clone()),
        ..Setup::default()
    };
    let mut second = setup(true, vec![say("ok"), calls(), say("ok")]).start();
    fs::write(second.cwd.join("deep/er/AGENTS.md"), "Deeper rules.").unwrap();
    ask(&mut second).await;
    let request = second.request(0);
    assert_eq!(request[..told.len()], told);
    assert_eq!(count(&request, "Deep rules."), 1);
    assert_eq!(count(&request, "Deeper rules."), 1, "{request:?}");
    ask(&mut second).await;
    assert_eq!(count(&second.request(2), "Deeper rules."), 1);
    second.handle.shutdown().await;

    // The model hears that trust is gone, and tiller reads no more files.
    let mut third = setup(false, vec![say("ok")]).start();
    fs::write(third.cwd.join("deep/er/AGENTS.md"), "Hostile rules.").unwrap();
    ask(&mut third).await;
    let request = third.request(0);
    assert_eq!(
        count(&request, "[Project instructions that no longer count: "),
        1
    );
    assert_eq!(count(&request, "Hostile"), 0);

    let mut other = nested(vec![calls(), say("ok")], false);
    ask(&mut other).await;
    assert_eq!(count(&other.request(1), "rules."), 0);
}

#[tokio::test]
async fn the_user_hears_once_of_files_that_are_not_loaded() {
    let (mut agent, _user) = agent(vec![say("ok"), say("ok")]);
    fs::write(agent.cwd.join(".env"), "KEY=secret").unwrap();
    fs::write(agent.cwd.join("AGENTS.md"), "See @.env for the key.").unwrap();
    ask(&mut agent).await;
    ask(&mut agent).await;
    let notices = agent.seen.iter().filter(|event| {
        matches!(&event.kind, AgentEvent::Notice { text, .. }
            if text.starts_with("Not loaded: ") && text.ends_with("/.env: it may hold secrets"))
    });
    assert_eq!(notices.count(), 1, "{:?}", agent.story());
    let prompt = &prompts(&agent)[0];
    assert!(
        prompt.contains("[not loaded: @.env: it may hold secrets]"),
        "{prompt}"
    );
    assert!(!prompt.contains("KEY="), "{prompt}");
}

#[tokio::test]
async fn a_compacted_file_is_sent_again_when_a_tool_returns_to_its_folder() {
    let calls = || call(&[("c1", "read", json!({"file_path": "deep/er/a.rs"}))]);
    let answers = vec![
        calls(),
        say("ok"),
        say("A summary."),
        say("ok"),
        calls(),
        say("ok"),
    ];
    let setup = Setup {
        answers,
        toolbox: Some(Toolbox::new(tools::builtin(&ToolSettings::default()))),
        instructions: InstructionSources {
            home: None,
            user: None,
            project: true,
        },
        rules: LoopRules {
            compaction: CompactionRules {
                keep_recent_tokens: 1,
                ..CompactionRules::default()
            },
            ..LoopRules::default()
        },
        ..Setup::default()
    };
    let mut agent = in_nested_project(setup);
    ask(&mut agent).await;
    agent.handle.compact(None);
    (agent.until(|event| matches!(event, AgentEvent::CompactionEnd { .. }))).await;
    ask(&mut agent).await;
    ask(&mut agent).await;
    for (number, times) in [(1, 1), (3, 0), (4, 0), (5, 1)] {
        let request = agent.request(number);
        assert_eq!(
            count(&request, "Deep rules."),
            times,
            "{number}: {request:?}"
        );
    }
}

/// tiller looks once for the files that calls lead to, and later runs reuse what it found.
#[tokio::test]
async fn later_runs_do_not_search_for_earlier_calls_again() {
    let calls = || {
        let read = |id, path: &str| (id, "read", json!({"file_path": path}));
        call(&[read("c1", "deep/er/a.rs"), read("c2", "later/b.rs")])
    };
    let answers = vec![calls(), say("ok"), say("ok"), say("ok"), calls(), say("ok")];
    let mut agent = nested(answers, true);
    ask(&mut agent).await;
    ask(&mut agent).await;
    let later = agent.cwd.join("later");
    fs::create_dir(&later).unwrap();
    fs::write(later.join("AGENTS.md"), "Later rules.").unwrap();
    fs::write(agent.cwd.join("deep/er/AGENTS.md"), "Deeper rules.").unwrap();
    ask(&mut agent).await;
    ask(&mut agent).await;
    for (number, deeper, later) in [(2, 0, 0), (3, 1, 0), (4, 1, 0), (5, 1, 1)] {
        let request = agent.request(number);
        let told = (
            count(&request, "Deeper rules."),
            count(&request, "Later rules."),
        );
        assert_eq!(told, (deeper, later), "{number}: {request:?}");
    }
}

#[tokio::test]
async fn a_file_that_changes_while_tools_run_is_in_the_next_request() {
    let (gate, user) = (Gate::new(), tempfile::tempdir().unwrap());
    let mut agent = Setup {
        answers: vec![call(&[("c1", "look", json!({}))]), say("ok"), say("ok")],
        tools: vec![("look", true, Act::Gate(gate.clone()))],
        instructions: InstructionSources {
            home: None,
            user: Some(user.path().to_owned()),
            project: true,
        },
        ..Setup::default()
    }
    .start();
    let file = agent.cwd.join("AGENTS.md");
    fs::write(&file, "Use tabs.").unwrap();
    agent.prompt("Go");
    gate.reached().await;
    fs::write(&file, "Use blanks.").unwrap();
    gate.open();
    assert_eq!(agent.settled().await, RunOutcome::Done);
    let second = agent.request(1);
    assert_eq!(
        count(&second, "Use blanks.\n</instructions>"),
        1,
        "{second:?}"
    );
    ask(&mut agent).await;
    let third = agent.request(2);
    assert_eq!(
        count(&third, "Use blanks."),
        1,
        "the change must be reported once"
    );
    assert_eq!(third[..second.len()], second);
    assert_eq!(prompts(&agent).len(), 1);
}

/// Each model reads the instruction file of its vendor.
#[tokio::test]
async fn a_fallback_reads_its_vendors_file() {
    let model = |id: &str| Model {
        id: id.into(),
        ..super::fixture::model()
    };
    let error = LlmError::new(ErrorClass::Quota, "no money");
    let mut agent = Setup {
        answers: vec![vec![Step::Say(StreamEvent::Error(error))], say("ok")],
        instructions: InstructionSources {
            home: None,
            user: None,
            project: true,
        },
        model: Some(model("gpt")),
        fallback: vec![model("claude")],
        ..Setup::default()
    }
    .start();
    fs::write(agent.cwd.join("AGENTS.md"), "For all.").unwrap();
    fs::write(agent.cwd.join("CLAUDE.md"), "For Claude.").unwrap();
    fs::write(agent.cwd.join("GEMINI.md"), "For Gemini.").unwrap();
    ask(&mut agent).await;
    let requests = agent.script.requests();
    let says = |at: usize, text: &str| {
        requests[at].system.contains(text) || count(&agent.request(at), text) > 0
    };
    assert!(!says(0, "For Claude.") && says(1, "For Claude."));
    assert!(!says(0, "For Gemini.") && !says(1, "For Gemini."));
}

/// The prompt for another editing format is as complete as the session's first prompt.
#[tokio::test]
async fn a_fallback_in_a_resumed_session_gets_the_users_system_prompt() {
    let user = tempfile::tempdir().unwrap();
    fs::write(user.path().join("SYSTEM.md"), "You are mine.").unwrap();
    fs::write(user.path().join("APPEND_SYSTEM.md"), "And brief.").unwrap();
    let sources = || InstructionSources {
        home: None,
        user: Some(user.path().to_owned()),
        project: false,
    };
    let mut first = Setup {
        answers: vec![say("ok")],
        instructions: sources(),
        ..Setup::default()
    }
    .start();
    ask(&mut first).await;
    first.handle.shutdown().await;
    let error = LlmError::new(ErrorClass::Auth, "no key");
    let mut second = Setup {
        answers: vec![vec![Step::Say(StreamEvent::Error(error))], say("ok")],
        instructions: sources(),
        fallback: vec![Model {
            id: "second".into(),
            edit_format: EditFormat::ApplyPatch,
            ..super::fixture::model()
        }],
        resume: Some((Arc::clone(&first.folder), first.session.clone())),
        ..Setup::default()
    }
    .start();
    ask(&mut second).await;
    let requests = second.script.requests();
    assert_eq!(requests[1].model.id, "second");
    for request in requests {
        let system = request.system;
        assert!(system.starts_with("You are mine.") && system.contains("And brief."));
        assert!(system.contains("Git repository: no"), "{system}");
    }
}
