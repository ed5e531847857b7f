//! File changes shown while the model writes them, and patches over several files.

use proptest::prelude::*;
use serde_json::json;
use tiller::agent::tool::{DiffDetails, FileChange};
use tiller::agent::{Details, ToolStatus};
use tiller::llm::{BlockKind, Content, StreamEvent, ToolCall};

use super::transcript_support::*;

fn start(stage: &mut Stage, name: &str, custom: bool) {
    stage.begin();
    stage.stream(StreamEvent::BlockStart {
        index: 0,
        block: Content::ToolCall(ToolCall {
            id: "1".to_owned(),
            name: name.to_owned(),
            custom,
            ..ToolCall::default()
        }),
    });
}

fn delta(stage: &mut Stage, delta: &str) {
    stage.stream(StreamEvent::BlockDelta {
        kind: BlockKind::ToolCall,
        index: 0,
        delta: delta.to_owned(),
    });
}

/// Streams a call's argument text character by character and returns the last picture.
fn draft(stage: &mut Stage, name: &str, custom: bool, text: &str) -> String {
    start(stage, name, custom);
    for c in text.chars() {
        delta(stage, c.encode_utf8(&mut [0; 4]));
    }
    stage.text()
}

/// The draft's text without gutter and colors.
fn source(stage: &Stage) -> String {
    stage.transcript.source(0).unwrap().into_owned()
}

const PATCH: &str = "*** Begin Patch\n*** Update File: src/a.rs\n@@ fn a\n one\n-two\n+2\n*** Add \
                     File: b.txt\n+new\n+12 of it\n";

#[test]
fn a_patch_is_shown_while_it_streams() {
    let json = json!({ "patch": PATCH }).to_string();
    for (custom, text) in [(true, PATCH), (false, &json)] {
        let mut stage = Stage::new(60, 12);
        let early = draft(&mut stage, "apply_patch", custom, &text[..text.len() / 2]);
        assert!(early.contains("● apply_patch  src/a.rs"), "{early}");
        assert!(!early.contains("b.txt"), "{early}");
        let mut stage = Stage::new(60, 12);
        let late = draft(&mut stage, "apply_patch", custom, text);
        assert!(late.contains("● apply_patch  src/a.rs, b.txt"), "{late}");
        assert!(late.contains("+3 −1"), "{late}");
        assert!(
            late.contains("   │ src/a.rs  +1 −1\n   │   one\n   │ − two\n"),
            "{late}"
        );
        assert!(
            late.contains("   │ b.txt  new  +2\n   │ 1 + new\n   │ 2 + 12 of it\n"),
            "{late}"
        );
        // Nothing flickers between the draft and the result.
        let preview = DiffDetails {
            path: "src/a.rs".to_owned(),
            ..DiffDetails::default()
        };
        stage.tool_start("1", "apply_patch", Details::Diff(preview.clone()));
        assert!(stage.text().contains("2 + 12 of it"));
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
fn deletions_and_moves_are_shown_while_they_stream() {
    let patch = "*** Begin Patch\n*** Update File: a.rs\n@@ fn x\n y\n-z\n+1 z\n*** Delete File: b\n\
                 *** Update File: d\n*** Move to: e\n@@\n-x\n*** End Patch\n";
    let mut stage = Stage::new(60, 14);
    let text = draft(&mut stage, "apply_patch", true, patch);
    assert!(text.contains("● apply_patch  a.rs, b, e"), "{text}");
    assert!(text.contains("   │ b  deleted\n"), "{text}");
    assert!(
        text.contains("   │ e  moved from d  −1\n   │ − x\n"),
        "{text}"
    );
    assert_eq!(source(&stage), " ~ y\n-~ z\n+~ 1 z\n\n-~ x");
}

#[test]
fn the_edits_of_a_call_are_shown_in_order() {
    let arguments = json!({
        "file_path": "src/a.rs",
        "edits": [
            { "old_text": "a\nb", "new_text": "c" },
            { "old_text": "d", "new_text": "" },
        ],
    });
    let mut stage = Stage::new(60, 12);
    draft(&mut stage, "edit", false, &arguments.to_string());
    assert_eq!(source(&stage), "-~ a\n-~ b\n+~ c\n  ...\n-~ d");
}

#[test]
fn a_draft_stays_small_however_long_the_patch() {
    let mut stage = Stage::new(60, 24);
    start(&mut stage, "apply_patch", true);
    delta(&mut stage, "*** Add File: big\n");
    for number in 0..20_000 {
        delta(&mut stage, &format!("+line {number}\n"));
        if number % 100 == 0 {
            assert!(source(&stage).len() < 400 * 30);
        }
    }
    delta(&mut stage, &format!("+{}\n", "x".repeat(2_000_000)));
    assert!(source(&stage).len() < 400 * 30);
    assert!(stage.text().contains("+20001"));
    delta(&mut stage, "*** Delete File: gone\n");
    let lines = source(&stage).lines().count();
    assert_eq!(lines, 12, "the draft of a finished file stays");
}

proptest! {
    /// The argument's text is extracted from its JSON, wherever the pieces end.
    #[test]
    fn any_split_gives_the_same_draft(
        lines in prop::collection::vec("\\PC{0,6}|[\"\\\\\t]{0,3}", 1..5), cut in 1..5usize,
    ) {
        let content = lines.iter().map(|line| format!("{line}\n"));
        let content = content.collect::<String>();
        let json = json!({ "n": [1, { "b": "in", "c": null }], "content": content }).to_string();
        let chars: Vec<char> = json.chars().collect();
        let mut stage = Stage::new(60, 12);
        start(&mut stage, "write", false);
        for piece in chars.chunks(cut) {
            delta(&mut stage, &piece.iter().collect::<String>());
        }
        let wanted = lines.iter().enumerate().map(|(at, line)| format!("+{} {line}", at + 1));
        prop_assert_eq!(source(&stage), wanted.collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn broken_arguments_are_drawn(text in "[\\[\\]{}:,\"\\\\u0a-f]{0,40}") {
        draft(&mut Stage::new(60, 12), "write", false, &text);
    }
}

#[test]
fn edits_and_writes_are_shown_while_they_stream() {
    let mut stage = Stage::new(60, 12);
    let edit = r#"{"file_path":"a.rs","old_text":"x\ny","new_text":"z"#;
    let text = draft(&mut stage, "edit", false, edit);
    assert!(text.contains("● edit  a.rs"), "{text}");
    assert!(text.contains("│ − x\n   │ − y\n"), "{text}");
    let mut stage = Stage::new(60, 14);
    let lines: Vec<String> = (1..30).map(|n| format!("line {n}\\n")).collect();
    let lines = lines.concat();
    let write = format!(r#"{{"file_path":"a.txt","content":"{lines}"#);
    let text = draft(&mut stage, "write", false, &write);
    assert!(text.contains("+29"), "{text}");
    assert!(
        text.contains("29   line 29") && text.contains("18   line 18"),
        "{text}"
    );
    assert!(!text.contains("17   line 17"), "only the last ones: {text}");
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
        "   │ a.rs  +1 −1",
        "   │ 1   x",
        "   │ 2 − y",
        "   │ 2 + z",
        "   │ old.txt  deleted  −1",
        "   │ 1 − gone",
        "   │ to.rs  moved from from.rs",
    ];
    for row in rows {
        assert!(text.contains(row), "{row}: {text}");
    }
    assert!(text.contains("+1 −2"), "{text}");
}

/// The rows of a diff, and the numbers of the rows with highlighted words.
fn drawn(diff: &str) -> (String, Vec<usize>) {
    let mut stage = Stage::new(60, 14);
    let details = Details::Diff(DiffDetails {
        path: "a".to_owned(),
        diff: diff.to_owned(),
        ..DiffDetails::default()
    });
    stage.tool_end("1", "edit", ToolStatus::Ok, "", details, None);
    let (_, buffer) = stage.draw();
    let is_marked = |y: &usize| {
        let grounds = (5..59).map(|x| buffer[(x, *y as u16 + 1)].bg);
        grounds.collect::<std::collections::HashSet<_>>().len() > 1
    };
    (picture(&buffer), (0..13).filter(is_marked).collect())
}

/// A line inserted above a changed one isn't matched with it.
#[test]
fn changed_words_are_highlighted_in_matching_lines() {
    for (diff, marked) in [
        (
            "-10 pub fn new(a: u8) {\n+10 /// Makes one.\n+11 pub fn new(a: u16) {",
            &[0, 2][..],
        ),
        (
            "-1 let first = 1;\n-2 let second = 2;\n+1 let second = 3;",
            &[1, 2],
        ),
        ("-1 a = 1;\n-2 b = 2;\n+1 a = 3;\n+2 b = 4;", &[0, 1, 2, 3]),
        ("-1 completely different text here\n+1 fn main() {}", &[]),
    ] {
        let (picture, rows) = drawn(diff);
        assert_eq!(rows, marked, "{picture}");
    }
}

#[test]
fn a_displayed_diff_is_parsed_and_odd_lines_are_shown_unchanged() {
    for (diff, rows) in [
        (
            "  9 same\n-10 a\n    ...\n+ 11     x",
            "   │  9   same\n   │ 10 − a\n   │  ⋯\n   │ 11 +     x\n",
        ),
        ("+1x", "   │ + 1x\n"),
        ("+99999999999999999999999 x", "99999999999999999999999 x\n"),
        ("+日本", "日本\n"),
        ("x", "\n"),
        ("-", "   │ −\n"),
    ] {
        let (picture, _) = drawn(diff);
        let lines = picture.lines().map(|line| format!("{}\n", line.trim_end()));
        let rows = rows.lines().map(|line| format!("{}\n", line.trim_end()));
        let (picture, rows) = (lines.collect::<String>(), rows.collect::<String>());
        assert!(picture.contains(&rows), "{diff:?}: {picture}");
    }
}
