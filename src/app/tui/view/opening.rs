//! The question how to go on with a session that was not opened as it was asked for.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::answers;
use super::line::StyledLine;
use super::popup::{PopupDrawn, box_columns, draw_text, open, split, text_columns};
use crate::app::action::Action;
use crate::app::humanize::abbreviate_home;
use crate::app::tui::app::App;
use crate::app::tui::overlay::{Opening, Pager, Way};

/// Columns of a row that is cut, not wrapped.
const LONG: usize = 1000;

pub fn draw(app: &App, opening: &Opening, room: Rect, buffer: &mut Buffer) -> Option<PopupDrawn> {
    let theme = &app.theme;
    let columns = box_columns(room);
    let reason = StyledLine::wrapped(&opening.reason, theme.popup, text_columns(room));
    let head = reason.len() + 1;
    let rows = head + if opening.waits { 1 } else { opening.ways.len() };
    let (enter, esc) = (app.key(Action::Accept), app.key(Action::Back));
    let (title, note) = if opening.waits {
        ("Waiting", format!(" {esc} stop waiting "))
    } else {
        let confirms = if opening.answers.can_confirm(app.now) {
            format!(" · {enter} confirm")
        } else {
            String::new()
        };
        let note = format!(" ↑↓ select · {esc} open nothing{confirms} ");
        ("Open the session", note)
    };
    let area = open(app, title, (columns, rows), &[note], room, buffer)?;
    // On a low screen the ways stand before the reason.
    let shown = usize::from(area.height)
        .saturating_sub(rows - head)
        .min(head);
    let (head, list) = split(area, shown as u16);
    draw_text(&reason, Pager::default(), head, buffer);
    if opening.waits {
        let text = "Waiting for the other tiller to close it";
        StyledLine::of(text, theme.popup.patch(theme.dim)).draw(buffer, list.x, list.y, list.width);
        return Some(PopupDrawn::default());
    }
    let styles = answers::on_popup(theme);
    let selected = opening.answers.selected();
    for ((y, way), at) in (list.y..list.bottom()).zip(&opening.ways).zip(0..) {
        let (what, more) = words(app, way);
        let label = format!("{what:<18}  {more}");
        let row = answers::one(&label, at, selected == Some(at), styles, LONG);
        row[0].draw(buffer, list.x, y, list.width);
    }
    Some(PopupDrawn {
        list,
        ..PopupDrawn::default()
    })
}

fn words(app: &App, way: &Way) -> (&'static str, String) {
    match way {
        Way::Open => ("Open it", "if it can be written now".to_owned()),
        Way::There(folder) => {
            let folder = abbreviate_home(folder, app.status.home.as_deref());
            (
                "Go on there",
                format!("tiller works in {folder} from now on"),
            )
        }
        Way::Copy => {
            let here = app.status.place();
            (
                "Go on with a copy",
                format!("here, in {here}; the original is untouched"),
            )
        }
        Way::ReadOnly => ("Only read it", "nothing is sent or stored".to_owned()),
        Way::Wait => ("Wait", "until it is free, then go on with it".to_owned()),
    }
}
