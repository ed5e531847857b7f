//! Searching the conversation.

use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::effect::Effect;
use crate::app::tui::input::KeyPress;
use crate::app::tui::overlay::{Overlay, SearchBar};
use crate::app::tui::transcript::PagesSearched;

/// Opens the search; `query` is what is looked for at once.
pub fn open(app: &mut App, query: &str) -> Vec<Effect> {
    app.transcript.begin_search();
    app.overlays.push(Overlay::Search(SearchBar::default()));
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
            if let Some(Overlay::Search(bar)) = app.overlays.last_mut()
                && bar.press(action, press.text())
            {
                return search(app);
            }
        }
    }
    Vec::new()
}

pub fn paste(app: &mut App, text: &str) -> Vec<Effect> {
    if let Some(Overlay::Search(bar)) = app.overlays.last_mut() {
        bar.type_text(text);
        return search(app);
    }
    Vec::new()
}

fn search(app: &mut App) -> Vec<Effect> {
    let Some(Overlay::Search(bar)) = app.overlays.last() else {
        return Vec::new();
    };
    let pages = app.transcript.search_for(&bar.query);
    vec![Effect::SearchPages(pages.map(Box::new))]
}

pub fn searched(app: &mut App, found: PagesSearched) {
    app.transcript.add_matches(found);
}
