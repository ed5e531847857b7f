//! The keys of the list of themes.

use super::state::ThemePicker;
use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::effect::Effect;
use crate::app::tui::input::KeyPress;
use crate::app::tui::popups::{Overlay, Picker, PopupKeys, list, topmost};
use crate::app::tui::update::themes;

impl PopupKeys for ThemePicker {
    fn picker(&mut self) -> Option<&mut Picker> {
        Some(&mut self.picker)
    }

    /// Handles a key while the list is open, and previews the chosen theme.
    fn press(app: &mut App, press: KeyPress, action: Option<Action>) -> Vec<Effect> {
        if matches!(
            action,
            Some(Action::Back | Action::Interrupt | Action::Theme)
        ) {
            let Some(Overlay::Themes(list)) = app.overlays.pop() else {
                return Vec::new();
            };
            return themes::show(app, list.before);
        }
        let mut effects = list::press(app, press, action);
        effects.extend(themes::preview(app));
        effects
    }

    fn query_changed(app: &mut App) {
        topmost!(app, Themes).search();
    }

    fn choose(app: &mut App) -> Vec<Effect> {
        let Some(row) = topmost!(app, Themes).chosen() else {
            return Vec::new();
        };
        let wanted = row.wanted.clone();
        app.overlays.pop();
        themes::take(app, wanted)
    }
}
