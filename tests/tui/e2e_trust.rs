//! `/trust` on the screen: asked by a notice that takes no keys, kept for later runs.

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
    let kept = std::fs::read_to_string(sandbox.config().join("projects.toml")).unwrap();
    let root = sandbox.path().display().to_string();
    assert_eq!(kept, format!("[trust]\n\"{root}\" = \"denied\"\n"));
}
