//! The session list: its keys, and loading its contents.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::state::{Preview, SessionMode, SessionPicker, TextSearch};
use crate::agent::NoticeLevel;
use crate::agent::session::{Found, SessionState};
use crate::app::action::{Action, Scope};
use crate::app::sessions::{Choice, SessionFacts, SessionRow, SessionScope};
use crate::app::tui::answer_delay::AnswerDelay;
use crate::app::tui::app::App;
use crate::app::tui::effects::effect::Effect;
use crate::app::tui::effects::session_effect::SessionEffect;
use crate::app::tui::popups::{Overlay, Picker, PopupKeys, list, topmost};
use crate::app::tui::terminal::input::KeyPress;
use crate::app::tui::update::sessions::open as open_session;

pub fn open(app: &mut App, words: &str) -> Vec<Effect> {
    let mut list = SessionPicker::default();
    list.picker.type_text(words);
    list.search(app.now);
    app.overlays.push(list.into());
    vec![Effect::Session(SessionEffect::List(SessionScope::Folder))]
}

/// Reads an open list again: another session is this program's own.
pub fn refresh(app: &mut App) -> Option<Effect> {
    let (list, _) = open_list(app)?;
    Some(Effect::Session(SessionEffect::List(list.scope)))
}

pub fn listed(app: &mut App, scope: SessionScope, rows: Result<Vec<SessionRow>, String>) {
    let rows = match rows {
        Ok(rows) => rows,
        Err(error) => {
            app.overlays
                .retain(|it| !matches!(it, Overlay::Sessions(_)));
            let text = format!("Couldn't read the sessions: {error}");
            return app.transcript.push_notice(NoticeLevel::Error, text);
        }
    };
    let own = app.status.session.as_ref().map(|session| &session.file);
    let others = rows.into_iter().filter(|row| Some(&row.path) != own);
    let others = others.collect();
    if let Some((list, now)) = open_list(app).filter(|(list, _)| list.scope == scope) {
        list.set_rows(others, now);
    }
}

pub fn found(app: &mut App, query: &str, found: Vec<(PathBuf, Found)>, search: TextSearch) {
    if let Some((list, now)) = open_list(app) {
        list.add_found(query, found, search, now);
    }
}

pub fn previewed(app: &mut App, path: PathBuf, facts: Result<Arc<SessionFacts>, String>) {
    if let Some((list, _)) = open_list(app)
        && list.chosen().is_some_and(|row| row.path == path)
    {
        list.preview = Some(Preview { path, facts });
    }
}

pub fn states(app: &mut App, states: &HashMap<PathBuf, SessionState>) {
    if let Some((list, now)) = open_list(app) {
        list.set_states(states, now);
    }
}

pub fn renamed(app: &mut App, path: &Path, name: &str, renamed: Result<(), String>) {
    match renamed {
        Ok(()) => {
            if let Some((list, now)) = open_list(app) {
                let name = (!name.is_empty()).then(|| name.to_owned());
                list.set_name(path, name, now);
            }
        }
        Err(error) => not_done(app, error),
    }
}

/// The outcome of moving a session to the trash, with the trash folder.
pub fn removed(app: &mut App, path: &Path, removed: Result<PathBuf, String>) {
    match removed {
        Ok(folder) => {
            if let Some((list, now)) = open_list(app) {
                list.remove(path, now);
            }
            app.say_for(format!("Moved to {}", folder.display()), 8000);
        }
        Err(error) => not_done(app, error),
    }
}

/// Shows an error in the open list, since it covers the conversation.
fn not_done(app: &mut App, error: String) {
    match open_list(app) {
        Some((list, _)) => list.error = Some(error),
        None => app.transcript.push_notice(NoticeLevel::Error, error),
    }
}

pub fn tick(app: &mut App) -> Vec<Effect> {
    let Some((list, now)) = open_list(app) else {
        return Vec::new();
    };
    let is_due = |at: &mut i64| *at <= now;
    let mut effects = Vec::new();
    if list.due.search.take_if(is_due).is_some() {
        list.search = TextSearch::Running;
        let query = list.picker.query().to_owned();
        effects.push(Effect::Session(SessionEffect::Search(query, list.scope)));
    }
    if list.due.preview.take_if(is_due).is_some()
        && let Some(row) = list.chosen()
    {
        effects.push(Effect::Session(SessionEffect::Preview(row.path.clone())));
    }
    if list.due.states.take_if(is_due).is_some() {
        effects.push(Effect::Session(SessionEffect::ReadStates));
    }
    effects
}

pub fn look(app: &mut App) {
    if let Some((list, now)) = open_list(app) {
        list.look(now);
    }
}

impl PopupKeys for SessionPicker {
    fn scope(&self) -> Scope {
        match self.mode {
            SessionMode::Choosing => Scope::Sessions,
            _ => Scope::List,
        }
    }

    fn picker(&mut self) -> Option<&mut Picker> {
        match &mut self.mode {
            SessionMode::Choosing => Some(&mut self.picker),
            SessionMode::Naming(_, text) => Some(text),
            SessionMode::Removing(..) => None,
        }
    }

    fn next_wake(&self, _: i64) -> Option<i64> {
        self.due.next()
    }

    fn press(app: &mut App, press: KeyPress, action: Option<Action>) -> Vec<Effect> {
        let effects = own_key(app, press, action);
        let effects = effects.unwrap_or_else(|| list::press(app, press, action));
        look(app);
        effects
    }

    fn query_changed(app: &mut App) {
        let list = topmost!(app, Sessions);
        if list.mode == SessionMode::Choosing {
            list.search(app.now);
        }
    }

    /// Opens the chosen session; without one the list stays open.
    fn choose(app: &mut App) -> Vec<Effect> {
        take(app, Choice::Open)
    }
}

/// Handles a key that only this list has; otherwise `None`.
fn own_key(app: &mut App, press: KeyPress, action: Option<Action>) -> Option<Vec<Effect>> {
    let (list, _) = open_list(app)?;
    list.error = None;
    match &mut list.mode {
        SessionMode::Choosing => choosing(app, action?),
        SessionMode::Naming(..) => Some(naming(list, press, action)),
        SessionMode::Removing(..) => removing(app, press, action),
    }
}

fn choosing(app: &mut App, action: Action) -> Option<Vec<Effect>> {
    let (list, now) = open_list(app)?;
    match action {
        Action::SessionFolders => {
            let scope = match list.scope {
                SessionScope::Folder => SessionScope::All,
                SessionScope::All => SessionScope::Folder,
            };
            let mut picker = Picker::default();
            picker.type_text(list.picker.query());
            *list = SessionPicker {
                picker,
                scope,
                tallest: list.tallest,
                ..SessionPicker::default()
            };
            list.search(now);
            return Some(vec![
                Effect::Session(SessionEffect::StopReading),
                Effect::Session(SessionEffect::List(scope)),
            ]);
        }
        Action::SessionRename if list.chosen()?.is_open() => {
            return Some(app.say("Open in another tiller: rename it there"));
        }
        Action::SessionRename => rename(list),
        Action::SessionRemove if list.chosen()?.is_open() => {
            return Some(app.say("Open in another tiller: close it there first"));
        }
        Action::SessionRemove => {
            let path = list.chosen()?.path.clone();
            list.mode = SessionMode::Removing(path, AnswerDelay::starting(now));
        }
        Action::SessionCopy => return Some(take(app, Choice::Fork)),
        Action::Back | Action::Interrupt => {
            app.overlays.pop();
            return Some(vec![Effect::Session(SessionEffect::StopReading)]);
        }
        _ => return None,
    }
    Some(Vec::new())
}

fn rename(list: &mut SessionPicker) {
    let Some(row) = list.chosen() else { return };
    let mut text = Picker::default();
    text.type_text(row.name.as_deref().unwrap_or(&row.title));
    list.mode = SessionMode::Naming(row.path.clone(), text);
}

fn naming(list: &mut SessionPicker, press: KeyPress, action: Option<Action>) -> Vec<Effect> {
    let SessionMode::Naming(path, text) = &mut list.mode else {
        return Vec::new();
    };
    match action {
        Some(Action::Back | Action::Interrupt) => list.mode = SessionMode::Choosing,
        Some(Action::Accept) => {
            let rename = SessionEffect::Rename(path.clone(), text.query().trim().to_owned());
            list.mode = SessionMode::Choosing;
            return vec![Effect::Session(rename)];
        }
        action => drop(text.press(action, press.text(), 0)),
    }
    Vec::new()
}

fn removing(app: &mut App, press: KeyPress, action: Option<Action>) -> Option<Vec<Effect>> {
    let (list, now) = open_list(app)?;
    let SessionMode::Removing(path, delay) = &mut list.mode else {
        return None;
    };
    let is_early = !delay.is_over(now);
    delay.restart(now);
    match action {
        Some(Action::Accept) if !is_early => {
            let remove = SessionEffect::Remove(path.clone());
            list.mode = SessionMode::Choosing;
            return Some(vec![Effect::Session(remove)]);
        }
        Some(Action::Back | Action::Interrupt) => list.mode = SessionMode::Choosing,
        // Typing means looking for another session.
        None if press.text().is_some() => {
            list.mode = SessionMode::Choosing;
            return None;
        }
        _ => {}
    }
    Some(Vec::new())
}

fn take(app: &mut App, how: impl FnOnce(PathBuf) -> Choice) -> Vec<Effect> {
    let chosen = open_list(app).filter(|(list, _)| list.mode == SessionMode::Choosing);
    let Some(path) = chosen.and_then(|(list, _)| Some(list.chosen()?.path.clone())) else {
        return Vec::new();
    };
    app.overlays.pop();
    let mut effects = vec![Effect::Session(SessionEffect::StopReading)];
    effects.extend(open_session(app, how(path)));
    effects
}

/// The list, if it's open, and the current time.
fn open_list(app: &mut App) -> Option<(&mut SessionPicker, i64)> {
    let mut overlays = app.overlays.iter_mut().rev();
    let list = overlays.find_map(|it| match it {
        Overlay::Sessions(list) => Some(&mut **list),
        _ => None,
    });
    Some((list?, app.now))
}
