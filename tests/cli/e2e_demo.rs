//! Plays the demo's script through the real agent and the real tools, without pauses. Also starts
//! the demo without a terminal.

use std::sync::Arc;

use tiller::agent::memory::InstructionSources;
use tiller::agent::process::{Orphans, Processes};
use tiller::agent::session::{HistoryFacts, Session};
use tiller::agent::{
    AgentEvent, AgentOptions, LoopRules, RunOutcome, SlowReader, ToolSettings, ToolStatus, Toolbox,
    tools,
};
use tiller::app::demo::Scratch;
use tiller::llm::scripted::{ReplyStep, Scripted, demo_model, demo_script};
use tiller::llm::{Content, Message, ThinkingLevel};

use crate::support::sandbox::Sandbox;

/// Every call in the demo succeeds, and its final claims are true.
#[tokio::test]
async fn the_demo_does_what_it_claims() {
    let mut script = demo_script();
    (script.text_ms, script.thinking_ms, script.arguments_ms) = (0, 0, 0);
    for reply in &mut script.replies {
        reply
            .steps
            .retain(|step| !matches!(step, ReplyStep::Pause { .. }));
    }
    let prompt = script.prompt.clone();
    let scratch = Scratch::create().unwrap();
    // The bug is real, and its tests need no other program.
    let before = std::process::Command::new("bash")
        .args(["-c", "PATH=/nowhere; source tests/run.sh"])
        .current_dir(scratch.path())
        .env_remove("BASH_ENV")
        .output()
        .unwrap();
    assert_eq!(before.status.code(), Some(1));
    let told = String::from_utf8_lossy(&before.stdout);
    assert!(told.contains("FAIL the thirteenth stays ashore"), "{told}");
    let spill = tempfile::tempdir().unwrap();
    let processes = Processes::with_supervisor(env!("CARGO_BIN_EXE_tiller"), Orphans::Leave);
    let handle = tiller::agent::start(AgentOptions {
        provider: Arc::new(Scripted::new(script)),
        model: demo_model(),
        fallback: Vec::new(),
        thinking: ThinkingLevel::Medium,
        cwd: scratch.path().to_owned(),
        toolbox: Toolbox::new(tools::builtin(&ToolSettings::default())),
        processes,
        system_prompt: None,
        append_system_prompt: Vec::new(),
        instructions: InstructionSources::default(),
        today: Arc::new(|| jiff::civil::date(2026, 11, 22)),
        session: Session::unstored(scratch.path()),
        facts: HistoryFacts::default(),
        spill_dir: spill.path().to_owned(),
        trials: None,
        undo: None,
        permission: crate::support::everything_allowed(),
        rule_source: None,
        rules: LoopRules::default(),
        budget: tiller::agent::Budget::default(),
        budget_flags: [false; 2],
        redactor: tiller::agent::LazyRedactor::default(),
        hooks: tiller::agent::hooks::Hooks::default(),
        own_tools: tools::own::OwnTools::default(),
        mcp: tiller::agent::mcp::Mcp::default(),
    });
    let mut events = handle.subscribe(SlowReader::Drop);
    handle.prompt(vec![Content::text(prompt)]);
    let mut ran = Vec::new();
    let mut output = String::new();
    let messages = loop {
        let event = events.recv().await.unwrap();
        match &event.kind {
            AgentEvent::ToolEnd {
                name,
                status,
                content,
                ..
            } => {
                let text = tiller::llm::message::content_text(content);
                assert_eq!(*status, ToolStatus::Ok, "{name}: {text}");
                ran.push(name.clone());
                output.push_str(&text);
            }
            AgentEvent::AgentEnd {
                messages, outcome, ..
            } => {
                assert_eq!(*outcome, RunOutcome::Done);
                break messages.read();
            }
            _ => {}
        }
    };
    // The first two run in parallel, so either may finish first.
    ran[..2].sort();
    assert_eq!(ran, ["find", "grep", "read", "edit", "bash"]);
    assert!(output.contains("lib/ferry.sh:10: may_board()"), "{output}");
    assert!(output.contains("9 of 9 passed"), "{output}");
    let Message::Assistant(last) = &**messages.last().unwrap() else {
        panic!("the demo must end with an answer");
    };
    assert!(last.tool_calls().next().is_none());
    handle.shutdown().await;
}

#[test]
fn the_demo_project_has_one_failing_test() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["demo", "--project"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("cd tiller-demo\n"), "{}", ran.stdout);
    let tests = || {
        let output = std::process::Command::new("python3")
            .args(["-B", "-m", "unittest"])
            .current_dir(sandbox.path().join("tiller-demo"))
            .output()
            .unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    let told = tests();
    assert!(
        told.contains("FAIL: test_shares_add_up_to_the_bill"),
        "{told}"
    );
    assert!(
        told.contains("Ran 4 tests") && told.contains("(failures=1)"),
        "{told}"
    );
    let code = sandbox.read("tiller-demo/bill.py");
    let mended = "return [share + (at < total % people) for at in range(people)]";
    let code = code.replace("return [share] * people", mended);
    sandbox.write("tiller-demo/bill.py", &code);
    let told = tests();
    assert!(told.trim().ends_with("OK"), "{told}");

    let again = sandbox.run(&["demo", "--project"]);
    assert_eq!(again.code, Some(2));
    assert!(
        again.stderr.contains("tiller-demo isn't empty"),
        "{}",
        again.stderr
    );
    assert_eq!(sandbox.read("tiller-demo/bill.py"), code);
    assert_eq!(sandbox.run(&["demo", "--project", "other"]).code, Some(0));
    assert!(sandbox.path().join("other/README.md").is_file());
}
