//! The keys of the list of models.

use std::sync::Arc;

use super::state::ModelPicker;
use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::effects::effect::Effect;
use crate::app::tui::msg::FoundModel;
use crate::app::tui::popups::{Picker, PopupKeys, list, topmost};
use crate::app::tui::terminal::input::KeyPress;
use crate::app::tui::update::{models, stop};

impl PopupKeys for ModelPicker {
    fn picker(&mut self) -> Option<&mut Picker> {
        Some(&mut self.picker)
    }

    fn press(app: &mut App, press: KeyPress, action: Option<Action>) -> Vec<Effect> {
        own_key(app, action).unwrap_or_else(|| list::press(app, press, action))
    }

    fn query_changed(app: &mut App) {
        topmost!(app, Models).search(&app.models);
    }

    /// Uses the selected entry; without one the list stays open.
    fn choose(app: &mut App) -> Vec<Effect> {
        let picker = topmost!(app, Models);
        let Some(entry) = picker.entry(&app.models.listing) else {
            return Vec::new();
        };
        let found = FoundModel {
            model: Arc::clone(&entry.model),
            thinking: None,
            key: entry.key.clone(),
        };
        app.overlays.pop();
        models::choose(app, &found)
    }
}

/// Handles a key that only this list has; otherwise `None`.
fn own_key(app: &mut App, action: Option<Action>) -> Option<Vec<Effect>> {
    let picker = topmost!(app, Models);
    match action? {
        Action::Models => drop(app.overlays.pop()),
        Action::Quit if picker.picker.query().is_empty() => {
            app.overlays.pop();
            return Some(stop::quit(app));
        }
        Action::SaveModel => {
            let entry = picker.entry(&app.models.listing)?;
            return Some(vec![Effect::SaveDefault(entry.model.full_id())]);
        }
        Action::ListAll => {
            picker.all = !picker.all;
            picker.search(&app.models);
        }
        _ => return None,
    }
    Some(Vec::new())
}
