//! What lies over the screen: a box in the middle of the conversation, its text, and the caret where
//! it takes text. What runs and how to stop it stays visible below.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::line::StyledLine;
use super::popup::{PopupDrawn, box_columns, draw_pager, draw_text, open, split, text_columns};
use super::{
    answers, comparison, context, copy, help, history, iterations, login, models, opening,
    question, search, selecting, session_facts, sessions, settings, stats, themes, tree, undo,
};
use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::overlay::{
    Confirm, ConfirmAbout, FullFor, HelpPage, Overlay, Pager, TextPopup,
};

/// Draws it, if there is room for it.
pub fn draw(app: &App, overlay: &Overlay, area: Rect, buffer: &mut Buffer) -> Option<PopupDrawn> {
    match overlay {
        Overlay::Text(popup, pager) => {
            let (title, lines) = text(app, popup, text_columns(area));
            draw_pager(app, &title, &lines, *pager, area, buffer)
        }
        Overlay::Iterations(list) => iterations::draw(app, list, area, buffer),
        Overlay::Confirm(confirm) => draw_confirm(app, confirm, area, buffer),
        Overlay::Undo(question) => undo::draw(app, question, area, buffer),
        Overlay::Rewind(list) => undo::draw_rewind(app, list, area, buffer),
        Overlay::HistorySearch(list) => history::draw(app, &list.picker, area, buffer),
        Overlay::Search(bar) => search::draw(app, bar, area, buffer),
        Overlay::Selecting(unit) => selecting::draw(app, *unit, area, buffer),
        Overlay::Copy(list) => copy::draw(app, list, area, buffer),
        Overlay::Models(models) => models::draw(app, models, area, buffer),
        Overlay::Settings(list) => settings::draw(app, list, area, buffer),
        Overlay::Login(login) => login::draw(app, login, area, buffer),
        Overlay::Themes(list) => themes::draw(app, list, area, buffer),
        Overlay::Tree(picker) => tree::draw(app, picker, area, buffer),
        Overlay::Sessions(list) => sessions::draw(app, list, area, buffer),
        Overlay::Opening(opening) => opening::draw(app, opening, area, buffer),
    }
}

/// The title and the lines of a popup that is only read.
fn text(app: &App, popup: &TextPopup, columns: usize) -> (String, Vec<StyledLine>) {
    let (title, lines) = match popup {
        TextPopup::Help(HelpPage::First) => ("Keyboard shortcuts", help::first_lines(app)),
        TextPopup::Help(HelpPage::All) => ("Keys", help::lines(app, columns)),
        TextPopup::Stats => ("Stats", stats::lines(app)),
        TextPopup::Context(usage) => ("Context", context::lines(app, usage.as_deref(), columns)),
        TextPopup::Call => return question::whole(app, columns.max(8)),
        TextPopup::SessionFacts(facts) => ("Session", session_facts::lines(app, facts, columns)),
        TextPopup::Comparison(lines) => (
            "Two branches",
            comparison::lines(app, lines.as_deref(), columns),
        ),
    };
    (title.to_owned(), lines)
}

fn draw_confirm(
    app: &App,
    confirm: &Confirm,
    room: Rect,
    buffer: &mut Buffer,
) -> Option<PopupDrawn> {
    let (title, text, labels) = match confirm.about {
        ConfirmAbout::Leave => (
            "Leave?",
            "The agent is still working. Quit anyway?",
            ["Leave and stop the run", "Stay"],
        ),
        ConfirmAbout::Full(FullFor::Session) => (
            "Turn off all safety checks?",
            "Everything runs without asking and without a sandbox.",
            ["Yes, run everything in this session", "No"],
        ),
        ConfirmAbout::Full(FullFor::NewSessions) => (
            "Turn off all safety checks?",
            "Everything runs without asking and without a sandbox.",
            ["Yes, run everything in all new sessions", "No"],
        ),
    };
    let theme = &app.theme;
    let inside = text_columns(room);
    let mut lines = StyledLine::wrapped(text, theme.popup, inside);
    // The answers are shown on the smallest screen too.
    let height = usize::from(room.height.saturating_sub(2));
    lines.truncate(height.saturating_sub(Confirm::ANSWERS));
    if lines.len() + Confirm::ANSWERS < height {
        lines.push(StyledLine::new());
    }
    let labels = labels.map(str::to_owned);
    let selected = confirm.answers.selected();
    let styles = answers::on_popup(theme);
    let list = answers::rows(&labels, selected, styles, inside);
    let (top, count) = (lines.len() as u16, list.len() as u16);
    lines.extend(list);
    let (enter, esc) = (app.key(Action::Accept), app.key(Action::Back));
    let confirms = if confirm.answers.can_confirm(app.now) {
        format!(" · {enter} confirm")
    } else {
        String::new()
    };
    let notes = [format!(" ↑↓ select · {esc} go back{confirms} ")];
    let size = (box_columns(room), lines.len());
    let area = open(app, title, size, &notes, room, buffer)?;
    draw_text(&lines, Pager::default(), area, buffer);
    Some(PopupDrawn {
        list: split(split(area, top).1, count).0,
        ..PopupDrawn::default()
    })
}
