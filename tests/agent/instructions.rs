//! Instruction files: what stands in the prompt, and that changes are told without rewriting it.

use std::fs;

use serde_json::json;
use tempfile::TempDir;
use tiller::agent::RunOutcome;
use tiller::agent::memory::InstructionSources;

use super::fixture::{Act, Setup, Step, TestAgent, call, say};

/// An agent in a project that is trusted, with a folder of the user.
fn agent(answers: Vec<Vec<Step>>) -> (TestAgent, TempDir) {
    let user = tempfile::tempdir().unwrap();
    fs::write(user.path().join("AGENTS.md"), "Be brief.").unwrap();
    let setup = Setup {
        answers,
        tools: vec![("read", true, Act::Succeed("fine".into()))],
        instructions: InstructionSources {
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

/// What the session has stored: the system prompt.
fn prompts(agent: &TestAgent) -> Vec<String> {
    let entries = agent.entries().into_iter();
    let prompts = entries.filter(|entry| entry["customType"] == "tiller.prompt");
    let text = |entry: serde_json::Value| entry["data"]["system"].as_str().unwrap().to_owned();
    prompts.map(text).collect()
}

// M4
#[tokio::test]
async fn what_changes_is_told_once_and_the_prompt_stays() {
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
    assert_eq!(prompts.len(), 1, "the prompt is never made again");
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

#[tokio::test]
async fn a_folder_that_was_touched_brings_its_file_with_the_next_message() {
    let call = call(&[("c1", "read", json!({"path": "deep/er/a.rs"}))]);
    let (mut agent, _user) = agent(vec![call, say("ok"), say("ok"), say("ok")]);
    let folder = agent.cwd.join("deep/er");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("AGENTS.md"), "Deep rules.").unwrap();
    fs::create_dir(agent.cwd.join("other")).unwrap();
    fs::write(agent.cwd.join("other/AGENTS.md"), "Other rules.").unwrap();
    ask(&mut agent).await;
    assert!(!prompts(&agent)[0].contains("rules."));
    ask(&mut agent).await;
    ask(&mut agent).await;
    let last = agent.request(3).join("\n");
    assert_eq!(last.matches("Deep rules.").count(), 1, "{last}");
    assert!(!last.contains("Other rules."), "{last}");
}
