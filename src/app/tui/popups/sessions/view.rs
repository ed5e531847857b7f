//! The list of sessions: the query, the matches, and a preview of the selected one. The box has room for
//! all of them, so that nothing jumps.

use std::path::Path;

use ratatui_core::layout::Rect;
use ratatui_core::style::Style;

use super::state::{SessionMode, SessionPicker, TextSearch};
use crate::agent::session::SessionState;
use crate::app::action::Action;
use crate::app::humanize::{abbreviate_home, age};
use crate::app::sanitize::visible_line;
use crate::app::sessions::{SessionRow, SessionScope, short_id, title_of};
use crate::app::tui::app::App;
use crate::app::tui::popups::{
    DocsRows, Popup, PopupDrawn, PopupView, on_row, session_facts, split,
};
use crate::app::tui::text::width::{ellipsis, ellipsis_middle, width};
use crate::app::tui::view::line::StyledLine;

/// Maximum rows inside the box.
const MAX_ROWS: u16 = 32;
/// Includes its rule.
const PREVIEW_ROWS: u16 = 9;
const ERROR_ROWS: u16 = 4;
/// Minimum rows of the list above a preview.
const LIST_ROWS: u16 = 4;

impl PopupView for SessionPicker {
    fn draw(&self, popup: &mut Popup<'_>, _: &mut DocsRows) -> Option<PopupDrawn> {
        let listed = self.tallest.clamp(1, usize::from(MAX_ROWS)) as u16;
        let preview = PREVIEW_ROWS * u16::from(self.tallest > 0);
        let rows = MAX_ROWS.min(1 + listed + preview);
        let title = match self.scope {
            SessionScope::Folder => "Sessions",
            SessionScope::All => "Sessions in all folders",
        };
        let area = popup.open(title, rows.into(), &notes(popup.app, self))?;
        let area = draw_error(popup, self, area);
        draw_head(popup, self, area);
        let (_, mut below) = split(area, 1);
        if preview > 0 && below.height >= preview + LIST_ROWS.min(listed) {
            let (rows, foot) = split(below, below.height - preview);
            below = rows;
            let foot = popup.rule(foot);
            draw_preview(popup, self, foot);
        }
        Some(draw_rows(popup, self, below))
    }
}

/// Draws the error in the last rows. Returns the area above it.
fn draw_error(popup: &mut Popup<'_>, list: &SessionPicker, area: Rect) -> Rect {
    let Some(error) = &list.error else {
        return area;
    };
    let style = popup.style(popup.app.theme.error);
    let lines = StyledLine::wrapped(&visible_line(error), style, usize::from(area.width));
    let rows = (lines.len() as u16).min(ERROR_ROWS).min(area.height - 1);
    let (above, below) = split(area, area.height - rows);
    popup.text(&lines, below);
    above
}

/// Draws the first row: the query or the question.
fn draw_head(popup: &mut Popup<'_>, list: &SessionPicker, area: Rect) {
    match &list.mode {
        SessionMode::Choosing => {
            popup.query(&list.picker, area);
            let before = match list.search {
                TextSearch::Running => "searching text · ",
                _ => "",
            };
            if let Some(rows) = &list.rows {
                popup.count(&list.picker, rows.len(), before, area);
            }
        }
        SessionMode::Naming(_, text) => {
            let label = "Name ";
            popup.line(&StyledLine::of(label, popup.quiet()), area);
            let x = area.x + (width(label) as u16).min(area.width);
            let field = Rect {
                x,
                width: area.right() - x,
                ..area
            };
            popup.query(text, field);
        }
        SessionMode::Removing(path, _) => {
            let label = visible_line(list.label_of(path));
            let columns = usize::from(area.width).saturating_sub(24);
            let asks = format!("Move “{}” to the trash?", ellipsis(&label, columns));
            let style = popup.style(popup.app.theme.warning);
            popup.line(&StyledLine::of(asks, style), area);
        }
    }
}

fn draw_rows(popup: &mut Popup<'_>, list: &SessionPicker, area: Rect) -> PopupDrawn {
    let none = match (&list.rows, list.scope) {
        (None, _) => "Reading…",
        (Some(rows), SessionScope::Folder) if rows.is_empty() => "No other sessions in this folder",
        (Some(rows), SessionScope::All) if rows.is_empty() => "No other sessions",
        (Some(_), _) if list.due.search.is_some() || list.search == TextSearch::Running => {
            "Searching their text…"
        }
        (Some(_), _) => "No match",
    };
    let shown = list.rows.as_deref().unwrap_or_default();
    let columns = Columns::of(list, usize::from(area.width));
    let app = popup.app;
    popup.matches(&list.picker, none, area, |at, style| {
        Some(columns.line(app, list, shown.get(at)?, style))
    })
}

/// The columns of each field of a row; 0 hides a field.
struct Columns {
    title: usize,
    state: usize,
    folder: usize,
}

/// Columns for the age, and for the space before a column.
const AGE: usize = 10;
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
        // Its id tells it apart from others with the same name.
        let mut others = list.rows.iter().flatten().filter(|it| it.path != row.path);
        let twin = others.find(|other| other.label() == row.label());
        let id = twin.map_or_else(String::new, |_| format!("  {}", short_id(&row.id)));
        let room = self.title.saturating_sub(width(&id));
        let label = ellipsis(&visible_line(row.label()), room);
        let mut line = StyledLine::of(&label, base);
        line.push(&*id, quiet);
        let mut used = width(&label) + width(&id);
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
            let (label, style) = match row.state {
                SessionState::Processing => ("working", theme.accent),
                SessionState::AwaitingInput => ("needs you", theme.warning),
                SessionState::Idle => ("open elsewhere", theme.dim),
                SessionState::Closed => ("", theme.dim),
            };
            line.push(format!("  {label:<14}"), tone(style));
        }
        if self.folder > 0 {
            let folder = abbreviate_home(Path::new(&row.cwd), app.status.home.as_deref());
            let folder = ellipsis_middle(&visible_line(&folder), self.folder);
            let pad = " ".repeat(self.folder - width(&folder));
            line.push(format!("  {folder}{pad}"), quiet);
        }
        line.push(
            format!("  {:>AGE$}", format!("{} ago", age(app.now - row.changed))),
            quiet,
        );
        line
    }
}

fn draw_preview(popup: &mut Popup<'_>, list: &SessionPicker, area: Rect) {
    let Some(row) = list.chosen() else { return };
    let known = list.preview.as_ref().filter(|known| known.path == row.path);
    let lines = match known.map(|known| &known.facts) {
        Some(Ok(facts)) => session_facts::preview(popup.app, facts, area),
        Some(Err(error)) => {
            let style = popup.style(popup.app.theme.warning);
            StyledLine::wrapped(error, style, usize::from(area.width))
        }
        None => Vec::new(),
    };
    popup.text(&lines, area);
}

fn notes(app: &App, list: &SessionPicker) -> Vec<String> {
    let key = |action| app.key(action);
    let (enter, esc) = (key(Action::Accept), key(Action::Back));
    match list.mode {
        SessionMode::Naming(..) => vec![format!(" {enter} rename · {esc} cancel ")],
        SessionMode::Removing(..) => vec![format!(" {enter} move to trash · {esc} cancel ")],
        SessionMode::Choosing => {
            let folders = match list.scope {
                SessionScope::Folder => "all folders",
                SessionScope::All => "this folder",
            };
            // There is nothing to choose without sessions.
            if list.rows.as_ref().is_some_and(Vec::is_empty) {
                let tab = key(Action::SessionFolders);
                return vec![format!(" {tab} {folders} · {esc} close ")];
            }
            let (rename, remove) = (key(Action::SessionRename), key(Action::SessionRemove));
            let (tab, copy) = (key(Action::SessionFolders), key(Action::SessionCopy));
            vec![
                format!(
                    " {enter} open · {copy} copy · {rename} rename · {remove} remove · {tab} {folders} · {esc} close "
                ),
                format!(" {enter} open · {rename} rename · {remove} remove · {tab} {folders} "),
                format!(" {enter} open · {tab} {folders} · {esc} close "),
                format!(" {enter} · {tab} · {esc} "),
            ]
        }
    }
}
