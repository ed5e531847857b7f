//! Stopping: the run, the text, the program. What Esc, Ctrl+C and Ctrl+D come to.

use super::{questions, scroll, shell, tree};
use crate::agent::RunState;
use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::effect::{Effect, TerminalEffect};
use crate::app::tui::options::ExitKind;
use crate::app::tui::overlay::{Confirm, ConfirmAbout, Overlay, TreePurpose};

/// Ctrl+C twice within this many milliseconds leaves.
const LEAVE_MS: i64 = 2000;
/// Esc twice within this many milliseconds is one thing.
const DOUBLE_MS: i64 = 500;
/// So long after it was vim's, Esc stops nothing.
const VIM_MS: i64 = 1000;
/// So long after an abort Esc means nothing else.
const AFTER_ABORT_MS: i64 = 1000;

/// Esc.
pub fn cancel(app: &mut App) -> Vec<Effect> {
    if questions::close_rule(app) || scroll::stop_reading(app) {
        return Vec::new();
    }
    // Who knows vim presses it twice to be in normal mode.
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
    if let Some(text) = app.composer.selected_text() {
        app.composer.deselect();
        return vec![Effect::Copy(text.into(), "the selection".to_owned())];
    }
    if let Some(effects) = shell::stop(app).or_else(|| abort(app)) {
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

/// The user goes on: the next Ctrl+C is the first one again, and nothing says otherwise.
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
    if app.is_running() {
        let confirm = Confirm::new(ConfirmAbout::Leave, app.now);
        app.overlays.push(Overlay::Confirm(confirm));
        return Vec::new();
    }
    leave(app)
}

pub fn leave(app: &mut App) -> Vec<Effect> {
    end(app, ExitKind::Quit)
}

/// Ends for this reason. What was not sent is there again at the next start, and so is what a command
/// wrote.
pub fn end(app: &mut App, kind: ExitKind) -> Vec<Effect> {
    let mut effects = shell::stop(app).unwrap_or_default();
    effects.extend([
        Effect::SaveDraft(app.draft()),
        Effect::Terminal(TerminalEffect::Exit(kind)),
    ]);
    effects
}

/// Stops the run, or kills what is still dying of the last one; `None` when nothing runs.
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
