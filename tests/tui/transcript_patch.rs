//! Changes on the screen while the model writes them, and patches over several files.

use serde_json::json;
use tiller::agent::tool::{DiffDetails, FileChange};
use tiller::agent::{Details, ToolStatus};
use tiller::llm::StreamEvent;

use super::transcript_support::*;

/// Streams the argument text of a call, character by character, and gives the last picture.
fn draft(stage: &mut Stage, name: &str, custom: bool, text: &str) -> String {
    stage.begin();
    stage.stream(StreamEvent::ToolCallStart {
        index: 0,
        id: "1".to_owned(),
        name: name.to_owned(),
        custom,
    });
    for c in text.chars() {
        stage.stream(StreamEvent::ToolCallDelta {
            index: 0,
            delta: c.to_string(),
        });
    }
    stage.text()
}

const PATCH: &str = "*** Begin Patch\n*** Update File: src/a.rs\n@@ fn a\n one\n-two\n+2\n*** Add \
                     File: b.txt\n+new\n+12 of it\n";

#[test]
fn a_patch_is_seen_while_it_arrives() {
    let json = json!({ "patch": PATCH }).to_string();
    for (custom, text) in [(true, PATCH), (false, &json)] {
        let mut stage = Stage::new(60, 12);
        let early = draft(&mut stage, "apply_patch", custom, &text[..text.len() / 2]);
        assert!(early.contains("● apply_patch  src/a.rs"), "{early}");
        assert!(!early.contains("b.txt"), "{early}");
        let mut stage = Stage::new(60, 12);
        let late = draft(&mut stage, "apply_patch", custom, text);
        assert!(late.contains("● apply_patch  src/a.rs, b.txt"), "{late}");
        assert!(late.contains("+3 -1"), "{late}");
        assert!(
            late.contains("     src/a.rs  +1 -1\n       one\n   -   two\n"),
            "{late}"
        );
        assert!(
            late.contains("     b.txt  new  +2\n   + 1  new\n   + 2  12 of it\n"),
            "{late}"
        );
        // Nothing flickers between the draft and the result.
        let preview = DiffDetails {
            path: "src/a.rs".to_owned(),
            ..DiffDetails::default()
        };
        stage.tool_start("1", "apply_patch", Details::Diff(preview.clone()));
        assert!(stage.text().contains("+ 2  12 of it"));
        let failed = "The patch was not applied; no file was changed.\nsrc/a.rs, hunk 1: no";
        stage.tool_end(
            "1",
            "apply_patch",
            ToolStatus::Error,
            failed,
            Details::Diff(preview),
            Some(1),
        );
        let text = stage.text();
        assert!(!text.contains("12 of it"), "{text}");
        assert!(text.contains("✗ apply_patch  src/a.rs"), "{text}");
        assert!(text.contains("src/a.rs, hunk 1: no"), "{text}");
    }
}

#[test]
fn edits_and_writes_are_seen_while_they_arrive() {
    let mut stage = Stage::new(60, 12);
    let edit = r#"{"file_path":"a.rs","old_text":"x\ny","new_text":"z"#;
    let text = draft(&mut stage, "edit", false, edit);
    assert!(text.contains("● edit  a.rs"), "{text}");
    assert!(text.contains("-   x\n   -   y\n"), "{text}");
    let mut stage = Stage::new(60, 14);
    let lines: Vec<String> = (1..30).map(|n| format!("line {n}\\n")).collect();
    let lines = lines.concat();
    let write = format!(r#"{{"file_path":"a.txt","content":"{lines}"#);
    let text = draft(&mut stage, "write", false, &write);
    assert!(text.contains("+29"), "{text}");
    assert!(
        text.contains("29  line 29") && text.contains("18  line 18"),
        "{text}"
    );
    assert!(!text.contains("17  line 17"), "only the last ones: {text}");
}

#[test]
fn each_file_of_a_patch_has_its_heading_and_diff() {
    let file = |path: &str, diff: &str, added, removed| DiffDetails {
        path: path.to_owned(),
        diff: diff.to_owned(),
        added,
        removed,
        ..DiffDetails::default()
    };
    let details = DiffDetails {
        files: vec![
            DiffDetails {
                change: FileChange::Deleted,
                ..file("old.txt", "-1 gone", 0, 1)
            },
            DiffDetails {
                moved_from: Some("from.rs".to_owned()),
                ..file("to.rs", "", 0, 0)
            },
        ],
        ..file("a.rs", " 1 x\n-2 y\n+2 z", 1, 1)
    };
    let mut stage = Stage::new(60, 14);
    let report = "Patch applied:";
    stage.tool_end(
        "1",
        "apply_patch",
        ToolStatus::Ok,
        report,
        Details::Diff(details),
        Some(4),
    );
    let text = stage.text();
    let rows = [
        "✓ apply_patch  a.rs, old.txt, to.rs",
        "     a.rs  +1 -1",
        "     1  x",
        "   - 2  y",
        "   + 2  z",
        "     old.txt  deleted  -1",
        "   - 1  gone",
        "     to.rs  moved from from.rs",
    ];
    for row in rows {
        assert!(text.contains(row), "{row}: {text}");
    }
    assert!(text.contains("+1 -2"), "{text}");
}
