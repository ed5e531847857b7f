//! The question about a session that couldn't be opened.

use super::state::{Opening, Way};
use crate::app::action::Action;
use crate::app::humanize::abbreviate_home;
use crate::app::tui::app::App;
use crate::app::tui::popups::{DocsRows, Popup, PopupDrawn, PopupView, split};
use crate::app::tui::view::answers;
use crate::app::tui::view::line::StyledLine;

/// Width of a row that is cut, not wrapped.
const LONG: usize = 1000;

impl PopupView for Opening {
    fn draw(&self, popup: &mut Popup<'_>, _: &mut DocsRows) -> Option<PopupDrawn> {
        let app = popup.app;
        let reason = StyledLine::wrapped(&self.reason, app.theme.popup, popup.text_columns());
        let head = reason.len() + 1;
        let rows = head + if self.waits { 1 } else { self.ways.len() };
        let esc = app.key(Action::Back);
        let (title, note) = if self.waits {
            ("Waiting", format!(" {esc} stop waiting "))
        } else {
            let confirms = popup.confirm_key(&self.answers);
            let note = format!(" ↑↓ select · {esc} cancel{confirms} ");
            ("Open session", note)
        };
        let area = popup.open(title, rows, &[note])?;
        // On a low screen the choices take precedence over the reason.
        let shown = usize::from(area.height)
            .saturating_sub(rows - head)
            .min(head);
        let (head, list) = split(area, shown as u16);
        popup.text(&reason, head);
        if self.waits {
            let text = "Waiting for the other tiller to close it";
            popup.line(&StyledLine::of(text, popup.quiet()), list);
            return Some(PopupDrawn::default());
        }
        let styles = answers::on_popup(&app.theme);
        let selected = self.answers.selected();
        for ((row, way), at) in list.rows().zip(&self.ways).zip(0..) {
            let (what, more) = words(app, way);
            let label = format!("{what:<18}  {more}");
            let answer = answers::one(&label, at, selected == Some(at), styles, LONG);
            popup.line(&answer[0], row);
        }
        Some(PopupDrawn {
            list,
            ..PopupDrawn::default()
        })
    }
}

fn words(app: &App, way: &Way) -> (&'static str, String) {
    match way {
        Way::Open => (
            "Open it",
            "and write to it, if nothing else has it open".to_owned(),
        ),
        Way::There(folder) => {
            let folder = abbreviate_home(folder, app.status.home.as_deref());
            ("Continue there", format!("tiller moves to {folder}"))
        }
        Way::Copy => {
            let here = app.status.place();
            (
                "Continue in a copy",
                format!("here, in {here}; the original is untouched"),
            )
        }
        Way::ReadOnly => ("Read only", "nothing sent or saved".to_owned()),
        Way::Wait => ("Wait", "until it's free, then open it".to_owned()),
    }
}
