//! The search in the conversation: a line to type in, with the number of matches.

use super::{DocsRows, Picker, Popup, PopupDrawn, PopupKeys, PopupView, topmost};
use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::effects::effect::Effect;
use crate::app::tui::terminal::input::KeyPress;
use crate::app::tui::text::width::{fit_end, width};
use crate::app::tui::update::scroll;
use crate::app::tui::view::line::StyledLine;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchBar {
    pub line: Picker,
}

pub fn open(app: &mut App, query: &str) -> Vec<Effect> {
    app.transcript.begin_search();
    let mut bar = SearchBar::default();
    bar.line.type_text(query);
    app.overlays.push(bar.into());
    search(app)
}

impl PopupKeys for SearchBar {
    fn press(app: &mut App, press: KeyPress, action: Option<Action>) -> Vec<Effect> {
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
                    scroll::act(app, action);
                }
            }
            _ => {
                if topmost!(app, Search).line.press(action, press.text(), 0) {
                    return search(app);
                }
            }
        }
        Vec::new()
    }

    fn paste(app: &mut App, text: &str) -> Option<Vec<Effect>> {
        topmost!(app, Search).line.type_text(text);
        Some(search(app))
    }
}

impl PopupView for SearchBar {
    /// Draws the line in the last row of the room.
    fn draw(&self, popup: &mut Popup<'_>, _: &mut DocsRows) -> Option<PopupDrawn> {
        let app = popup.app;
        let theme = &app.theme;
        let area = popup.clear_last_row()?;
        let (enter, esc) = (app.key(Action::Accept), app.key(Action::Back));
        let found = match app.transcript.found() {
            _ if self.line.query().trim().is_empty() => String::new(),
            Some(((_, 0), true)) => "searching".to_owned(),
            Some(((_, 0), false)) | None => "no match".to_owned(),
            Some(((at, count), searching)) => {
                let more = if searching { "+" } else { "" };
                format!("{at} of {count}{more}")
            }
        };
        let keys = [
            format!("   {enter}/↑ earlier · ↓ later · {esc} close "),
            format!("   ↑↓ · {esc} close "),
        ];
        let mut right = StyledLine::of(&found, theme.popup);
        let left = usize::from(area.width).saturating_sub(right.width() + 16);
        if let Some(keys) = keys.into_iter().find(|keys| width(keys) <= left) {
            right.push(keys, popup.quiet());
        }
        let title = StyledLine::of(" Find ", theme.popup_title);
        let columns = usize::from(area.width).saturating_sub(title.width() + right.width() + 4);
        let shown = fit_end(self.line.query(), columns);
        popup.input(&title.with(shown, theme.popup), area);
        let right_columns = (right.width() as u16).min(area.width);
        let x = area.right() - right_columns;
        right.draw(popup.buffer, x, area.y, right_columns);
        Some(PopupDrawn::default())
    }
}

fn search(app: &mut App) -> Vec<Effect> {
    let query = topmost!(app, Search).line.query();
    let pages = app.transcript.search_for(query);
    vec![Effect::SearchPages(pages.map(Box::new))]
}
