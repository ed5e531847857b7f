//! Titles and previews of tool calls, and the messages of failures.

use std::sync::Arc;

use tiller::agent::tool::{CommandDetails, DiffDetails, MatchesDetails, TextDetails};
use tiller::agent::{AgentEvent, Details, RunOutcome, ToolStatus};
use tiller::app::tui::transcript::{CellClass, Fold};
use tiller::llm::{BlockKind, Content, Message, StopReason, StreamEvent, ToolCall};

use super::transcript_support::*;

fn command(text: &str) -> Details {
    Details::Command(CommandDetails {
        command: text.to_owned(),
        exit_code: Some(0),
        ..CommandDetails::default()
    })
}

#[test]
fn a_failure_says_each_fact_once_also_when_it_is_opened() {
    let ended = |exit_code, signal, timed_out| {
        Details::Command(CommandDetails {
            command: "sleep 9".to_owned(),
            exit_code,
            signal,
            timed_out,
            ..CommandDetails::default()
        })
    };
    let text = Details::Text(TextDetails {
        path: "src/a b.rs".to_owned(),
        ..TextDetails::default()
    });
    let found = Details::Matches(MatchesDetails {
        pattern: "x".to_owned(),
        path: "src/a b.rs".to_owned(),
        ..MatchesDetails::default()
    });
    let diff = Details::Diff(DiffDetails::of("src/a b.rs".to_owned()));
    let missing = "File not found: src/a b.rs";
    let mixed = "Not a text file: it holds binary data";
    for (name, details, failure, once) in [
        ("bash", ended(Some(4), None, false), "[exit code 4]", "exit"),
        (
            "bash",
            ended(None, Some(9), false),
            "[killed by signal 9]",
            "signal",
        ),
        (
            "bash",
            ended(Some(-1), None, true),
            "[timed out after 1 s]",
            "timed out",
        ),
        ("read", text.clone(), missing, "src/a b.rs"),
        ("grep", found, missing, "src/a b.rs"),
        ("edit", diff, missing, "src/a b.rs"),
        ("read", text, mixed, "binary"),
    ] {
        let mut stage = Stage::new(60, 12);
        stage.tool_end("1", name, ToolStatus::Error, failure, details, None);
        for fold in [Fold::Folded, Fold::Open] {
            stage.transcript.set_all(CellClass::Tool, fold);
            let shown = stage.text();
            assert_eq!(shown.matches(once).count(), 1, "{name} {fold:?}:\n{shown}");
            let said = failure.split_once(": ").map_or(once, |(why, _)| why);
            assert_eq!(shown.matches(said).count(), 1, "{name} {fold:?}:\n{shown}");
        }
    }
    // The title has no room for all of it.
    let long = "No such thing: ".to_owned() + &"why ".repeat(30);
    let mut stage = Stage::new(60, 12);
    let text = Details::Text(TextDetails::default());
    stage.tool_end("1", "read", ToolStatus::Error, &long, text, None);
    stage.transcript.set_all(CellClass::Tool, Fold::Open);
    assert!(stage.text().matches("why").count() > 30, "all of it below");
}

#[test]
fn long_subjects_are_truncated_where_it_matters_least() {
    let path = format!("src/{}module.rs", "deep/".repeat(20));
    let file = Details::Text(TextDetails {
        path,
        ..TextDetails::default()
    });
    let mut stage = Stage::new(60, 12);
    stage.tool_end("1", "read", ToolStatus::Ok, "", file, Some(3));
    let many = command("set -e\nmake\nmake test");
    stage.tool_end("2", "bash", ToolStatus::Ok, "", many, Some(0));
    let text = stage.text();
    assert!(text.contains("read  src/deep/deep"), "{text}");
    assert!(text.contains("/deep/module.rs"), "{text}");
    assert!(text.contains("bash  set -e …"), "{text}");
    assert!(!text.contains("ms"), "{text}");
    stage.transcript.set_all(CellClass::Tool, Fold::Open);
    let text = stage.text();
    assert!(
        text.contains("│ $ set -e\n   │   make\n   │   make test"),
        "{text}"
    );
}

#[test]
fn a_preview_names_the_key_that_opens_it() {
    let mut stage = Stage::new(60, 12);
    stage.transcript.set_fold_key("click or Ctrl+O".to_owned());
    let output = command_details(14, true);
    stage.tool_end("1", "bash", ToolStatus::Ok, "", output, Some(3));
    let text = stage.text();
    assert!(text.contains("… 9 earlier · click or Ctrl+O"), "{text}");
    stage.transcript.set_all(CellClass::Tool, Fold::Open);
    assert!(!stage.text().contains("Ctrl+O"));
}

#[test]
fn a_call_that_has_not_started_says_so() {
    let call = |id: &str| {
        Content::ToolCall(ToolCall {
            id: id.to_owned(),
            name: "bash".to_owned(),
            arguments: serde_json::json!({"timeout": 5, "command": "make\nmake install"}),
            ..ToolCall::default()
        })
    };
    let mut stage = Stage::new(60, 12);
    stage.begin();
    for (index, id) in ["a", "b"].into_iter().enumerate() {
        stage.stream(StreamEvent::BlockStart {
            index,
            block: Content::ToolCall(ToolCall {
                id: id.to_owned(),
                name: "bash".to_owned(),
                ..ToolCall::default()
            }),
        });
    }
    stage.end(vec![call("a"), call("b")], StopReason::ToolUse);
    stage.tool_start("a", "bash", command("sleep 9"));
    stage.wait(2000);
    let text = stage.text();
    assert!(text.contains("● bash  sleep 9"), "{text}");
    assert!(text.contains("○ bash  make  "), "{text}");
    assert!(text.contains("  waiting\n"), "{text}");
    stage.tool_start("b", "bash", command("make"));
    assert!(stage.text().contains("● bash  make"));
}

/// A silent call's time advances, although other calls' events move the clock.
#[test]
fn running_times_advance_during_other_events() {
    let mut stage = Stage::new(60, 12);
    stage.tool_start("a", "bash", command("sleep 9"));
    stage.tool_start("b", "bash", command("make"));
    stage.wait(900);
    stage.text();
    stage.time += 150;
    stage.apply(AgentEvent::ToolUpdate {
        call_id: "b".to_owned(),
        details: Arc::new(command("make")),
    });
    stage.text();
    stage.wait(10);
    let text = stage.text();
    let first = text.lines().next().unwrap_or_default();
    assert!(first.trim_end().ends_with("1 s"), "{text}");
}

/// A failure after another prompt is shown again. The same failure reported twice is shown once.
#[test]
fn a_failure_is_shown_once_per_prompt() {
    let mut stage = Stage::new(60, 20);
    for prompt in ["first", "second"] {
        stage.user(prompt);
        let message = tiller::llm::AssistantMessage {
            stop_reason: StopReason::Error,
            error_message: Some("the provider refused the key\nexport KEY=...".to_owned()),
            ..tiller::llm::AssistantMessage::default()
        };
        stage.apply(AgentEvent::MessageEnd {
            message: Arc::new(Message::Assistant(message)),
        });
        stage.apply(AgentEvent::AgentEnd {
            totals: tiller::agent::RunTotals::default(),
            messages: Vec::new().into(),
            outcome: RunOutcome::Failed {
                message: "the provider refused the key".to_owned(),
            },
        });
    }
    assert_eq!(
        stage
            .text()
            .matches("✗ the provider refused the key")
            .count(),
        2
    );
}

/// Read-only calls share a cell of a few rows. A click gives each its row, and another opens one in
/// place.
#[test]
fn read_only_calls_are_grouped_until_opened() {
    let read = |path: &str| {
        Details::Text(TextDetails {
            path: path.to_owned(),
            text: "one\ntwo".to_owned(),
            first_line: 1,
            line_count: 2,
            ..TextDetails::default()
        })
    };
    let found = |pattern: &str| {
        Details::Matches(MatchesDetails {
            pattern: pattern.to_owned(),
            lines: vec![format!("a.rs:1: {pattern}")],
            count: 1,
            ..MatchesDetails::default()
        })
    };
    let mut stage = Stage::new(70, 40);
    for at in 0..12 {
        let id = at.to_string();
        match at % 3 {
            2 => stage.tool_end(&id, "grep", ToolStatus::Ok, "", found(&id), Some(3)),
            _ => {
                let path = format!("src/file{at}.rs");
                stage.tool_end(&id, "read", ToolStatus::Ok, "", read(&path), Some(3));
            }
        }
    }
    let folded = stage.text();
    let rows: Vec<&str> = folded.lines().filter(|line| !line.is_empty()).collect();
    assert!(rows.len() <= 6, "{folded}");
    assert_eq!(rows[0], " ✓ explored  8 files · 4 searches");
    assert!(
        folded.contains("│ read  src/file0.rs · src/file1.rs · "),
        "{folded}"
    );
    assert!(folded.contains(" more\n"), "{folded}");

    assert!(stage.transcript.toggle_at(0));
    let listed = stage.text();
    assert_eq!(listed.matches("│ read  ").count(), 8, "{listed}");
    assert!(!listed.contains("one"), "{listed}");
    assert!(stage.transcript.toggle_at(1));
    let open = stage.text();
    assert!(open.contains("│ 1  one\n"), "{open}");
    assert!(stage.transcript.toggle_at(0));
    assert_eq!(stage.text(), folded);

    stage.transcript.set_previews(true);
    stage.cache.clear();
    let previews = stage.text();
    assert!(
        !previews.contains("explored") && previews.contains("two"),
        "{previews}"
    );
}

#[test]
fn a_call_shows_its_subject_as_soon_as_it_streams() {
    let mut stage = Stage::new(80, 24);
    stage.user("go");
    stage.begin();
    for (index, name) in ["bash", "grep"].into_iter().enumerate() {
        stage.stream(StreamEvent::BlockStart {
            index,
            block: Content::ToolCall(ToolCall {
                id: format!("c{index}"),
                name: name.to_owned(),
                ..ToolCall::default()
            }),
        });
    }
    let mut write = |index, text: &str| {
        stage.stream(StreamEvent::BlockDelta {
            kind: BlockKind::ToolCall,
            index,
            delta: text.to_owned(),
        });
        stage.text()
    };
    assert!(!write(0, "{\"timeout\": 9, \"command\": \"cargo te").contains("cargo"));
    let text = write(0, "st\\nls\", \"description\": \"Run");
    assert!(text.contains("○ bash  cargo test\n"), "{text}");
    // The pattern is more informative than the folder.
    let text = write(1, "{\"path\": \"src\", ");
    assert!(text.contains("○ grep  src\n"), "{text}");
    let text = write(1, "\"pattern\": \"fn main\"");
    assert!(text.contains("○ grep  fn main\n"), "{text}");
}

/// A failed group isn't marked as done, even if other calls in it succeeded.
#[test]
fn a_group_with_failures_has_no_success_mark() {
    let head = |fails: &[bool]| {
        let mut stage = Stage::new(70, 20);
        for (at, fails) in fails.iter().enumerate() {
            let status = if *fails {
                ToolStatus::Error
            } else {
                ToolStatus::Ok
            };
            stage.tool_end(&at.to_string(), "read", status, "", read_details(), Some(3));
        }
        let text = stage.text();
        text.trim_start()
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    assert!(head(&[false, false]).starts_with("✓ explored"));
    let some = head(&[false, true]);
    assert!(
        some.starts_with("! explored") && some.contains("1 failed"),
        "{some}"
    );
    assert!(head(&[true, true]).starts_with("✗ explored"));
}
