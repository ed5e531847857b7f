//! Editing: keys, pastes, the external editor, and restoring the draft of an earlier run.

use super::dropped::dropped_files;
use super::{completion, keys, questions, stop, vim};
use crate::agent::NoticeLevel;
use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::composer::SavedDraft;
use crate::app::tui::effects::effect::Effect;
use crate::app::tui::popups::{Overlay, opening, selecting, undo};
use crate::app::tui::terminal::input::KeyPress;
use crate::app::tui::transcript::CopySource;

pub fn insert(app: &mut App, c: char) {
    end_double_press(app);
    app.composer.insert(c);
}

pub fn act(app: &mut App, action: Action) {
    end_double_press(app);
    app.composer.apply(action);
}

pub fn select(app: &mut App, motion: Action) -> bool {
    let moves = matches!(
        motion,
        Action::Left
            | Action::Right
            | Action::Up
            | Action::Down
            | Action::WordLeft
            | Action::WordRight
            | Action::LineStart
            | Action::LineEnd
    );
    if moves {
        end_double_press(app);
        app.composer.select(motion);
    }
    moves
}

/// Pastes into the part that has the focus.
pub fn paste(app: &mut App, text: String) -> Vec<Effect> {
    app.start.demo = None;
    app.presses.enter = None;
    keys::write_mark(app);
    if let Some(effects) = Overlay::paste(app, &text) {
        return effects;
    }
    // A question must not swallow it: pasted text is typed text.
    let offer = questions::offer(app);
    let digit = app.strip.answers.write(app.now);
    questions::write_digit(app, digit, offer, text.chars().next());
    undo::tell_closed(app);
    let effects = opening::stop_waiting(app);
    if let Some(Overlay::Selecting(_)) = app.overlays.last() {
        selecting::close(app);
    }
    app.overlays.clear();
    end_double_press(app);
    // Terminals shell-escape the paths of dropped files.
    match dropped_files(&text).filter(|_| !app.composer.is_for_shell()) {
        Some(paths) => app.composer.mention(&paths),
        None => app.composer.paste(&text),
    }
    effects
}

/// Typing over a question closes it unanswered and goes to the editor.
pub fn write_on(app: &mut App, digit: Option<char>, press: KeyPress) -> Vec<Effect> {
    app.overlays.clear();
    vim::write(app);
    let typed = digit.into_iter().chain(press.text());
    typed.flat_map(|c| completion::insert(app, c)).collect()
}

/// Puts the draft of an earlier run before anything typed since.
pub fn restore(app: &mut App, draft: &SavedDraft) -> Vec<Effect> {
    app.start.demo = None;
    app.drafts_taken += 1;
    let last = (app.transcript.copy_sources()).find(|it| matches!(it, CopySource::Prompt(_)));
    if let Some(CopySource::Prompt(text)) = last
        && text == draft.text
        && draft.queue.is_empty()
    {
        // It was sent, but the program died before it removed the draft.
        app.draft_changed();
        return Vec::new();
    }
    app.told.extend_from_slice(&draft.told);
    app.transcript.push_commands(&draft.told);
    if let Some(notice) = &draft.notice {
        app.start.notices.push(notice.clone());
        // Saved again without the notice.
        app.draft_changed();
    }
    if draft.joined().is_empty() && draft.told.is_empty() {
        return Vec::new();
    }
    if draft.joined().is_empty() {
        return app.say_for(
            "The model sees your commands' output with your next message",
            6000,
        );
    }
    if draft.is_message || !draft.queue.is_empty() {
        app.message_mut().prepend_message(&draft.joined());
    } else {
        app.message_mut().prepend(&draft.joined());
    }
    app.say_for("Your unsent text from last time is back", 6000)
}

/// Takes over the external editor's text, after text that came back meanwhile.
pub fn edited(app: &mut App, given: &str, left: Result<String, String>) {
    match left {
        Ok(text) => {
            // Editors add a final newline that the user didn't type.
            let text = text.strip_suffix('\n').unwrap_or(&text);
            let text = text.strip_suffix('\r').unwrap_or(text);
            if text == given {
                return;
            }
            let now = app.composer.text();
            let Some(brought_back) = now.strip_suffix(given) else {
                // The composer has changed meanwhile, or the rule's question is gone.
                app.message_mut().history_mut().push(text);
                let up = app.key(Action::Up);
                let told = format!("The external editor's text is in the history: press {up}");
                return drop(app.say_for(told, 8000));
            };
            // It stays a message while it starts with the text that came back.
            let is_message = app.composer.is_message()
                && (!brought_back.is_empty() || text.lines().next() == given.lines().next());
            // The user started typing it there, perhaps before the question came.
            app.text_since = app.text_since.or(app.presses.edit);
            app.composer.set(text);
            app.composer.prepend(brought_back.trim_end());
            if is_message {
                app.composer.prepend_message("");
            }
        }
        Err(error) => app.transcript.push_notice(NoticeLevel::Error, error),
    }
}

/// Forgets the first Ctrl+C or Esc: a double press must be uninterrupted.
fn end_double_press(app: &mut App) {
    stop::stay(app);
    app.presses.cancel = None;
}
