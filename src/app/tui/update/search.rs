//! Searching the conversation.

use super::overlay::topmost;
use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::effect::Effect;
use crate::app::tui::input::KeyPress;
use crate::app::tui::overlay::{Overlay, Picker};

pub fn open(app: &mut App, query: &str) -> Vec<Effect> {
    app.transcript.begin_search();
    app.overlays.push(Overlay::Search(Picker::default()));
    paste(app, query)
}

pub fn press(app: &mut App, press: KeyPress, action: Option<Action>) -> Vec<Effect> {
    match action {
        Some(Action::Back | Action::Interrupt) => {
            app.overlays.pop();
            app.transcript.end_search();
            return vec![Effect::SearchPages(None)];
        }
        Some(Action::Accept | Action::Search | Action::Up | Action::ListPrevious) => {
            app.transcript.go_to_match(true);
        }
        Some(Action::Down | Action::ListNext | Action::Newline) => {
            app.transcript.go_to_match(false);
        }
        Some(Action::PageUp | Action::PageDown | Action::ScrollTop | Action::ScrollBottom) => {
            if let Some(action) = action {
                super::scroll::act(app, action);
            }
        }
        _ => {
            if topmost!(app, Search).press(action, press.text(), 0) {
                return search(app);
            }
        }
    }
    Vec::new()
}

pub fn paste(app: &mut App, text: &str) -> Vec<Effect> {
    topmost!(app, Search).type_text(text);
    search(app)
}

fn search(app: &mut App) -> Vec<Effect> {
    let bar = topmost!(app, Search);
    let pages = app.transcript.search_for(bar.query());
    vec![Effect::SearchPages(pages.map(Box::new))]
}
