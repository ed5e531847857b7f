//! The list of settings: opening it, and its keys. tiller saves each change to config.toml.

use toml::Value;

use super::state::SettingsPicker;
use crate::agent::permission::PermissionMode;
use crate::app::action::Action;
use crate::app::commands;
use crate::app::config::SettingRow;
use crate::app::tui::app::App;
use crate::app::tui::effects::effect::Effect;
use crate::app::tui::popups::{FullFor, Overlay, Picker, PopupKeys, list, topmost};
use crate::app::tui::terminal::input::KeyPress;
use crate::app::tui::theme::AUTO;
use crate::app::tui::update::{models, permission};

pub fn open(app: &mut App, typed: &str) -> Vec<Effect> {
    let names = app.themes.themes.names().map(str::to_owned);
    let mut list = SettingsPicker {
        themes: std::iter::once(AUTO.to_owned()).chain(names).collect(),
        ..SettingsPicker::default()
    };
    list.picker.type_text(typed);
    app.overlays.push(list.into());
    vec![Effect::ReadSettings]
}

pub fn read(app: &mut App, rows: Result<Vec<SettingRow>, String>) {
    let list = topmost!(app, Settings);
    match rows {
        Ok(rows) => list.read(rows),
        Err(error) => {
            list.rows = Some(Vec::new());
            list.fault = Some(error);
        }
    }
}

impl PopupKeys for SettingsPicker {
    fn picker(&mut self) -> Option<&mut Picker> {
        Some(self.typing.as_mut().unwrap_or(&mut self.picker))
    }

    fn press(app: &mut App, press: KeyPress, action: Option<Action>) -> Vec<Effect> {
        let list = topmost!(app, Settings);
        list.fault = None;
        if let Some(line) = &mut list.typing {
            match action {
                Some(Action::Back | Action::Interrupt) => list.typing = None,
                Some(Action::Accept) => return keep_typed(app),
                action => drop(line.press(action, press.text(), 1)),
            }
            return Vec::new();
        }
        match action {
            Some(Action::Left) => change(app, -1),
            Some(Action::Right) => change(app, 1),
            Some(Action::DeleteForward) => {
                list.ahead = None;
                let set = list.chosen().filter(|row| row.is_set);
                let key = set.map(|row| row.key.clone());
                key.map(Effect::UnsetSetting).into_iter().collect()
            }
            Some(Action::Undo) => match list.changed.clone() {
                Some((key, Some(value))) => save(app, key, value),
                Some((key, None)) => {
                    list.ahead = None;
                    vec![Effect::UnsetSetting(key)]
                }
                None => Vec::new(),
            },
            _ => list::press(app, press, action),
        }
    }

    fn query_changed(app: &mut App) {
        let list = topmost!(app, Settings);
        if list.typing.is_none() {
            list.search();
        }
    }

    /// Switches to the next value, or lets the user type one.
    fn choose(app: &mut App) -> Vec<Effect> {
        match topmost!(app, Settings).chosen().map(|row| &*row.key) {
            Some("models.default") => {
                app.overlays.pop();
                let effects = models::act(app, Action::Models, "");
                let save = app.key(Action::SaveModel);
                app.say_for(
                    format!("{save} saves the selected model as the default"),
                    6000,
                );
                return effects;
            }
            Some("permission.rules") => {
                app.overlays.pop();
                let list = commands::find("/permissions").map(|(command, _)| command);
                let list = list.map(|command| Effect::RunCommand(command, String::new()));
                return list.into_iter().collect();
            }
            _ => {}
        }
        let effects = change(app, 1);
        if effects.is_empty()
            && let Some(Overlay::Settings(list)) = app.overlays.last_mut()
            && let Some(text) = list.as_typed()
        {
            let is_number = list
                .chosen()
                .is_some_and(|row| matches!(row.value, Value::Integer(_) | Value::Float(_)));
            list.typing = Picker::holding(&text).map(|line| line.replaced(is_number));
            if list.typing.is_none() {
                let fault =
                    "Too long to edit here. Edit config.toml (`tiller config path` finds it).";
                list.fault = Some(fault.to_owned());
            }
        }
        effects
    }
}

/// Writes a setting; asks first before the mode without limits.
fn save(app: &mut App, key: String, value: Value) -> Vec<Effect> {
    if key == permission::SETTING && value.as_str() == Some(PermissionMode::Full.name()) {
        permission::ask_full(app, FullFor::NewSessions);
        return Vec::new();
    }
    write(app, key, value)
}

/// Saves a setting; the list steps on from its value.
pub fn write(app: &mut App, key: String, value: Value) -> Vec<Effect> {
    for overlay in &mut app.overlays {
        if let Overlay::Settings(list) = overlay {
            list.ahead = Some((key.clone(), value.clone()));
        }
    }
    vec![Effect::SaveSetting(key, value)]
}

fn change(app: &mut App, by: isize) -> Vec<Effect> {
    let list = topmost!(app, Settings);
    match (list.chosen(), list.next_value(by)) {
        (Some(row), Some(value)) => {
            let key = row.key.clone();
            save(app, key, value)
        }
        _ => Vec::new(),
    }
}

fn keep_typed(app: &mut App) -> Vec<Effect> {
    let list = topmost!(app, Settings);
    match (list.chosen().map(|row| row.key.clone()), list.typed_value()) {
        // The text stays until tiller has checked and saved it.
        (Some(key), Ok(value)) => save(app, key, value),
        (_, Err(error)) => {
            list.fault = Some(error);
            Vec::new()
        }
        (None, Ok(_)) => Vec::new(),
    }
}
