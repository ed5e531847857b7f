//! The budget without a screen: reaching it is an error, and it survives a restart.

use serde_json::json;

use crate::support::job;
use crate::support::model_server::{Reply, Usage, Wire};

fn dear(reply: Reply) -> Reply {
    reply.usage(Usage {
        input: 1_000,
        output: 1_000_000,
        ..Usage::default()
    })
}

#[test]
fn print_and_json_stop_at_the_budget_with_exit_code_1() {
    for mode in ["text", "json"] {
        let calls = dear(Reply::call("ls", json!({}))).repeat();
        let (server, sandbox) = job::stage_with(vec![calls]);
        let model = Wire::Anthropic.model();
        let args = [
            "-p",
            "-m",
            model,
            "--mode",
            mode,
            "--budget-usd",
            "0.5",
            "go",
        ];
        let ran = sandbox.run(&args);
        assert_eq!(ran.code, Some(1), "{ran:#?}");
        assert!(ran.stderr.contains("Budget of $0.5 reached"), "{ran:#?}");
        assert!(ran.stderr.contains("--budget-usd"), "{ran:#?}");
        assert_eq!(server.requests().len(), 1);
        // The session has spent its budget, so resuming it makes no call.
        let ran = sandbox.run(&["-p", "-c", "--budget-usd", "0.5", "more"]);
        assert!(ran.stderr.contains("Budget of $0.5 reached"), "{ran:#?}");
        assert_eq!(server.requests().len(), 1);
    }
}

#[test]
fn an_answer_that_passes_the_budget_says_so() {
    let (_server, sandbox) = job::stage_with(vec![dear(Reply::text("ok"))]);
    let model = Wire::Anthropic.model();
    let ran = sandbox.run(&["-p", "-m", model, "--budget-usd", "0.5", "go"]);
    assert_eq!((ran.code, &*ran.stdout), (Some(0), "ok\n"), "{ran:#?}");
    assert!(ran.stderr.contains("Budget of $0.5 passed: $"), "{ran:#?}");
}

#[test]
fn a_run_stops_at_its_token_budget() {
    let calls = Reply::call("ls", json!({}));
    let (server, sandbox) = job::stage_with(vec![dear(calls), Reply::text("ok")]);
    let model = Wire::Anthropic.model();
    let ran = sandbox.run(&["-p", "-m", model, "--budget-tokens", "5000", "go"]);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    assert!(
        ran.stderr.contains("Budget of 5000 tokens reached"),
        "{ran:#?}"
    );
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn an_invalid_budget_is_rejected_by_name() {
    let (server, sandbox) = job::stage();
    for (args, name) in [
        (["--budget-usd", "-1"], "--budget-usd"),
        (["--budget-usd", "nan"], "--budget-usd"),
        (["--budget-usd", "much"], "--budget-usd"),
        (["--budget-tokens", "-5"], "--budget-tokens"),
        (["--config", "budget.usd=-0.5"], "budget.usd"),
    ] {
        let ran = sandbox.run(&["-p", args[0], args[1], "go"]);
        assert_eq!(ran.code, Some(2), "{args:?}: {ran:#?}");
        assert!(ran.stderr.contains(name), "{args:?}: {}", ran.stderr);
    }
    assert!(server.requests().is_empty());
}
