//! `/export` in the full screen writes the open session, including the latest messages and without
//! any API key.

use super::e2e_job::{leave, open};
use crate::support::job;
use crate::support::model_server::{Reply, Wire};

#[test]
fn the_open_session_is_exported_for_sharing() {
    let (_server, sandbox) = job::stage_with(vec![Reply::text("**One** and two.")]);
    let screen = open(&sandbox, Wire::Anthropic);
    screen.keys("/export<enter>");
    screen.wait_for("Nothing to export yet");
    screen.keys("Say one with test-key-anthropic<enter>");
    screen.wait_for("and two.");
    screen.wait_gone("Esc stops");
    for (typed, told, file) in [
        ("/export", "Exported to /", Some("say-one-with.html")),
        (
            "/export my notes.md",
            "Exported to my notes.md",
            Some("my notes.md"),
        ),
        ("/export my notes.md", "my notes.md already exists", None),
        ("/export --force my notes.md", "the current branch,", None),
        (
            "/export --branch copy.jsonl",
            "copy.jsonl (the current",
            Some("copy.jsonl"),
        ),
        ("/export notes.pdf", ".html, .md or .jsonl", None),
        (
            "/export no/folder.md",
            "no/folder.md: its folder doesn't exist",
            None,
        ),
        ("/export --all x.md", "has no --all", None),
    ] {
        screen.keys(&format!("{typed}<enter>"));
        screen.wait_for(told);
        if let Some(file) = file {
            let text = sandbox.read(file);
            assert!(text.contains("and two."), "{file}: {text}");
            assert!(!text.contains("test-key"), "{file}: {text}");
        }
    }
    // The refused command stays in the prompt.
    screen.keys("<c-u>");
    screen.wait_for("Ask for anything");
    leave(&screen);
    let again = sandbox.run(&["sessions", "import", "copy.jsonl"]);
    assert_eq!(again.code, Some(0), "{again:#?}");
}
