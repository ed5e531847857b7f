//! Esc, Ctrl+C and Ctrl+D: stopping the run, clearing the text, quitting.

use super::{questions, scroll, shell};
use crate::agent::RunState;
use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::effects::effect::{Effect, TerminalEffect};
use crate::app::tui::options::ExitKind;
use crate::app::tui::popups::{Confirm, ConfirmAbout, TreePurpose, tree};

/// A second Ctrl+C within this many milliseconds quits.
const LEAVE_MS: i64 = 2000;
/// A second Esc within this many milliseconds makes a double press.
const DOUBLE_MS: i64 = 500;
/// For this long after an Esc for vim, Esc stops nothing.
const VIM_MS: i64 = 1000;
/// For this long after an abort, Esc does nothing else.
const AFTER_ABORT_MS: i64 = 1000;

/// Esc.
pub fn cancel(app: &mut App) -> Vec<Effect> {
    if questions::close_rule(app) || scroll::stop_reading(app) {
        return Vec::new();
    }
    // Vim users press Esc twice to be sure of normal mode.
    if within(app, app.presses.vim_escape, VIM_MS) {
        app.presses.vim_escape = Some(app.now);
        return Vec::new();
    }
    if let Some(effects) = shell::stop(app).or_else(|| abort(app)) {
        return effects;
    }
    let just_aborted = within(app, app.presses.abort, AFTER_ABORT_MS);
    if just_aborted || !app.composer.is_empty() {
        app.presses.cancel = None;
        app.composer.deselect();
        return Vec::new();
    }
    let double = within(app, app.presses.cancel, DOUBLE_MS);
    app.presses.cancel = Some(app.now);
    if double {
        app.presses.cancel = None;
        return tree::open(app, TreePurpose::Jump);
    }
    Vec::new()
}

/// Ctrl+C.
pub fn interrupt(app: &mut App) -> Vec<Effect> {
    if let Some(text) = app.composer.selected_text()
        && !app.composer.is_to_replace()
    {
        app.composer.deselect();
        return vec![Effect::Copy(text.into(), "the selection".to_owned())];
    }
    // Only the empty prompt shows the answers to choose from.
    let hides_answers = !app.questions.is_empty() && app.rule.is_none() && !app.composer.is_empty();
    if !hides_answers && let Some(effects) = shell::stop(app).or_else(|| abort(app)) {
        return effects;
    }
    if !app.composer.is_empty() {
        app.composer.clear();
        app.presses.interrupt = None;
        return Vec::new();
    }
    if within(app, app.presses.interrupt, LEAVE_MS) {
        return leave(app);
    }
    app.presses.interrupt = Some(app.now);
    let key = app.key(Action::Interrupt);
    app.say_for(format!("Press {key} again to exit"), LEAVE_MS)
}

/// Something else was pressed: forgets the first Ctrl+C and its hint.
pub fn stay(app: &mut App) {
    let said_until = app.presses.interrupt.take().map(|at| at + LEAVE_MS);
    let hint = app.hint.as_ref().map(|hint| hint.until);
    if said_until.is_some() && hint == said_until {
        app.hint = None;
    }
}

/// Ctrl+D.
pub fn quit(app: &mut App) -> Vec<Effect> {
    if !app.composer.is_empty() {
        app.composer.apply(Action::DeleteForward);
        return Vec::new();
    }
    if app.is_running() && app.start.client == 0 {
        let confirm = Confirm::new(ConfirmAbout::Leave, app.now);
        app.overlays.push(confirm.into());
        return Vec::new();
    }
    leave(app)
}

pub fn leave(app: &mut App) -> Vec<Effect> {
    end(app, ExitKind::Quit)
}

/// Ends the program. The next start brings back unsent text and command output.
pub fn end(app: &mut App, kind: ExitKind) -> Vec<Effect> {
    let mut effects = shell::stop(app).unwrap_or_default();
    effects.extend([
        Effect::SaveDraft(app.draft()),
        Effect::Terminal(TerminalEffect::Exit(kind)),
    ]);
    effects
}

/// Stops the run, or kills processes that outlived it; `None` if nothing runs.
fn abort(app: &mut App) -> Option<Vec<Effect>> {
    if app.run == RunState::Idle {
        return None;
    }
    app.presses.abort = Some(app.now);
    app.presses.interrupt = None;
    Some(vec![Effect::Abort])
}

fn within(app: &App, last: Option<i64>, millis: i64) -> bool {
    last.is_some_and(|last| app.now - last < millis)
}
