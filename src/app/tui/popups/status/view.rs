//! `/status`: its tabs, and the lines of the open one.

use super::state::{StatusPopup, StatusTab};
use super::{calls, context, stats};
use crate::app::tui::app::App;
use crate::app::tui::popups::{DocsRows, Popup, PopupDrawn, PopupView, session_facts};
use crate::app::tui::view::line::StyledLine;

impl PopupView for StatusPopup {
    fn draw(&self, popup: &mut Popup<'_>, _: &mut DocsRows) -> Option<PopupDrawn> {
        let lines = lines(popup.app, self, popup.text_columns());
        popup.pager("Status", &lines, self.pager)
    }
}

/// The names of the tabs, and the open one.
fn lines(app: &App, status: &StatusPopup, columns: usize) -> Vec<StyledLine> {
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
