//! Compaction on the screen: the divider, the conversation above it after a restart too, canceling,
//! and undoing.

use serde_json::json;

use super::e2e_job::{leave, open};
use crate::support::job;
use crate::support::model_server::{Reply, Wire};
use crate::support::screen::Launch;

#[test]
fn a_compaction_is_shown_stored_and_undone() {
    // A short conversation isn't compacted.
    let one = format!("{}One.", "More. ".repeat(200));
    let replies = [
        Reply::text(&one),
        Reply::text("A file.").and_call("bash", json!({"command": "touch made"})),
        Reply::text("Two."),
        Reply::text("Never").stall(),
        Reply::text("## Task\nSummed up."),
        Reply::text("Three."),
        Reply::text("Four."),
    ];
    let (server, sandbox) = job::stage_with(replies.to_vec());
    let screen = open(&sandbox, Wire::Anthropic);
    // Wide enough for the totals in the status line.
    screen.resize(160, 40);
    for (prompt, answer) in [("first<enter>", "One."), ("second<enter>", "Two.")] {
        screen.keys(prompt);
        screen.wait_for(answer);
        screen.wait_gone("Esc stops");
    }
    screen.keys("/compact<enter>");
    screen.wait_for("summarising");
    server.request(3);
    screen.keys("<esc>");
    screen.wait_for("Not compacted: cancelled");
    screen.wait_gone("Esc stops");

    screen.keys("/compact the parser<enter>");
    screen.wait_for("▸ summary");
    screen.wait_gone("Esc stops");
    let asked = server.request(4).text();
    for said in ["first", "Two.", "attention to: the parser"] {
        assert!(asked.contains(said), "{said}: {asked}");
    }
    // The totals in the status line include the canceled summary.
    let text = screen.text();
    let totals = text
        .lines()
        .find_map(|line| line.find('↑').map(|at| line[at..].trim()));
    let totals = totals.expect("totals in the status line").to_owned();
    leave(&screen);

    // The whole past is still on the screen, and the model gets the summary.
    let screen = Launch::new(&sandbox).args(&["-c"]).size(160, 40).start();
    screen.wait_for("▸ summary");
    screen.wait_for(&totals);
    for said in ["❯ first", "One.", "❯ second", "Two."] {
        screen.wait_for(said);
    }
    screen.keys("third<enter>");
    screen.wait_for("Three.");
    screen.wait_gone("Esc stops");
    let asked = server.request(5).text();
    assert!(
        asked.contains("Summed up.") && !asked.contains("One."),
        "{asked}"
    );
    assert!(
        asked.contains("Files modified, the latest last:\\n- made"),
        "{asked}"
    );
    screen.keys("<a-o>");
    screen.wait_for("▾ summary");
    screen.wait_for("Summed up.");

    screen.keys("/uncompact<enter>");
    screen.wait_for("Compaction undone");
    screen.wait_gone("▾ summary");
    // The prompt sent since then is in the editor.
    screen.keys("<enter>");
    screen.wait_for("Four.");
    let asked = server.request(6).text();
    for said in ["first", "One.", "second", "Two.", "third"] {
        assert!(asked.contains(said), "{said}: {asked}");
    }
    assert!(!asked.contains("Summed up."), "{asked}");
    screen.wait_gone("Esc stops");
    screen.keys("/context<enter>");
    screen.wait_for("System prompt");
    screen.wait_for("user messages");
    screen.keys("<esc>");
    leave(&screen);
}
