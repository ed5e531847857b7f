//! Editing: from an action to an edit command.

use super::overlay;
use crate::agent::NoticeLevel;
use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::composer::{EditCommand, SavedDraft};
use crate::app::tui::effect::Effect;

pub fn insert(app: &mut App, c: char) {
    edit(app, EditCommand::Insert(c));
}

/// Inserts a paste; it goes into what has the keys.
pub fn paste(app: &mut App, text: String) -> Vec<Effect> {
    app.start.demo = None;
    if !overlay::paste(app, &text) {
        // A question or the help must not swallow it: pasted text is typed text.
        app.overlays.clear();
        edit(app, EditCommand::Paste(text));
    }
    Vec::new()
}

/// Does the edit an action stands for.
pub fn act(app: &mut App, action: Action) {
    let command = match action {
        Action::Newline => EditCommand::NewLine,
        Action::Left => EditCommand::Left,
        Action::Right => EditCommand::Right,
        Action::Up => EditCommand::Up,
        Action::Down => EditCommand::Down,
        Action::WordLeft => EditCommand::WordLeft,
        Action::WordRight => EditCommand::WordRight,
        Action::LineStart => EditCommand::LineStart,
        Action::LineEnd => EditCommand::LineEnd,
        Action::DeleteBackward => EditCommand::Backspace,
        Action::DeleteForward => EditCommand::Delete,
        Action::CutToSpaceBackward => EditCommand::KillToSpaceLeft,
        Action::CutWordBackward => EditCommand::KillWordLeft,
        Action::CutWordForward => EditCommand::KillWordRight,
        Action::CutToStart => EditCommand::KillToLineStart,
        Action::CutToEnd => EditCommand::KillToLineEnd,
        Action::Yank => EditCommand::Yank,
        Action::YankPop => EditCommand::YankPop,
        Action::Undo => EditCommand::Undo,
        Action::Redo => EditCommand::Redo,
        // Every other action has its owner elsewhere.
        _ => return,
    };
    edit(app, command);
}

/// An earlier run left text behind: it comes before what was typed meanwhile.
pub fn restore(app: &mut App, draft: &SavedDraft) {
    app.start.demo = None;
    app.composer.prepend(&draft.joined());
    app.say("Unsent text of the last run is back in the editor", 6000);
}

/// Takes the text that the external editor left.
pub fn edited(app: &mut App, outcome: Result<String, String>) {
    match outcome {
        Ok(text) => {
            // Editors end a file with a line end that nobody typed.
            let text = text.strip_suffix('\n').unwrap_or(&text);
            let text = text.strip_suffix('\r').unwrap_or(text);
            if text != app.composer.text() {
                app.composer.apply(EditCommand::Set(text.to_owned()));
            }
        }
        Err(error) => app.transcript.push_notice(NoticeLevel::Error, error),
    }
}

fn edit(app: &mut App, command: EditCommand) {
    // A second Ctrl+C or Esc counts only when nothing came between.
    app.presses.interrupt = None;
    app.presses.cancel = None;
    app.composer.apply(command);
}
