//! The todo list above the editor and in the transcript.

use std::sync::Arc;

use insta::assert_snapshot;
use ratatui_core::layout::Size;
use tiller::agent::tool::DiffDetails;
use tiller::agent::undo::Direction;
use tiller::agent::{
    AgentEvent, ChangedFile, Details, Phase, RunOutcome, RunState, TodoDetails, TodoItem,
    TodoStatus, ToolStatus,
};
use tiller::app::tui::msg::Msg;
use tiller::llm::Content;

use super::app_kit::TestTui;

const ITEMS: [&str; 7] = [
    "Look at how tokens are checked",
    "Fix the token check",
    "Add a test for expired tokens",
    "Run the tests",
    "Update the changelog",
    "Tell what changed",
    "Check the docs",
];

/// A list of `of` items with the first `done` finished and the next in progress.
fn list(done: usize, of: usize) -> TodoDetails {
    let items = ITEMS[..of].iter().enumerate();
    let items = items.map(|(at, content)| TodoItem {
        content: (*content).to_owned(),
        status: match at {
            at if at < done => TodoStatus::Completed,
            at if at == done => TodoStatus::InProgress,
            _ => TodoStatus::Pending,
        },
    });
    TodoDetails::new(items.collect())
}

/// The model sends the list.
fn todo(tui: &mut TestTui, list: TodoDetails) {
    let details = Arc::new(Details::Todo(list));
    let id = format!("c{}", tui.app.transcript.end());
    tui.agent(AgentEvent::ToolStart {
        call_id: id.clone(),
        name: "todo".to_owned(),
        args: Arc::default(),
        details: Arc::clone(&details),
    });
    tui.agent(AgentEvent::ToolEnd {
        call_id: id,
        name: "todo".to_owned(),
        status: ToolStatus::Ok,
        content: vec![Content::text("ok")],
        details,
        duration_ms: Some(1),
        rule: None,
    });
}

fn working(width: u16, height: u16) -> TestTui {
    let mut tui = TestTui::new(width, height);
    tui.write("Fix the login bug");
    tui.key("enter");
    tui.running(Phase::Streaming);
    todo(&mut tui, list(0, 7));
    todo(&mut tui, list(3, 7));
    tui.waiting(&["use the subtle crate"], &[]);
    tui
}

#[test]
fn the_list_above_the_editor_fits_the_room() {
    for (width, height) in [(40, 10), (80, 24), (120, 40)] {
        let mut tui = working(width, height);
        assert_snapshot!(format!("todo_{width}x{height}"), tui.frame());
    }
}

#[test]
fn a_key_folds_and_unfolds_the_list() {
    let mut tui = working(80, 24);
    let next = "○ Update the changelog";
    assert!(tui.frame().contains("◐ Run the tests"));
    assert!(!tui.frame().contains(next));
    tui.key("alt+t");
    assert!(tui.frame().contains(next), "{}", tui.frame());
    assert!(tui.frame().contains("✓ 3 of 7 done"), "{}", tui.frame());
    tui.key("alt+t");
    assert!(!tui.frame().contains(next));
    let mut empty = TestTui::new(80, 24);
    empty.key("alt+t");
    assert!(empty.frame().contains("No todo list"));
}

#[test]
fn a_list_unchanged_for_a_whole_run_hides_at_the_next_prompt() {
    let mut tui = working(80, 24);
    let shown = "◐ Run the tests";
    for (prompt, is_there) in [("Go on", true), ("What is a token?", false)] {
        tui.state(RunState::Idle);
        tui.waiting(&[], &[]);
        assert!(tui.frame().contains(shown));
        tui.write(prompt);
        tui.key("enter");
        assert_eq!(tui.frame().contains(shown), is_there, "{}", tui.frame());
        tui.running(Phase::Streaming);
    }
}

#[test]
fn a_finished_list_hides_after_the_run() {
    let mut single = working(80, 24);
    todo(&mut single, list(1, 1));
    let frame = single.frame();
    assert_eq!(frame.matches("all 1 done").count(), 2, "{frame}");
    let mut tui = working(80, 24);
    todo(&mut tui, list(7, 7));
    assert_eq!(
        tui.frame().matches("all 7 done").count(),
        2,
        "{}",
        tui.frame()
    );
    tui.agent(AgentEvent::AgentEnd {
        messages: Vec::new().into(),
        outcome: RunOutcome::Done,
        totals: tiller::agent::RunTotals::default(),
    });
    tui.state(RunState::Idle);
    tui.waiting(&[], &[]);
    assert_eq!(
        tui.frame().matches("all 7 done").count(),
        1,
        "{}",
        tui.frame()
    );
    tui.key("alt+t");
    assert!(tui.frame().contains("todo: all 7 done"), "{}", tui.frame());
    // A finished list doesn't show for the next prompt.
    tui.write("next");
    tui.key("enter");
    assert_eq!(
        tui.frame().matches("all 7 done").count(),
        1,
        "{}",
        tui.frame()
    );
    // A list with open items stays visible.
    todo(&mut tui, list(1, 3));
    tui.state(RunState::Idle);
    assert!(tui.frame().contains("◐ Fix the token check"));
    tui.write("more");
    tui.key("enter");
    assert!(tui.frame().contains("◐ Fix the token check"));
}

#[test]
fn each_change_is_a_row_that_opens() {
    let mut tui = working(80, 24);
    let frame = tui.frame();
    assert!(
        frame.contains("✓ todo  0 of 7 done — Look at how tokens are checked"),
        "{frame}"
    );
    assert!(
        frame.contains("✓ todo  3 of 7 done — Run the tests"),
        "{frame}"
    );
    tui.key("ctrl+o");
    let frame = tui.frame();
    assert!(frame.contains("│ ◐ Run the tests"), "{frame}");
    assert!(frame.contains("│ ✓ Fix the token check"), "{frame}");
}

#[test]
fn a_wide_screen_has_a_side_panel_while_it_has_content() {
    let mut tui = TestTui::new(172, 40);
    tui.write("Fix the login bug");
    tui.key("enter");
    tui.running(Phase::Streaming);
    let heading = "waiting";
    assert!(!tui.frame().contains(heading));
    todo(&mut tui, list(3, 7));
    changed(&mut tui);
    tui.waiting(&["use the subtle crate"], &["update the changelog"]);
    assert_snapshot!("rail_172x40", tui.frame());
    // On a narrower screen the list is above the editor.
    tui.send(Msg::Resize(Size::new(171, 40)));
    let frame = tui.frame();
    assert!(
        !frame.contains(heading) && frame.contains("↳ steer  use the subtle"),
        "{frame}"
    );
}

/// Two files are changed.
fn changed(tui: &mut TestTui) {
    for (path, added, removed) in [("src/auth.rs", 4, 1), ("tests/auth.py", 5, 0)] {
        tui.agent(AgentEvent::ToolEnd {
            call_id: path.to_owned(),
            name: "edit".to_owned(),
            status: ToolStatus::Ok,
            content: Vec::new(),
            details: Arc::new(Details::Diff(DiffDetails {
                added,
                removed,
                ..DiffDetails::of(path.to_owned())
            })),
            duration_ms: None,
            rule: None,
        });
    }
}

#[test]
fn the_side_panel_drops_files_whose_changes_were_undone() {
    let mut tui = TestTui::new(172, 40);
    tui.write("Fix the login bug");
    tui.key("enter");
    let file = |path: &str, added, removed| ChangedFile {
        path: path.to_owned(),
        added,
        removed,
    };
    changed(&mut tui);
    let undone = |direction, files| AgentEvent::FilesUndone { direction, files };
    let files = vec![file("src/auth.rs", 0, 2), file("tests/auth.py", 0, 5)];
    tui.agent(undone(Direction::Undo, files));
    let frame = tui.frame();
    assert!(
        frame.contains("1 file\n") && frame.contains("+2 −1"),
        "{frame}"
    );
    assert_eq!(frame.matches("tests/auth.py").count(), 1, "{frame}");
    tui.agent(undone(Direction::Redo, vec![file("tests/auth.py", 5, 0)]));
    let frame = tui.frame();
    assert!(
        frame.contains("2 files\n") && frame.matches("tests/auth.py").count() == 2,
        "{frame}"
    );
}
