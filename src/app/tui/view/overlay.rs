//! Popups over the conversation: box, text and caret. The activity line below stays visible.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;

use super::docs::DocsRows;
use super::line::StyledLine;
use super::popup::{Popup, PopupDrawn, split};
use super::{
    answers, calls, context, copy, docs, help, history, login, models, opening, question, search,
    selecting, session_facts, sessions, settings, stats, themes, tree, undo,
};
use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::overlay::{Confirm, ConfirmAbout, FullFor, Overlay, StatusPopup, StatusTab};

pub fn draw(
    app: &App,
    overlay: &Overlay,
    rows: &mut DocsRows,
    area: Rect,
    buffer: &mut Buffer,
) -> Option<PopupDrawn> {
    let mut popup = Popup::new(app, area, buffer);
    let drawn = match overlay {
        Overlay::Call(pager) => {
            let (title, lines) = question::whole(app, popup.text_columns().max(8));
            popup.pager(&title, &lines, *pager)
        }
        Overlay::Status(status) => {
            let lines = status_lines(app, status, popup.text_columns());
            popup.pager("Status", &lines, status.pager)
        }
        Overlay::Help(list) => help::draw(&mut popup, list),
        Overlay::Docs(page) => docs::draw(&mut popup, page, rows),
        Overlay::Confirm(confirm) => draw_confirm(&mut popup, confirm),
        Overlay::Undo(question) => undo::draw(&mut popup, question),
        Overlay::Rewind(list) => undo::draw_rewind(&mut popup, list),
        Overlay::HistorySearch(list) => history::draw(&mut popup, &list.picker),
        Overlay::Search(bar) => search::draw(&mut popup, bar),
        Overlay::Selecting(unit) => selecting::draw(&mut popup, *unit),
        Overlay::Copy(list) => copy::draw(&mut popup, list),
        Overlay::Models(models) => models::draw(&mut popup, models),
        Overlay::Settings(list) => settings::draw(&mut popup, list),
        Overlay::Login(login) => login::draw(&mut popup, login),
        Overlay::Themes(list) => themes::draw(&mut popup, list),
        Overlay::Tree(picker) => tree::draw(&mut popup, picker),
        Overlay::Sessions(list) => sessions::draw(&mut popup, list),
        Overlay::Opening(opening) => opening::draw(&mut popup, opening),
    };
    let caret = popup.caret;
    drawn.map(|drawn| PopupDrawn { caret, ..drawn })
}

/// The names of the tabs, and the open one.
fn status_lines(app: &App, status: &StatusPopup, columns: usize) -> Vec<StyledLine> {
    let quiet = app.theme.popup.patch(app.theme.dim);
    let mut tabs = StyledLine::new();
    for (tab, name) in StatusTab::ALL {
        let style = if tab == status.tab {
            app.theme.popup_selected
        } else {
            quiet
        };
        tabs.push(format!(" {name} "), style);
    }
    tabs.push("  ←→", quiet);
    let note = |text: &str| StyledLine::wrapped(text, quiet, columns);
    let mut lines = vec![tabs, StyledLine::new()];
    lines.extend(match status.tab {
        StatusTab::Cost => stats::lines(app),
        StatusTab::Context => context::lines(app, status.context.as_deref(), columns),
        StatusTab::Session => match &status.facts {
            Some(Ok(facts)) => session_facts::lines(app, facts, columns),
            Some(Err(error)) => note(error),
            None if app.status.session.is_none() => note("This run isn't stored"),
            None => note("Reading…"),
        },
        StatusTab::Calls => calls::lines(app, status, columns),
    });
    lines
}

fn draw_confirm(popup: &mut Popup<'_>, confirm: &Confirm) -> Option<PopupDrawn> {
    let full = (
        "Turn off all safety checks?",
        "tiller won't ask, and commands run without a sandbox.",
    );
    let ((title, text), labels) = match confirm.about {
        ConfirmAbout::Leave => (
            ("Quit?", "The agent is still working. Quit anyway?"),
            ["Yes, stop and quit", "No"],
        ),
        ConfirmAbout::Full(FullFor::Session) => (full, ["Yes, for this session", "No"]),
        ConfirmAbout::Full(FullFor::NewSessions) => (full, ["Yes, for all new sessions", "No"]),
    };
    let app = popup.app;
    let inside = popup.text_columns();
    let mut lines = StyledLine::wrapped(text, app.theme.popup, inside);
    // Even the smallest screen shows the answers.
    let height = popup.most_rows();
    lines.truncate(height.saturating_sub(Confirm::ANSWERS));
    if lines.len() + Confirm::ANSWERS < height {
        lines.push(StyledLine::new());
    }
    let labels = labels.map(str::to_owned);
    let selected = confirm.answers.selected();
    let styles = answers::on_popup(&app.theme);
    let list = answers::rows(&labels, selected, styles, inside);
    let (top, count) = (lines.len() as u16, list.len() as u16);
    lines.extend(list);
    let esc = app.key(Action::Back);
    let confirms = popup.confirm_key(&confirm.answers);
    let notes = [format!(" ↑↓ select · {esc} cancel{confirms} ")];
    let area = popup.open(title, lines.len(), &notes)?;
    popup.text(&lines, area);
    Some(PopupDrawn {
        list: split(split(area, top).1, count).0,
        ..PopupDrawn::default()
    })
}
