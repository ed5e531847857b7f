//! The transcript on the screen: its look, scrolling, folding and cost.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;
use tiller::agent::tool::{CommandDetails, TextDetails};
use tiller::agent::{
    AgentEvent, CompactionOutcome, CompactionReason, Details, NoticeLevel, RunOutcome, ToolStatus,
};
use tiller::app::tui::theme::{ColorDepth, Theme};
use tiller::app::tui::transcript::{CellClass, Fold, Position, ScrollBy, Transcript};
use tiller::app::tui::view::transcript::TranscriptCache;
use tiller::llm::{BlockKind, Content, StopReason, StreamEvent, Thinking, ToolCall, Usage};

use super::transcript_support::*;

fn played(width: u16, height: u16) -> Stage {
    let mut stage = Stage::new(width, height);
    play(&mut stage);
    stage
}

#[test]
fn a_run_at_200_by_60() {
    insta::assert_snapshot!(played(200, 60).text());
}

#[test]
fn a_run_at_86_by_60() {
    insta::assert_snapshot!(played(86, 60).text());
}

#[test]
fn a_run_at_80_by_24() {
    insta::assert_snapshot!(played(80, 24).text());
}

#[test]
fn a_run_at_40_by_10() {
    let mut stage = played(40, 40);
    let tall = stage.text();
    stage.height = 10;
    let picture = stage.text();
    assert!(tall.ends_with(&picture), "a smaller window shows the end");
    insta::assert_snapshot!(tall);
}

#[test]
fn tiny_windows_draw_without_a_panic() {
    let mut stage = played(80, 24);
    for (width, height) in [
        (1, 1),
        (0, 0),
        (1, 50),
        (2, 3),
        (3, 1),
        (200, 1),
        (0, 5),
        (5, 0),
        (80, 24),
    ] {
        (stage.width, stage.height) = (width, height);
        stage.draw();
    }
    assert!(stage.transcript.is_following());
}

#[test]
fn opened_cells() {
    let mut stage = played(86, 110);
    stage.transcript.set_all(CellClass::Tool, Fold::Open);
    stage.transcript.set_all(CellClass::Thinking, Fold::Open);
    insta::assert_snapshot!(stage.text());
}

#[test]
fn notices_and_running_calls() {
    let mut stage = Stage::new(70, 30);
    stage
        .user("two lines\nof prompt that is long enough to be wrapped at seventy columns of width");
    stage
        .transcript
        .push_notice(NoticeLevel::Info, "Good to know");
    stage.apply(AgentEvent::Notice {
        level: NoticeLevel::Warning,
        text: "The model repeats itself".to_owned(),
    });
    stage.begin();
    stage.stream(StreamEvent::BlockStart {
        index: 0,
        block: Content::Thinking(Thinking::default()),
    });
    stage.stream(StreamEvent::BlockStart {
        index: 1,
        block: Content::ToolCall(ToolCall {
            id: "a".to_owned(),
            name: "write".to_owned(),
            ..ToolCall::default()
        }),
    });
    stage.stream(StreamEvent::BlockDelta {
        kind: BlockKind::ToolCall,
        index: 1,
        delta: "x".repeat(5_000),
    });
    stage.tool_start("b", "bash", command_details(14, false));
    stage.wait(6_240);
    stage.apply(AgentEvent::AgentEnd {
        totals: tiller::agent::RunTotals::default(),
        messages: Vec::new().into(),
        outcome: RunOutcome::Failed {
            message: "401 Unauthorized\nexport ANTHROPIC_API_KEY=...".to_owned(),
        },
    });
    stage.tool_start("c", "bash", command_details(3, false));
    stage.wait(72_000);
    insta::assert_snapshot!(stage.text());
}

#[test]
fn a_compaction_is_a_divider_that_opens_to_its_summary() {
    let mut stage = Stage::new(70, 16);
    stage.user("Before");
    stage.apply(AgentEvent::CompactionEnd {
        reason: CompactionReason::Threshold,
        outcome: CompactionOutcome::Done {
            summary: "## Task\nFix the *parser*.\n\nFiles read:\n- a.rs".to_owned(),
            first_kept_entry_id: String::new(),
            tokens_before: 161_240,
            tokens_after: 3_120,
            usage: Usage::default(),
        },
    });
    stage.user("After");
    let folded = stage.text();
    assert!(!folded.contains("parser"), "{folded}");
    let row = stage.draw().1;
    let row = picture(&row)
        .lines()
        .position(|line| line.contains("compacted"))
        .unwrap();
    assert!(stage.transcript.toggle_at(row as u16));
    insta::assert_snapshot!(format!("{folded}\n{}", stage.text()));
    for (outcome, says) in [
        (
            CompactionOutcome::Failed {
                message: "no way".to_owned(),
            },
            "Not compacted: no way",
        ),
        (CompactionOutcome::Aborted, "Not compacted: cancelled"),
    ] {
        let reason = CompactionReason::Manual;
        stage.apply(AgentEvent::CompactionEnd { reason, outcome });
        assert!(stage.text().contains(says), "{says}");
    }
}

#[test]
fn the_iteration_limit_is_shown() {
    let mut stage = Stage::new(80, 10);
    stage.apply(AgentEvent::AgentEnd {
        totals: tiller::agent::RunTotals::default(),
        messages: Vec::new().into(),
        outcome: RunOutcome::LimitReached { limit: 25 },
    });
    let shown = stage.text();
    assert!(shown.contains("Max iterations (25) exceeded"));
    assert!(shown.contains("Press Enter on the empty prompt to continue"));
}

/// A resumed transcript looks as it did before, although it is built from stored details alone.
#[test]
fn a_rebuilt_transcript_looks_the_same() {
    let mut live = played(86, 80);
    let mut rebuilt = Stage::new(86, 80);
    rebuilt.transcript = Transcript::of_branch(branch(&stored()));
    // Stored messages don't have the thinking time.
    assert_eq!(rebuilt.text(), live.text().replace("∴ 4 s", "∴ thought"));
}

#[test]
fn another_conversation_replaces_the_previous_one() {
    let mut stage = played(86, 80);
    stage.draw();
    let messages = [Arc::new(tiller::llm::Message::user("elsewhere", 0))];
    stage
        .transcript
        .replace(Transcript::of_branch(branch(&messages)));
    assert_eq!(stage.text().trim(), "❯ elsewhere");
    let mut again = Stage::new(86, 80);
    again.transcript = Transcript::of_branch(branch(&stored()));
    stage
        .transcript
        .replace(Transcript::of_branch(branch(&stored())));
    assert_eq!(stage.text(), again.text());
}

#[test]
fn a_prompt_shown_early_is_not_shown_twice() {
    let mut stage = Stage::new(40, 10);
    stage.transcript.push_user("hello");
    stage.user("hello");
    stage.user("hello");
    assert_eq!(stage.text().matches("hello").count(), 2);
}

#[test]
fn a_message_that_ends_in_an_error_keeps_its_text() {
    let mut stage = Stage::new(60, 12);
    stage.begin();
    stage.stream(StreamEvent::BlockStart {
        index: 0,
        block: Content::text(""),
    });
    stage.stream(StreamEvent::BlockDelta {
        kind: BlockKind::Text,
        index: 0,
        delta: "Half a sen".to_owned(),
    });
    let message = tiller::llm::AssistantMessage {
        content: vec![Content::text("Half a sen")],
        stop_reason: StopReason::Error,
        error_message: Some("connection reset".to_owned()),
        ..Default::default()
    };
    stage.apply(AgentEvent::MessageEnd {
        message: Arc::new(tiller::llm::Message::Assistant(message)),
    });
    stage.apply(AgentEvent::AgentEnd {
        totals: tiller::agent::RunTotals::default(),
        messages: Vec::new().into(),
        outcome: RunOutcome::Failed {
            message: "connection reset".to_owned(),
        },
    });
    insta::assert_snapshot!(stage.text());
}

fn numbered(count: usize, width: u16, height: u16) -> Stage {
    let mut stage = Stage::new(width, height);
    for index in 0..count {
        stage.user(&format!("prompt {index}"));
        stage.say(
            &format!("answer {index} line one\n\nanswer {index} line two"),
            64,
        );
    }
    stage.draw();
    stage
}

fn first_line(stage: &mut Stage) -> String {
    stage.text().lines().next().unwrap_or_default().to_owned()
}

#[test]
fn the_view_stays_put_while_output_grows() {
    let mut stage = numbered(20, 60, 10);
    stage.transcript.scroll(ScrollBy::Pages(-1));
    let before = stage.text();
    assert!(!stage.transcript.is_following());
    let (drawn, _) = stage.draw();
    assert_eq!(drawn.new_below, 0);
    stage.say(&"more and more\n\n".repeat(30), 16);
    let (drawn, buffer) = stage.draw();
    assert_eq!(picture(&buffer), before);
    assert_eq!(drawn.new_below, 60, "one blank row, 30 lines, 29 gaps");
    assert_eq!(drawn.hidden_below, 8 + 60);
    stage.transcript.scroll(ScrollBy::End);
    let (drawn, _) = stage.draw();
    assert_eq!((drawn.position, drawn.new_below), (Position::Follow, 0));
}

/// When an answer ends, it is laid out again, because links now have their addresses. The rows
/// being read stay in place, and the count of new rows doesn't change.
#[test]
fn the_view_stays_put_when_an_answer_ends() {
    let parts = (0..30).map(|at| {
        format!(
            "Paragraph {at} with a [link][there].\n\n```mermaid\ngraph TD\n  A{at} --> B\n  B --> C\n  C --> D\n```\n\n"
        )
    });
    let text = parts.collect::<String>() + "[there]: https://example.org/a/long/address\n";
    let mut compared = 0;
    for up in 1..40 {
        let mut stage = Stage::new(60, 10);
        stage.begin();
        stage.stream(StreamEvent::BlockStart {
            index: 0,
            block: Content::text(""),
        });
        for part in text.split_inclusive('\n') {
            stage.stream(StreamEvent::BlockDelta {
                kind: BlockKind::Text,
                index: 0,
                delta: part.to_owned(),
            });
            stage.draw();
        }
        stage.transcript.scroll(ScrollBy::Rows(-60 - up));
        let before = first_line(&mut stage);
        stage.end(vec![Content::text(text.as_str())], StopReason::Stop);
        let after = first_line(&mut stage);
        // A line of a diagram has no source position, so only paragraphs are compared.
        if let Some((paragraph, _)) = before.split_once(" with") {
            compared += 1;
            assert!(after.starts_with(paragraph), "{before:?} became {after:?}");
        }
        assert_eq!(
            stage.draw().0.new_below,
            0,
            "everything was on the screen before"
        );
    }
    assert!(compared > 0);
}

#[test]
fn scrolling_by_rows_is_reversible() {
    let mut stage = numbered(30, 60, 10);
    let end = stage.text();
    stage.transcript.scroll(ScrollBy::Rows(-7));
    let up = stage.text();
    assert_ne!(up, end);
    assert_eq!(up.lines().nth(7), end.lines().next());
    stage.transcript.scroll(ScrollBy::Rows(7));
    assert_eq!(stage.text(), end);
    assert!(stage.transcript.is_following());
    stage.transcript.scroll(ScrollBy::Top);
    assert!(first_line(&mut stage).contains("prompt 0"));
    stage.transcript.scroll(ScrollBy::Rows(-5));
    assert!(first_line(&mut stage).contains("prompt 0"));
}

#[test]
fn scrolling_moves_from_prompt_to_prompt() {
    let mut stage = numbered(12, 60, 10);
    stage.transcript.scroll(ScrollBy::PreviousPrompt);
    assert!(first_line(&mut stage).contains("prompt 10"));
    stage.transcript.scroll(ScrollBy::PreviousPrompt);
    assert!(first_line(&mut stage).contains("prompt 9"));
    stage.transcript.scroll(ScrollBy::NextPrompt);
    assert!(first_line(&mut stage).contains("prompt 10"));
    stage.transcript.scroll(ScrollBy::NextPrompt);
    stage.transcript.scroll(ScrollBy::NextPrompt);
    stage.transcript.scroll(ScrollBy::NextPrompt);
    stage.draw();
    assert!(stage.transcript.is_following());
}

#[test]
fn a_click_opens_a_cell_in_place() {
    let mut stage = played(86, 24);
    stage.transcript.scroll(ScrollBy::Top);
    let before = stage.text();
    let title = before
        .lines()
        .position(|line| line.contains("│ grep"))
        .unwrap();
    assert!(stage.transcript.toggle_at(title as u16));
    let open = stage.text();
    assert_eq!(open.lines().nth(title), before.lines().nth(title));
    assert_ne!(open, before);
    assert!(stage.transcript.toggle_at(title as u16));
    assert_eq!(stage.text(), before);
    // A prompt does not fold.
    assert!(!stage.transcript.toggle_at(0));
}

#[test]
fn opening_a_cell_at_the_end_keeps_the_rows_above() {
    let mut stage = played(86, 40);
    let before = stage.text();
    let title = before
        .lines()
        .position(|line| line.contains("find"))
        .unwrap();
    assert!(stage.transcript.toggle_at(title as u16));
    let open = stage.text();
    assert_eq!(open.lines().next(), before.lines().next());
    assert_eq!(open.lines().nth(title), before.lines().nth(title));
    assert!(!stage.transcript.is_following());
}

/// The reading position doesn't depend on the kinds of blocks in the cell.
#[test]
fn a_narrower_screen_keeps_the_place_in_a_long_answer() {
    let mut stage = Stage::new(100, 12);
    let section = |number| {
        format!(
            "## Section {number}\n\nSome words of it that wrap when it is narrow.\n\n---\n\n\
             | a | b |\n|---|---|\n| {number} | cell |\n\n- item {number}\n-\n\n> [!NOTE]\n> quoted\n\n"
        )
    };
    let text: String = (0..60).map(section).collect();
    stage.say(&text, 4096);
    stage.draw();
    for rows in [-100, -203, -301] {
        stage.transcript.scroll(ScrollBy::Rows(rows));
        stage.draw();
        let before = place(&stage);
        stage.width -= 1;
        stage.draw();
        stage.width += 1;
        stage.draw();
        assert!(
            before.abs_diff(place(&stage)) < 60,
            "{before} {}",
            place(&stage)
        );
    }
}

/// A wider row may begin earlier than the narrower one that is on top.
#[test]
fn the_top_row_comes_back_with_the_width() {
    let mut stage = Stage::new(90, 12);
    stage.say(
        &"words of an answer that is a single paragraph ".repeat(60),
        4096,
    );
    stage.draw();
    for rows in [-3, -2, 1] {
        stage.transcript.scroll(ScrollBy::Rows(rows));
        let top = stage.draw().0.rows[0];
        for width in [57, 90, 64, 57, 90] {
            stage.width = width;
            stage.draw();
        }
        assert_eq!(stage.draw().0.rows[0], top);
    }
}

/// The byte of its cell that the top row shows.
fn place(stage: &Stage) -> u32 {
    match stage.transcript.viewport().position() {
        Position::At(anchor) => anchor.byte,
        Position::Follow => u32::MAX,
    }
}

/// The pill counts new rows, not rows that a narrower screen adds by wrapping.
#[test]
fn a_narrower_screen_counts_no_new_rows() {
    let mut stage = Stage::new(120, 12);
    stage.say(
        &"some words that wrap on a narrow screen, and more of them\n\n".repeat(40),
        4096,
    );
    let text = "words of an answer that is a single paragraph ".repeat(30);
    stage.say(&text, 4096);
    stage.draw();
    stage.transcript.scroll(ScrollBy::Top);
    stage.draw();
    for width in [60, 40, 119, 20, 120] {
        stage.width = width;
        let (drawn, _) = stage.draw();
        assert_eq!(drawn.new_below, 0, "at {width}");
    }
    stage.say("one more", 8);
    stage.width = 70;
    assert_eq!(stage.draw().0.new_below, 2);
}

/// Rows refer to the source of their cell in order, and to the bytes that they show.
#[test]
fn rows_refer_to_the_source_of_their_cell() {
    let mut stage = played(60, 110);
    stage.transcript.set_all(CellClass::Tool, Fold::Open);
    stage.transcript.set_all(CellClass::Thinking, Fold::Open);
    let (drawn, _) = stage.draw();
    let mut before = (usize::MAX, 0);
    let mut exact = 0;
    for at in &drawn.rows {
        let row = stage.cache.row(*at).unwrap();
        let source = stage.transcript.source(at.cell).unwrap();
        assert!(row.source.start <= row.source.end, "{row:?}");
        assert!(
            before.0 != at.cell || before.1 <= row.source.start,
            "{row:?}"
        );
        before = (at.cell, row.source.start);
        let shown = &row.text[row.content.start as usize..row.content.end as usize];
        let wanted = &source[row.source.start as usize..row.source.end as usize];
        exact += usize::from(!shown.is_empty() && shown == wanted);
    }
    assert!(exact > 40, "{exact} rows show what they refer to");
}

#[test]
fn the_position_survives_a_change_of_width() {
    let mut stage = Stage::new(100, 12);
    for index in 0..40 {
        stage.say(
            &format!("{index}: {}", "some words that wrap ".repeat(20)),
            4096,
        );
    }
    stage.draw();
    stage.transcript.scroll(ScrollBy::Rows(-60));
    let top = first_line(&mut stage);
    let words: String = top.trim().chars().take(12).collect();
    for width in [40, 150, 77, 100] {
        stage.width = width;
        let text = stage.text();
        let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(joined.contains(words.trim()), "{words} not in {text}");
    }
}

/// A frame costs as much as its visible part, however long the transcript.
#[test]
fn a_frame_only_lays_out_visible_cells() {
    for prompts in [50, 20_000] {
        let mut stage = Stage::new(80, 24);
        let messages: Vec<_> = (0..prompts)
            .map(|index| Arc::new(tiller::llm::Message::user(format!("prompt {index}"), 0)))
            .collect();
        stage.transcript = Transcript::of_branch(branch(&messages));
        // Resumed cells count as changed only once, and only their heights are estimated.
        stage.draw();
        let first = stage.cache.kept_rows();
        assert!(first <= 150, "{first} of {prompts}");
        stage.transcript.scroll(ScrollBy::Rows(-10));
        stage.draw();
        stage.width = 60;
        stage.draw();
        let after = stage.cache.kept_rows();
        assert!(after <= first + 150, "{after} after {first}");
        assert!(stage.cache.kept_rows() < 2_000);
        while stage
            .cache
            .refine(&stage.transcript, &stage.theme, Duration::from_millis(2))
        {}
        stage.transcript.scroll(ScrollBy::Top);
        let (drawn, _) = stage.draw();
        // The height of cells not shown yet is an estimate.
        let rows = prompts * 2 - 1 - 24;
        assert!(drawn.hidden_below.abs_diff(rows) <= rows / 10);
    }
}

/// Streaming only rewrites the open block of the live cell.
#[test]
fn streaming_a_megabyte_only_rewrites_the_open_block() {
    let mut stage = Stage::new(80, 24);
    stage.begin();
    stage.stream(StreamEvent::BlockStart {
        index: 0,
        block: Content::text(""),
    });
    let mut sent = 0;
    let mut frames = 0;
    while sent < 1_000_000 {
        let mut delta = String::new();
        while delta.len() < 4_000 {
            delta.push_str("A paragraph with a few *words* in it.\n\n");
        }
        sent += delta.len();
        stage.stream(StreamEvent::BlockDelta {
            kind: BlockKind::Text,
            index: 0,
            delta,
        });
        stage.draw();
        frames += 1;
    }
    let written = stage.cache.written(0);
    assert!(written < sent * 2 + frames * 1_000, "{written}");
}

#[test]
fn code_is_colored_once_highlighting_finishes() {
    let mut stage = Stage::new(60, 10);
    let (woken, wake) = std::sync::mpsc::channel();
    let worker = tiller::app::tui::text::HighlightWorker::start(&stage.theme, move || {
        let _ = woken.send(());
    });
    stage.cache = TranscriptCache::new(Some(worker));
    stage.say("```rust\nlet x = \"text\";\n```\n", 3);
    let (_, before) = stage.draw();
    wake.recv_timeout(Duration::from_secs(20)).unwrap();
    assert!(stage.cache.poll());
    let (_, after) = stage.draw();
    assert_eq!(picture(&before), picture(&after));
    let ink = |buffer: &ratatui_core::buffer::Buffer| buffer[(3, 0)].fg;
    assert_ne!(ink(&before), ink(&after));
    // Another width keeps the colors.
    stage.width = 50;
    let (_, narrow) = stage.draw();
    assert_eq!(ink(&narrow), ink(&after));
    // A wrapped line keeps its colors and the block's background.
    stage.width = 12;
    let (_, broken) = stage.draw();
    assert_eq!(broken[(3, 1)].symbol(), "\"");
    assert_eq!(broken[(3, 1)].fg, after[(11, 0)].fg);
    assert_ne!(broken[(3, 1)].fg, ink(&after));
    assert_eq!(broken[(3, 1)].bg, before[(3, 0)].bg);
}

#[test]
fn a_failure_without_details_shows_its_result_text() {
    let mut stage = Stage::new(60, 10);
    stage.tool_end(
        "x",
        "edit",
        ToolStatus::Error,
        "old_text was not found",
        edit_nothing(),
        Some(2),
    );
    assert!(stage.text().contains("old_text was not found"));
}

/// A call that didn't run or was cut short says so below its title, even folded and above other
/// text.
#[test]
fn a_call_shows_below_its_title_how_it_ended() {
    let no_output = || command_details(0, true);
    let asked_for = || {
        Details::Other(tiller::agent::tool::OtherDetails {
            title: String::new(),
            value: serde_json::json!({"a": "b"}),
        })
    };
    let cases = [
        (
            ToolStatus::Skipped,
            "Skipped due to user message.",
            no_output(),
        ),
        (
            ToolStatus::Skipped,
            "Skipped due to user message.",
            read_details(),
        ),
        (
            ToolStatus::Skipped,
            "Skipped due to user message.",
            asked_for(),
        ),
        (
            ToolStatus::Cancelled,
            "Execution cancelled before start",
            edit_nothing(),
        ),
        (
            ToolStatus::Cancelled,
            "Execution cancelled",
            command_details(9, false),
        ),
        (
            ToolStatus::Cancelled,
            "Interrupted by user message",
            command_details(9, false),
        ),
        (ToolStatus::Error, "Tool 'foo' not found", asked_for()),
        (ToolStatus::Error, "Tool 'bash' not available", asked_for()),
        (ToolStatus::Error, "error: invalid input: a; b", no_output()),
    ];
    for (status, reason, details) in cases {
        let mut stage = Stage::new(60, 30);
        // The output of a call that was cut short follows the reason.
        let text = format!("{reason}\ntest auth::case_9 ... ok");
        let text = match &details {
            Details::Command(command) if !command.output.is_empty() => text.as_str(),
            _ => reason,
        };
        stage.tool_start("x", "bash", details.clone());
        stage.tool_end("x", "bash", status, text, details, None);
        let shown = stage.text();
        // A word in the title isn't repeated below.
        let title = match status {
            ToolStatus::Skipped => "skipped",
            _ if reason == "Execution cancelled before start" => "not run",
            _ if reason.starts_with("Execution cancelled") => "stopped",
            _ => reason,
        };
        assert_eq!(
            shown.matches(title).count(),
            1,
            "{status:?} {reason}:\n{shown}"
        );
        assert!(
            shown.matches("case_9 ").count() <= 1,
            "its output twice:\n{shown}"
        );
    }
}

fn edit_nothing() -> Details {
    Details::Diff(tiller::agent::tool::DiffDetails {
        path: "a.rs".to_owned(),
        ..Default::default()
    })
}

/// No cell of the buffer ever holds a control character.
fn hostile() -> impl Strategy<Value = String> {
    prop_oneof![
        "(?s).{0,60}",
        "[\u{0}-\u{1f}\u{7f}-\u{9f}\u{202a}-\u{202e}a-z`*|#\\n-]{0,60}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn no_control_character_reaches_the_buffer(
        text in hostile(), other in hostile(), width in 1_u16..90, height in 1_u16..30, open in any::<bool>(),
    ) {
        let mut stage = Stage::new(width, height);
        let fold = if open { Fold::Open } else { Fold::Folded };
        stage.transcript.set_all(CellClass::Tool, fold);
        stage.transcript.set_all(CellClass::Thinking, fold);
        stage.user(&text);
        stage.say(&other, 5);
        stage.transcript.push_notice(NoticeLevel::Error, text.clone());
        stage.tool_end("a", &other, ToolStatus::Ok, "", Details::Command(CommandDetails {
            command: text.clone(), output: other.clone(), ..Default::default()
        }), Some(1));
        stage.tool_end("b", "read", ToolStatus::Ok, "", Details::Text(TextDetails {
            path: text.clone(), text: other.clone(), first_line: 1, ..Default::default()
        }), Some(1));
        stage.tool_end("c", "edit", ToolStatus::Ok, "", Details::Diff(tiller::agent::tool::DiffDetails {
            path: text.clone(), diff: other.clone(), ..Default::default()
        }), Some(1));
        stage.tool_end("d", "x", ToolStatus::Error, &text, Details::from_json(serde_json::json!({"a": other})), None);
        for _ in 0..8 {
            let (_, buffer) = stage.draw();
            for cell in buffer.content() {
                let clean = cell.symbol().chars().all(|c| !tiller::app::sanitize::is_hostile(c));
                prop_assert!(clean, "{:?}", cell.symbol());
            }
            stage.transcript.scroll(ScrollBy::Pages(-1));
        }
    }

    #[test]
    fn events_in_any_order_are_drawn(ops in proptest::collection::vec((0_u8..16, any::<u16>()), 1..60)) {
        let mut stage = Stage::new(50, 12);
        play(&mut stage);
        for (op, n) in ops {
            match op {
                0 => stage.user("another prompt"),
                1 => stage.say("some **text**\n\n- with\n- a list\n", 1 + usize::from(n % 9)),
                2 => stage.begin(),
                3 => stage.stream(StreamEvent::BlockStart { index: usize::from(n % 3), block: Content::text("") }),
                4 => stage.stream(StreamEvent::BlockDelta { kind: BlockKind::Text, index: usize::from(n % 3), delta: "delta\n".repeat(usize::from(n % 7)) }),
                5 => stage.tool_start(&format!("t{}", n % 5), "bash", command_details(usize::from(n % 20), false)),
                6 => stage.tool_end(&format!("t{}", n % 5), "edit", ToolStatus::Ok, "", edit_details(), Some(u64::from(n))),
                7 => { stage.transcript.toggle_at(n % 12); }
                8 => { stage.transcript.toggle_recent(); }
                9 => stage.transcript.scroll(ScrollBy::Rows(i32::from(n % 40) - 20)),
                10 => stage.transcript.scroll([ScrollBy::Top, ScrollBy::End, ScrollBy::NextPrompt, ScrollBy::PreviousPrompt][usize::from(n % 4)]),
                11 => (stage.width, stage.height) = (n % 90, n / 90 % 30),
                12 => stage.transcript.set_all(CellClass::Tool, if n % 2 == 0 { Fold::Open } else { Fold::Folded }),
                13 => stage.done(),
                14 => stage.wait(i64::from(n)),
                _ => { stage.cache.refine(&stage.transcript, &stage.theme, Duration::from_micros(50)); }
            }
            if n % 3 > 0 {
                let (drawn, _) = stage.draw();
                // The height used in sums equals the number of rows drawn.
                let rows: Vec<_> = drawn.rows.iter().collect();
                for pair in rows.windows(2) {
                    let next = pair[0].cell == pair[1].cell && pair[0].row + 1 == pair[1].row;
                    prop_assert!(next || (pair[1].cell > pair[0].cell && pair[1].row == 0));
                }
                // Drawing from the cache gives the same picture.
                let (_, again) = stage.draw();
                let kept = picture(&again);
                let old = std::mem::replace(&mut stage.cache, TranscriptCache::new(None));
                prop_assert_eq!(stage.text(), kept);
                stage.cache = old;
            }
        }
    }
}

#[test]
fn without_color_no_cell_is_colored() {
    let mut stage = played(86, 60);
    stage.theme = Theme::load("dark", ColorDepth::None).unwrap();
    let (_, buffer) = stage.draw();
    for cell in buffer.content() {
        let plain = |color| matches!(color, ratatui_core::style::Color::Reset);
        assert!(plain(cell.fg) && plain(cell.bg), "{cell:?}");
    }
}

/// Trailing empty lines don't make a prompt a long one.
#[test]
fn a_prompt_that_ends_with_many_empty_lines_is_shown() {
    let mut stage = Stage::new(40, 10);
    stage.user(&format!("Hello{}", "\n".repeat(40)));
    let text = stage.text();
    assert!(
        text.contains("Hello") && !text.contains("more lines"),
        "{text}"
    );
}

/// A list stored by another program may contain line breaks in its items.
#[test]
fn a_stored_list_with_line_ends_in_it_is_shown() {
    let items = ["a\naaaaa日", "b"].map(|content| json!({"content": content}));
    let list = Details::from_json(json!({"kind": "todo", "items": items}));
    let mut stage = Stage::new(40, 10);
    stage.tool_start("t", "todo", list.clone());
    stage.tool_end("t", "todo", ToolStatus::Ok, "", list, Some(1));
    stage.text();
    stage.transcript.toggle_recent();
    let text = stage.text();
    assert!(text.contains('日'), "{text}");
}

/// Each prompt of a run has its own end, including prompts from the queue and after a resume.
#[test]
fn a_rule_separates_the_prompts_of_a_run() {
    let mut stage = Stage::new(60, 30);
    let prompts = ["first", "second"];
    for prompt in prompts {
        stage.user(prompt);
        stage.say("answered", 100);
    }
    let live = stage.text();
    let rule = live.find("──").expect("expected a rule");
    let at = |text: &str| live.find(text).expect("expected this text");
    assert!(at("answered") < rule && rule < at("second"), "{live}");
    assert_eq!(live.lines().filter(|line| line.contains("──")).count(), 1);

    let answer = || {
        Arc::new(tiller::llm::Message::Assistant(
            tiller::llm::AssistantMessage {
                content: vec![Content::text("answered")],
                stop_reason: StopReason::Stop,
                ..Default::default()
            },
        ))
    };
    let messages =
        prompts.map(|prompt| [Arc::new(tiller::llm::Message::user(prompt, 0)), answer()]);
    let mut resumed = Stage::new(60, 30);
    resumed.transcript = Transcript::of_branch(branch(messages.as_flattened()));
    assert_eq!(resumed.text(), live);
}
