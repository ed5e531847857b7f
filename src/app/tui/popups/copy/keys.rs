//! The keys of the list of things to copy.

use super::state::CopyPicker;
use crate::app::tui::app::App;
use crate::app::tui::effect::Effect;
use crate::app::tui::popups::{Picker, PopupKeys, topmost};
use crate::app::tui::update::copy;

impl PopupKeys for CopyPicker {
    fn picker(&mut self) -> Option<&mut Picker> {
        Some(&mut self.picker)
    }

    fn query_changed(app: &mut App) {
        topmost!(app, Copy).search();
    }

    fn choose(app: &mut App) -> Vec<Effect> {
        let list = topmost!(app, Copy);
        let item = list.chosen().cloned();
        app.overlays.pop();
        item.map_or_else(Vec::new, |item| copy::copy(app, &item, item.kind.name()))
    }
}
