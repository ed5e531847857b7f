//! `/trust` on the screen: a notice asks without taking keys, and the answer is saved.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::e2e_job::{leave, open};
use crate::support::job;
use crate::support::model_server::{Reply, Wire};

#[test]
fn trust_takes_effect_with_the_next_message() {
    let (server, sandbox) = job::stage_with(vec![
        Reply::text("First."),
        Reply::text("Second."),
        Reply::text("Third."),
    ]);
    sandbox.write("AGENTS.md", "Use tabs.");
    let screen = open(&sandbox, Wire::Anthropic);
    screen.wait_for("not trusted: instructions ignored");
    screen.keys("hi\r");
    screen.wait_for("First.");
    screen.keys("/trust\r");
    screen.wait_for("is trusted");
    screen.wait_for("From your next message on: AGENTS.md");
    screen.keys("again\r");
    screen.wait_for("Second.");
    screen.wait_for("Loaded instructions: ");
    leave(&screen);
    assert!(!server.request(0).text().contains("Use tabs."));
    assert!(server.request(1).text().contains("Use tabs."));

    let screen = open(&sandbox, Wire::Anthropic);
    screen.keys("hi\r");
    screen.wait_for("Third.");
    screen.keys("/trust no\r");
    screen.wait_for("is not trusted; /trust to change that");
    assert!(
        !screen.text().contains("Folder not trusted"),
        "{}",
        screen.text()
    );
    leave(&screen);
    let prompt = server.request(2).body["system"].to_string();
    assert!(prompt.contains("Use tabs."), "{prompt}");
    let kept = fs::read_to_string(sandbox.config().join("projects.toml")).unwrap();
    let root = sandbox.path().display().to_string();
    assert_eq!(kept, format!("[trust]\n\"{root}\" = \"denied\"\n"));
}

#[test]
fn project_settings_apply_as_soon_as_possible() {
    let read = Reply::call("read", json!({"file_path": "AGENTS.md"}));
    let (server, sandbox) = job::stage_with(vec![Reply::text("First."), read]);
    sandbox.write("AGENTS.md", "Use tabs.");
    let settings = "agent.max_iterations = 1\n[models]\nthinking = \"low\"\nfavorites = [\"a\"]\n";
    sandbox.write(".tiller/config.toml", settings);
    sandbox.write(".tiller/APPEND_SYSTEM.md", "Say moin.");
    let screen = open(&sandbox, Wire::Anthropic);
    screen.wait_for("so tiller ignores: AGENTS.md, .tiller/config.toml");
    screen.wait_for(".tiller/APPEND_SYSTEM.md");
    screen.wait_for("Folder not trusted: instructions ignored");
    screen.keys("hi\r");
    screen.wait_for("First.");
    screen.wait_for("/trust no dismiss");
    screen.keys("/trust\r");
    screen.wait_for("From your next message on: AGENTS.md, .tiller/config.toml");
    screen.wait_for("In new sessions: .tiller/APPEND_SYSTEM.md");
    screen.wait_for("After a restart: models.favorites, models.thinking");
    assert!(!screen.text().contains("/trust no dismiss"));
    screen.keys("again\r");
    screen.wait_for("to continue");
    assert_eq!(server.requests().len(), 2, "one call per message");

    // A changed file is no longer trusted, and an error names its line.
    sandbox.write(".tiller/config.toml", "agent.max_iteration = 1\n");
    screen.keys("/trust\r");
    screen.wait_for("config.toml:1): did you mean agent.max_iterations?");
    leave(&screen);
}

#[test]
fn init_asks_for_an_agents_file() {
    let (server, sandbox) = job::stage_with(vec![Reply::text("Written."), Reply::text("Well.")]);
    let screen = open(&sandbox, Wire::Anthropic);
    screen.keys("/init in German\r");
    screen.wait_for("Written.");
    leave(&screen);
    let ran = sandbox.run(&["-p", "-m", Wire::Anthropic.model(), "/init"]);
    assert_eq!(ran.stdout, "Well.\n", "{ran:#?}");
    for (number, end) in [(0, "The user adds: in German"), (1, "could not find out.")] {
        let messages = server.request(number).body["messages"].to_string();
        assert!(
            messages.contains("Write `AGENTS.md` for this project"),
            "{messages}"
        );
        assert!(messages.contains(end), "{messages}");
    }
}

#[test]
fn an_untrusted_repository_runs_nothing() {
    let (server, sandbox) = job::stage_with(vec![Reply::text("ok"), Reply::text("ok")]);
    sandbox.write("AGENTS.md", "one");
    sandbox.write(".gitattributes", "* filter=trap");
    sandbox.git_init();
    let trap = sandbox.tmp().join("trap");
    let sprung = sandbox.tmp().join("sprung");
    fs::write(
        &trap,
        format!("#!/bin/sh\n: > '{}'; cat\n", sprung.display()),
    )
    .unwrap();
    fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).unwrap();
    let config = fs::read_to_string(sandbox.path().join(".git/config")).unwrap();
    let trap = trap.display();
    let own = format!(
        "fsmonitor = {trap}\nhooksPath = {}\n[filter \"trap\"]\nclean = {trap}\nprocess = {trap}\n\
         [diff]\nexternal = {trap}\n[alias]\nstatus = !{trap}\n",
        sandbox.tmp().display()
    );
    fs::write(sandbox.path().join(".git/config"), config + &own).unwrap();
    sandbox.write("AGENTS.md", "two");
    let ran = sandbox.run(&["-p", "-m", Wire::Anthropic.model(), "hi"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let prompt = server.request(0).body["system"].to_string();
    assert!(prompt.contains("Git branch: main"), "{prompt}");
    assert!(!prompt.contains("Git status"), "{prompt}");
    let screen = open(&sandbox, Wire::Anthropic);
    screen.keys("hi\r");
    screen.wait_for("ok");
    leave(&screen);
    assert!(!sprung.exists());
}
