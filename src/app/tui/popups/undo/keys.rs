//! `/undo`, `/redo` and `/rewind`: show what would change, ask, then do it.

use super::state::{RewindPicker, UndoQuestion, WAYS};
use crate::agent::NoticeLevel;
use crate::agent::undo::{Direction, Preview, Rewind, RewindPoint};
use crate::app::action::Action;
use crate::app::commands::undo::nothing;
use crate::app::tui::answer_delay::AnswerDelay;
use crate::app::tui::app::App;
use crate::app::tui::effects::effect::{Effect, UndoEffect};
use crate::app::tui::popups::{Overlay, Pager, Picker, PopupKeys, list, topmost};
use crate::app::tui::terminal::input::KeyPress;
use crate::app::tui::update::editor;
use crate::app::tui::update::refusal::{is_busy, is_gone, is_read_only};

pub fn act(app: &mut App, action: Action) -> Vec<Effect> {
    if is_gone(app) || is_read_only(app) || is_busy(app) {
        return Vec::new();
    }
    // "Nothing to undo" would stay beside what this does.
    app.hint = None;
    let effect = match action {
        Action::UndoTurn => UndoEffect::Preview(Direction::Undo),
        Action::RedoTurn => UndoEffect::Preview(Direction::Redo),
        _ => {
            app.overlays.push(RewindPicker::default().into());
            UndoEffect::Prompts
        }
    };
    vec![Effect::Undo(effect)]
}

pub fn previewed(app: &mut App, direction: Direction, preview: Option<Preview>) {
    let Some(preview) = preview else {
        // On the first screen, the last session may be meant.
        if direction == Direction::Undo && app.transcript.is_empty() && app.start.recent.is_some() {
            app.say_for(
                "Nothing to undo in this new session; /resume or `tiller -c` opens the last one",
                5000,
            );
            return;
        }
        return drop(app.say(nothing(direction)));
    };
    if !app.is_running() && app.overlays.is_empty() {
        let question = UndoQuestion {
            preview,
            shows_diff: false,
            pager: Pager::default(),
            delay: AnswerDelay::starting(app.now),
        };
        app.overlays.push(question.into());
    }
}

impl PopupKeys for UndoQuestion {
    fn pager(&mut self) -> Option<&mut Pager> {
        Some(&mut self.pager)
    }

    fn next_wake(&self, now: i64) -> Option<i64> {
        self.delay.next_wake(now)
    }

    fn press(app: &mut App, press: KeyPress, action: Option<Action>) -> Vec<Effect> {
        let (now, end) = (app.now, app.areas.list_end);
        let page = usize::from(app.areas.list.height.max(2) - 1);
        let question = topmost!(app, Undo);
        let is_early = !question.delay.is_over(now);
        question.delay.restart(now);
        match action {
            Some(Action::Accept) if is_early => {}
            Some(Action::Accept) => {
                let go = UndoEffect::Go(question.preview.direction, question.preview.turn.clone());
                app.overlays.pop();
                return vec![Effect::Undo(go)];
            }
            Some(Action::Back | Action::Interrupt) => drop(app.overlays.pop()),
            Some(Action::ToggleOutput) => {
                question.shows_diff = !question.shows_diff;
                question.pager = Pager::default();
            }
            None if press.text().is_some() => {
                tell_closed(app);
                return editor::write_on(app, None, press);
            }
            action => question.pager.press(action, page, end),
        }
        Vec::new()
    }
}

/// Says that nothing is undone when text closes the question.
pub fn tell_closed(app: &mut App) {
    let question = topmost!(app, Undo);
    let not = match question.preview.direction {
        Direction::Undo => "Not undone: you typed on instead",
        Direction::Redo => "Not redone: you typed on instead",
    };
    app.transcript.push_notice(NoticeLevel::Info, not);
}

pub fn prompts_read(app: &mut App, points: Vec<RewindPoint>) {
    topmost!(app, Rewind).read(points);
}

pub fn rewind_previewed(app: &mut App, entry: &str, preview: Preview) {
    let chosen = topmost!(app, Rewind).chosen.as_mut();
    if let Some(chosen) = chosen.filter(|chosen| chosen.point.entry == entry) {
        chosen.preview = Some(preview);
        chosen.delay.restart(app.now);
    }
}

/// Shows why nothing was done, and closes the list that waits for prompts.
pub fn refused(app: &mut App, why: &str) {
    if matches!(app.overlays.last(), Some(Overlay::Rewind(_))) {
        app.overlays.pop();
    }
    app.say_for(why, 8000);
}

impl PopupKeys for RewindPicker {
    fn picker(&mut self) -> Option<&mut Picker> {
        Some(match &mut self.chosen {
            Some(chosen) => &mut chosen.ways,
            None => &mut self.picker,
        })
    }

    fn press(app: &mut App, press: KeyPress, action: Option<Action>) -> Vec<Effect> {
        let list = topmost!(app, Rewind);
        let Some(chosen) = &mut list.chosen else {
            return list::press(app, press, action);
        };
        match action {
            Some(Action::Back) => list.chosen = None,
            Some(Action::Interrupt) => drop(app.overlays.pop()),
            Some(Action::Accept) => return Self::choose(app),
            // Typing means looking for another prompt.
            None if press.text().is_some() => {
                list.chosen = None;
                return list::press(app, press, action);
            }
            action => drop(chosen.ways.press(action, None, WAYS.len())),
        }
        Vec::new()
    }

    fn paste(app: &mut App, text: &str) -> Option<Vec<Effect>> {
        match topmost!(app, Rewind).chosen {
            Some(_) => None,
            None => list::paste(app, text),
        }
    }

    fn query_changed(app: &mut App) {
        let list = topmost!(app, Rewind);
        if list.chosen.is_none() {
            list.search();
        }
    }

    fn choose(app: &mut App) -> Vec<Effect> {
        let list = topmost!(app, Rewind);
        let Some(chosen) = &mut list.chosen else {
            let point = list.choose_point(app.now);
            let preview = point.map(UndoEffect::PreviewRewind).map(Effect::Undo);
            return preview.into_iter().collect();
        };
        let Some(way) = chosen.ways.chosen().and_then(|at| WAYS.get(at)) else {
            return Vec::new();
        };
        let is_early = !chosen.delay.is_over(app.now);
        if is_early || *way != Rewind::Conversation && chosen.preview.is_none() {
            // Enter pressed twice: the user hasn't seen yet which files would change.
            chosen.delay.restart(app.now);
            return Vec::new();
        }
        let go = UndoEffect::Rewind(chosen.point.clone(), *way);
        app.overlays.pop();
        vec![Effect::Undo(go)]
    }
}
