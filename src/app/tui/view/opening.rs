//! The question how to go on with a session that was not opened as it was asked for.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::line::StyledLine;
use super::popup::{PopupDrawn, beside, box_columns, draw_matches, open};
use crate::app::action::Action;
use crate::app::humanize::abbreviate_home;
use crate::app::tui::app::App;
use crate::app::tui::overlay::{Opening, Way};

pub fn draw(app: &App, opening: &Opening, room: Rect, buffer: &mut Buffer) -> PopupDrawn {
    let theme = &app.theme;
    let columns = box_columns(room);
    let inside = usize::from(columns.saturating_sub(4)).max(1);
    let reason = StyledLine::wrapped(&opening.reason, theme.popup, inside);
    let head = reason.len() + 1;
    let rows = head + if opening.waits { 1 } else { opening.ways.len() };
    let (enter, esc) = (app.key(Action::Submit), app.key(Action::Cancel));
    let (title, note) = if opening.waits {
        ("Waiting", format!(" {esc} waits no longer "))
    } else {
        let note = if opening.delay.is_over(app.now) {
            format!(" {enter} chooses · {esc} opens nothing ")
        } else {
            String::new()
        };
        ("Open the session", note)
    };
    let Some(area) = open(app, title, (columns, rows), &[note], room, buffer) else {
        return PopupDrawn::default();
    };
    // On a low screen the ways stand before the reason.
    let shown = usize::from(area.height)
        .saturating_sub(rows - head)
        .min(head);
    for (y, line) in (area.y..).zip(reason.iter().take(shown)) {
        line.draw(buffer, area.x, y, area.width);
    }
    let list = Rect {
        y: area.y + shown as u16,
        height: area.height - shown as u16,
        ..area
    };
    if opening.waits {
        let text = "It goes on here as soon as it is free there";
        StyledLine::of(text, theme.popup.patch(theme.dim)).draw(buffer, list.x, list.y, list.width);
        return PopupDrawn::default();
    }
    draw_matches(app, &opening.picker, "", list, buffer, |at, style| {
        let (what, more) = opening
            .ways
            .get(at)
            .map(|way| words(app, way))
            .unwrap_or_default();
        let quiet = beside(theme, style);
        StyledLine::of(format!("{}  {what:<18}", at + 1), style).with(format!("  {more}"), quiet)
    })
}

/// What a way is called, and what it means.
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
                format!("here, in {here}; that one stays as it is"),
            )
        }
        Way::ReadOnly => ("Only read it", "nothing is sent or stored".to_owned()),
        Way::Wait => ("Wait", "until it is free, then go on with it".to_owned()),
    }
}
