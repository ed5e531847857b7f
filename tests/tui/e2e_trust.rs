//! `/trust` on the screen: asked by a notice that takes no keys, kept for later runs.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::e2e_job::{leave, open};
use crate::support::job;
use crate::support::model_server::{Reply, Wire};

#[test]
fn a_project_is_trusted_from_the_next_message_on() {
    let (server, sandbox) = job::stage_with(vec![
        Reply::text("First."),
        Reply::text("Second."),
        Reply::text("Third."),
    ]);
    sandbox.write("AGENTS.md", "Use tabs.");
    let screen = open(&sandbox, Wire::Anthropic);
    screen.wait_for("not trusted: AGENTS.md");
    screen.keys("hi\r");
    screen.wait_for("First.");
    screen.keys("/trust\r");
    screen.wait_for("is trusted from your next message");
    screen.keys("again\r");
    screen.wait_for("Second.");
    leave(&screen);
    assert!(!server.request(0).text().contains("Use tabs."));
    assert!(server.request(1).text().contains("Use tabs."));

    let screen = open(&sandbox, Wire::Anthropic);
    screen.keys("hi\r");
    screen.wait_for("Third.");
    screen.keys("/trust no\r");
    screen.wait_for("is not trusted; /trust changes that");
    assert!(!screen.text().contains("Left out"), "{}", screen.text());
    leave(&screen);
    let prompt = server.request(2).body["system"].to_string();
    assert!(prompt.contains("Use tabs."), "{prompt}");
    let kept = fs::read_to_string(sandbox.config().join("projects.toml")).unwrap();
    let root = sandbox.path().display().to_string();
    assert_eq!(kept, format!("[trust]\n\"{root}\" = \"denied\"\n"));
}

#[test]
fn a_repository_that_nobody_trusts_runs_nothing() {
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
    let mut config = fs::read_to_string(sandbox.path().join(".git/config")).unwrap();
    let trap = trap.display();
    config += &format!(
        "fsmonitor = {trap}\nhooksPath = {}\n[filter \"trap\"]\nclean = {trap}\nprocess = {trap}\n\
         [diff]\nexternal = {trap}\n[alias]\nstatus = !{trap}\n",
        sandbox.tmp().display()
    );
    fs::write(sandbox.path().join(".git/config"), config).unwrap();
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
