//! The list of sessions: what is typed, the sessions that fit, and what is known of the chosen one. The
//! box is as high as all of them need, so that nothing jumps while they are filtered.

use std::path::Path;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::line::StyledLine;
use super::popup::{
    PopupDrawn, box_columns, draw_aside, draw_matches, draw_query, draw_rule, draw_text, on_row,
    open, split,
};
use super::session_facts;
use crate::agent::session::SessionState;
use crate::app::action::Action;
use crate::app::humanize::{abbreviate_home, age};
use crate::app::sanitize::visible_line;
use crate::app::sessions::{SessionRow, SessionScope, title_of};
use crate::app::tui::app::App;
use crate::app::tui::overlay::{Pager, SessionMode, SessionPicker, TextSearch};
use crate::app::tui::text::width::{ellipsis, ellipsis_middle, width};

/// Rows inside the box at most.
const MAX_ROWS: u16 = 32;
const PREVIEW_ROWS: u16 = 8;
/// Rows for why something was not done, at most.
const ERROR_ROWS: u16 = 4;
/// Rows of the list at least, where a preview stands below it.
const LIST_ROWS: u16 = 4;

pub fn draw(
    app: &App,
    list: &SessionPicker,
    room: Rect,
    buffer: &mut Buffer,
) -> Option<PopupDrawn> {
    let listed = list.tallest.clamp(1, usize::from(MAX_ROWS)) as u16;
    let preview = if list.tallest > 0 {
        PREVIEW_ROWS + 1
    } else {
        0
    };
    let most = room.height.saturating_sub(2).min(MAX_ROWS);
    let size = (
        box_columns(room),
        usize::from(most.min(1 + listed + preview)),
    );
    let title = match list.scope {
        SessionScope::Folder => "Sessions",
        SessionScope::All => "Sessions of all folders",
    };
    let area = open(app, title, size, &notes(app, list), room, buffer)?;
    let area = draw_error(app, list, area, buffer);
    let caret = draw_head(app, list, area, buffer);
    let (_, mut below) = split(area, 1);
    if preview > 0 && below.height >= preview + LIST_ROWS.min(listed) {
        let (rows, foot) = split(below, below.height - PREVIEW_ROWS - 1);
        let (rule, preview) = split(foot, 1);
        below = rows;
        draw_rule(&app.theme, rule, buffer);
        draw_preview(app, list, preview, buffer);
    }
    Some(PopupDrawn {
        caret,
        ..draw_rows(app, list, below, buffer)
    })
}

/// Why something was not done, in the last rows; the space that is left above it.
fn draw_error(app: &App, list: &SessionPicker, area: Rect, buffer: &mut Buffer) -> Rect {
    let Some(error) = &list.error else {
        return area;
    };
    let style = app.theme.popup.patch(app.theme.error);
    let lines = StyledLine::wrapped(&visible_line(error), style, usize::from(area.width));
    let rows = (lines.len() as u16).min(ERROR_ROWS).min(area.height - 1);
    let (above, below) = split(area, area.height - rows);
    draw_text(&lines, Pager::default(), below, buffer);
    above
}

/// The first row: what is typed, or what is asked.
fn draw_head(
    app: &App,
    list: &SessionPicker,
    area: Rect,
    buffer: &mut Buffer,
) -> Option<(u16, u16)> {
    let theme = &app.theme;
    match &list.mode {
        SessionMode::Choosing => {
            let caret = draw_query(app, &list.picker, area, buffer);
            draw_count(app, list, caret, area, buffer);
            Some(caret)
        }
        SessionMode::Naming(text) => {
            let label = "Name ";
            StyledLine::of(label, theme.popup.patch(theme.dim))
                .draw(buffer, area.x, area.y, area.width);
            let x = area.x + (width(label) as u16).min(area.width);
            let field = Rect {
                x,
                width: area.right() - x,
                ..area
            };
            Some(draw_query(app, text, field, buffer))
        }
        SessionMode::Removing(_) => {
            let label = visible_line(list.chosen().map_or("", SessionRow::label));
            let columns = usize::from(area.width).saturating_sub(24);
            StyledLine::of("Move “", theme.popup.patch(theme.warning))
                .with(ellipsis(&label, columns), theme.popup.patch(theme.warning))
                .with("” to the trash?", theme.popup.patch(theme.warning))
                .draw(buffer, area.x, area.y, area.width);
            None
        }
    }
}

/// How many fit, at the right of what is typed.
fn draw_count(app: &App, list: &SessionPicker, caret: (u16, u16), area: Rect, buffer: &mut Buffer) {
    let Some(rows) = &list.rows else { return };
    let all = rows.len();
    let mut count = match list.picker.matches().len() {
        fit if fit == all => format!("{all}"),
        fit => format!("{fit} of {all}"),
    };
    if list.search == TextSearch::Running {
        count = format!("searching their text · {count}");
    }
    draw_aside(app, &count, caret, area, buffer);
}

fn draw_rows(app: &App, list: &SessionPicker, area: Rect, buffer: &mut Buffer) -> PopupDrawn {
    let none = match (&list.rows, list.scope) {
        (None, _) => "Reading…",
        (Some(rows), SessionScope::Folder) if rows.is_empty() => "No other session in this folder",
        (Some(rows), SessionScope::All) if rows.is_empty() => "No other session",
        (Some(_), _) if list.due.search.is_some() || list.search == TextSearch::Running => {
            "Searching their text…"
        }
        (Some(_), _) => "Nothing found",
    };
    let shown = list.rows.as_deref().unwrap_or_default();
    let columns = Columns::of(list, usize::from(area.width));
    draw_matches(app, &list.picker, none, area, buffer, |at, style| {
        let row = shown.get(at);
        row.map_or_else(StyledLine::new, |row| columns.line(app, list, row, style))
    })
}

/// What a row has room for, in columns; 0 is not shown.
struct Columns {
    title: usize,
    state: usize,
    folder: usize,
}

/// Columns of the age, and of the air before a column.
const AGE: usize = 6;
const AIR: usize = 2;

impl Columns {
    fn of(list: &SessionPicker, width: usize) -> Self {
        let state = if list.any_open && width >= 40 { 14 } else { 0 };
        let folder = match list.scope {
            SessionScope::All if width >= 60 => width / 3,
            _ => 0,
        };
        let with_air = |columns: usize| if columns > 0 { columns + AIR } else { 0 };
        Self {
            title: width.saturating_sub(with_air(state) + with_air(folder) + AIR + AGE),
            state,
            folder,
        }
    }

    fn line(&self, app: &App, list: &SessionPicker, row: &SessionRow, base: Style) -> StyledLine {
        let theme = &app.theme;
        let tone = |style| on_row(theme, base, style);
        let quiet = tone(theme.dim);
        let label = ellipsis(&visible_line(row.label()), self.title);
        let mut line = StyledLine::of(&label, base);
        let mut used = width(&label);
        if let Some(found) = list.found.get(&row.path)
            && self.title > used + 12
            && title_of(&found.line) != row.title
        {
            let room = self.title - used - AIR;
            let text = ellipsis(&found.excerpt(room / 3), room);
            line.push("  ", base);
            line.push(&*text, quiet);
            used += AIR + width(&text);
        }
        line.push(" ".repeat(self.title.saturating_sub(used)), base);
        if self.state > 0 {
            let (label, style) = state(row.state);
            let style = match style {
                Tone::Busy => tone(theme.accent),
                Tone::Asks => tone(theme.warning),
                Tone::Quiet => quiet,
            };
            line.push(format!("  {label:<14}"), style);
        }
        if self.folder > 0 {
            let folder = abbreviate_home(Path::new(&row.cwd), app.status.home.as_deref());
            let folder = ellipsis_middle(&visible_line(&folder), self.folder);
            let pad = " ".repeat(self.folder - width(&folder));
            line.push(format!("  {folder}{pad}"), quiet);
        }
        line.push(format!("  {:>AGE$}", age(app.now - row.changed)), quiet);
        line
    }
}

enum Tone {
    Busy,
    Asks,
    Quiet,
}

fn state(state: SessionState) -> (&'static str, Tone) {
    match state {
        SessionState::Processing => ("processing", Tone::Busy),
        SessionState::AwaitingInput => ("awaiting input", Tone::Asks),
        SessionState::Idle => ("open elsewhere", Tone::Quiet),
        SessionState::Closed => ("", Tone::Quiet),
    }
}

fn draw_preview(app: &App, list: &SessionPicker, area: Rect, buffer: &mut Buffer) {
    let Some(row) = list.chosen() else { return };
    let known = list.preview.as_ref().filter(|known| known.path == row.path);
    let lines = match known.map(|known| &known.facts) {
        Some(Ok(facts)) => session_facts::preview(app, facts, area),
        Some(Err(error)) => {
            let style = app.theme.popup.patch(app.theme.warning);
            StyledLine::wrapped(error, style, usize::from(area.width))
        }
        None => Vec::new(),
    };
    draw_text(&lines, Pager::default(), area, buffer);
}

fn notes(app: &App, list: &SessionPicker) -> Vec<String> {
    let key = |action| app.key(action);
    let (enter, esc) = (key(Action::Accept), key(Action::Back));
    match list.mode {
        SessionMode::Naming(_) => vec![format!(" {enter} names it · {esc} leaves it as it is ")],
        SessionMode::Removing(_) => vec![format!(" {enter} move it there · {esc} keep it ")],
        SessionMode::Choosing => {
            let folders = match list.scope {
                SessionScope::Folder => "all folders",
                SessionScope::All => "this folder",
            };
            // Without any there is nothing to choose.
            if list.rows.as_ref().is_some_and(Vec::is_empty) {
                let tab = key(Action::SessionFolders);
                return vec![format!(" {tab} {folders} · {esc} closes ")];
            }
            let (rename, remove) = (key(Action::SessionRename), key(Action::SessionRemove));
            let (tab, copy) = (key(Action::SessionFolders), key(Action::SessionCopy));
            vec![
                format!(
                    " {enter} opens · {copy} a copy · {rename} renames · {remove} removes · {tab} {folders} · {esc} closes "
                ),
                format!(" {enter} opens · {rename} renames · {remove} removes · {tab} {folders} "),
                format!(" {enter} opens · {tab} {folders} · {esc} closes "),
                format!(" {enter} · {tab} · {esc} "),
            ]
        }
    }
}
