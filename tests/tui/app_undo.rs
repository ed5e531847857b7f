//! Undo and rewind change files only after the preview has been shown.

use tiller::agent::tool::FileChange;
use tiller::agent::undo::{Direction, FilePreview, Preview, RewindPoint};
use tiller::app::tui::effects::effect::{Effect, UndoEffect};
use tiller::app::tui::msg::{EffectResult, Msg};
use tiller::app::tui::terminal::input::InputEvent;

use super::app_kit::TestTui;

fn rewinds(effects: &[Effect]) -> bool {
    let is_rewind = |effect: &Effect| matches!(effect, Effect::Undo(UndoEffect::Rewind(..)));
    effects.iter().any(is_rewind)
}

/// The user chose a prompt to rewind to; this many files had changed since.
fn chosen(files: usize) -> TestTui {
    let mut tui = TestTui::new(80, 24);
    tui.write("/rewind");
    tui.key("enter");
    let point = RewindPoint {
        entry: "e".into(),
        prompt: "Do it".into(),
        all_turns: [].into(),
        first: 0,
        files,
    };
    tui.send(Msg::Done(EffectResult::RewindPoints(vec![point])));
    tui.now += 300;
    tui.key("enter");
    tui
}

/// The preview arrives.
fn shown(tui: &mut TestTui, files: Vec<FilePreview>) {
    let preview = Preview {
        direction: Direction::Undo,
        turn: String::new(),
        prompt: "Do it".into(),
        files,
        kept: Vec::new(),
    };
    tui.send(Msg::Done(EffectResult::RewindPreview("e".into(), preview)));
}

/// The screen asks whether to undo.
pub(super) fn asks() -> TestTui {
    asks_about(vec![FilePreview {
        path: "/work/a".into(),
        change: FileChange::Deleted,
        lines: Some((0, 2)),
        diff: "-1 one\n-2 two".into(),
    }])
}

fn asks_about(files: Vec<FilePreview>) -> TestTui {
    let mut tui = TestTui::new(80, 24);
    let preview = Preview {
        direction: Direction::Undo,
        turn: "t".into(),
        prompt: "Do it".into(),
        files,
        kept: Vec::new(),
    };
    tui.send(Msg::Done(EffectResult::Undo(
        Direction::Undo,
        Some(preview),
    )));
    tui
}

/// Without it, earlier prompts couldn't be undone.
#[test]
fn a_prompt_with_nothing_to_restore_can_be_skipped() {
    let mut tui = asks_about(Vec::new());
    tui.wait(400);
    let frame = tui.frame();
    assert!(frame.contains("Nothing to restore here"), "{frame}");
    assert!(frame.contains("Enter skip it"), "{frame}");
    let mut tui = asks();
    tui.wait(400);
    let frame = tui.frame();
    assert!(frame.contains("Undo these changes?"), "{frame}");
    assert!(frame.contains("Enter undo"), "{frame}");
}

#[test]
fn only_enter_undoes_but_not_right_after_another_key() {
    let go = [Effect::Undo(UndoEffect::Go(Direction::Undo, "t".into()))];
    let mut tui = asks();
    assert_eq!(tui.key("enter"), []);
    tui.now += 399;
    assert_eq!(tui.key("down"), []);
    tui.now += 399;
    assert_eq!(tui.key("enter"), []);
    tui.now += 400;
    assert_eq!(tui.key("enter"), go);
    // Typing a letter closes the question and goes into the editor.
    let mut tui = asks();
    tui.now += 1000;
    tui.write("yes");
    assert_eq!(tui.text(), "yes");
    assert!(tui.app.overlays.is_empty());
    assert!(tui.frame().contains("Not undone"), "{}", tui.frame());
    let mut tui = asks();
    tui.send(Msg::Input(InputEvent::Paste("pasted".to_owned())));
    assert_eq!(tui.text(), "pasted");
    assert!(tui.frame().contains("Not undone"), "{}", tui.frame());
}

#[test]
fn a_key_shows_what_an_undo_would_change() {
    let mut tui = asks();
    tui.wait(400);
    let frame = tui.frame();
    assert!(frame.contains("Ctrl+O diff"), "{frame}");
    assert!(!frame.contains("− two"), "{frame}");
    tui.key("ctrl+o");
    let frame = tui.frame();
    assert!(
        frame.contains("1 − one") && frame.contains("2 − two"),
        "{frame}"
    );
    tui.key("ctrl+o");
    assert!(!tui.frame().contains("− two"), "{}", tui.frame());
}

#[test]
fn a_double_enter_does_not_rewind_before_the_preview() {
    let mut tui = chosen(1);
    assert!(!rewinds(&tui.key("enter")));
    shown(&mut tui, Vec::new());
    tui.now += 399;
    assert!(!rewinds(&tui.key("enter")));
    tui.now += 400;
    assert!(rewinds(&tui.key("enter")));
}

/// Files that don't fit on the screen are at least counted.
#[test]
fn hidden_files_are_counted() {
    for count in [10, 14, 15, 16, 17, 18, 19, 20, 40] {
        let mut tui = chosen(count);
        let file = |at: usize| FilePreview {
            path: format!("/work/part{at}").into(),
            change: FileChange::Deleted,
            lines: None,
            diff: String::new(),
        };
        shown(&mut tui, (0..count).map(file).collect());
        let frame = tui.frame();
        let hidden = count - frame.matches("part").count();
        let said = match hidden {
            0 => "Both".to_owned(),
            1 => "… 1 more line ".to_owned(),
            hidden => format!("… {hidden} more lines "),
        };
        assert!(
            frame.contains(&said),
            "{hidden} of {count} hidden:\n{frame}"
        );
        assert_eq!(frame.contains("more line"), hidden > 0, "{frame}");
    }
}

#[test]
fn nothing_to_undo_does_not_stay_beside_what_the_next_command_does() {
    let mut tui = TestTui::new(80, 24);
    tui.send(Msg::Done(EffectResult::Undo(Direction::Undo, None)));
    assert!(tui.frame().contains("Nothing to undo"), "{}", tui.frame());
    tui.write("/redo");
    tui.key("enter");
    let frame = tui.frame();
    assert!(!frame.contains("Nothing to undo"), "{frame}");
}
