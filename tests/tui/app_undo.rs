//! Going back to a prompt: nothing happens to files before it was shown what would.

use tiller::agent::tool::FileChange;
use tiller::agent::undo::{Direction, FilePreview, Preview, RewindPoint};
use tiller::app::tui::effect::{Effect, UndoEffect};
use tiller::app::tui::msg::{EffectResult, Msg};

use super::app_kit::TestTui;

fn rewinds(effects: &[Effect]) -> bool {
    let is_rewind = |effect: &Effect| matches!(effect, Effect::Undo(UndoEffect::Rewind(..)));
    effects.iter().any(is_rewind)
}

#[test]
fn enter_pressed_twice_rewinds_no_file_that_was_not_shown() {
    let mut tui = TestTui::new(80, 24);
    tui.write("/rewind");
    tui.key("enter");
    let point = RewindPoint {
        entry: "e".into(),
        prompt: "Do it".into(),
        turns: Vec::new(),
        files: 1,
    };
    tui.send(Msg::Done(EffectResult::RewindPoints(vec![point])));
    tui.key("enter");
    assert!(!rewinds(&tui.key("enter")));
    let preview = Preview {
        direction: Direction::Undo,
        turn: String::new(),
        prompt: "Do it".into(),
        files: Vec::new(),
        kept: Vec::new(),
    };
    tui.send(Msg::Done(EffectResult::RewindPreview("e".into(), preview)));
    assert!(rewinds(&tui.key("enter")));
}

/// What would change unseen is at least counted.
#[test]
fn files_that_there_is_no_room_for_are_counted() {
    let mut tui = TestTui::new(80, 24);
    tui.write("/rewind");
    tui.key("enter");
    let point = RewindPoint {
        entry: "e".into(),
        prompt: "Do it".into(),
        turns: Vec::new(),
        files: 40,
    };
    tui.send(Msg::Done(EffectResult::RewindPoints(vec![point])));
    tui.key("enter");
    let file = |at: usize| FilePreview {
        path: format!("/work/file{at}").into(),
        change: FileChange::Deleted,
        lines: None,
    };
    let preview = Preview {
        direction: Direction::Undo,
        turn: String::new(),
        prompt: "Do it".into(),
        files: (0..40).map(file).collect(),
        kept: Vec::new(),
    };
    tui.send(Msg::Done(EffectResult::RewindPreview("e".into(), preview)));
    let frame = tui.frame();
    let shown = frame.matches("file").count() - frame.matches("files").count();
    let lines = 40 - shown + 1;
    assert!(frame.contains(&format!("… {lines} more lines")), "{frame}");
}
