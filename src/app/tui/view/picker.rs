//! The list of models: what is typed, the models that fit, and what is known of the chosen one. The
//! box has one size on one screen, so that nothing jumps while it fills and is filtered.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::line::Line;
use super::model_details;
use super::overlay::{Over, box_columns, draw_query, foot, frame, wrap};
use crate::app::action::Action;
use crate::app::models::{KeyState, Row};
use crate::app::tui::app::App;
use crate::app::tui::overlay::{ModelPicker, same};
use crate::app::tui::text::sanitize::visible_line;
use crate::app::tui::text::width::{ellipsis, ellipsis_middle, width};
use crate::llm::Model;

/// Rows inside the box at most.
const MOST_ROWS: u16 = 32;
/// Rows for what is known of the chosen model.
const FACT_ROWS: u16 = 5;

/// Draws it.
pub fn draw(app: &App, picker: &ModelPicker, room: Rect, buffer: &mut Buffer) -> Over {
    let theme = &app.theme;
    let rows = room.height.saturating_sub(2).min(MOST_ROWS);
    let size = (box_columns(room), usize::from(rows));
    let Some(area) = frame(app, "Models", size, room, buffer) else {
        return Over::default();
    };
    let caret = draw_query(app, &picker.query, area, buffer);
    draw_count(app, picker, caret, area, buffer);
    let mut below = Rect {
        y: area.y + 1,
        height: area.height - 1,
        ..area
    };
    if let Some(fault) = app.models.fault.as_ref().filter(|_| below.height > 1) {
        let style = theme.popup.patch(theme.warning);
        let lines = wrap(&visible_line(fault), usize::from(below.width).max(1));
        for text in lines.iter().take(usize::from(below.height / 2)) {
            Line::new()
                .with(text.as_str(), style)
                .draw(buffer, below.x, below.y, below.width);
            below.y += 1;
            below.height -= 1;
        }
    }
    let row = picker.row(&app.models.listing);
    let roomy = below.height >= FACT_ROWS + 5;
    let over = Over {
        caret: Some((caret, area.y)),
        ..Over::default()
    };
    draw_keys(app, area, buffer);
    if let Some(top) = picker.details {
        draw_facts(app, row, top, below, buffer);
        return over;
    }
    let facts = if roomy { FACT_ROWS } else { 0 };
    let list = Rect {
        height: below.height - facts - u16::from(facts > 0),
        ..below
    };
    if facts > 0 {
        let line = "─".repeat(usize::from(area.width));
        Line::new()
            .with(line, theme.popup.patch(theme.popup_border))
            .draw(buffer, area.x, list.bottom(), area.width);
        let under = Rect {
            y: list.bottom() + 1,
            height: facts,
            ..below
        };
        draw_facts(app, row, 0, under, buffer);
    }
    let top = draw_rows(app, picker, list, buffer);
    let shown = picker
        .hits
        .len()
        .saturating_sub(top)
        .min(usize::from(list.height));
    Over {
        list: Rect {
            height: shown as u16,
            ..list
        },
        top,
        ..over
    }
}

/// How many fit, at the right of what is typed.
fn draw_count(app: &App, picker: &ModelPicker, caret: u16, area: Rect, buffer: &mut Buffer) {
    let all = app.models.listing.rows.len();
    if all == 0 {
        return;
    }
    let count = match picker.hits.len() {
        fit if fit == all => format!("{all}"),
        fit => format!("{fit} of {all}"),
    };
    let columns = width(&count) as u16;
    if caret + columns + 2 <= area.right() {
        let style = app.theme.popup.patch(app.theme.dim);
        Line::new()
            .with(count, style)
            .draw(buffer, area.right() - columns, area.y, columns);
    }
}

/// Draws the rows; which hit stands in the first of them.
fn draw_rows(app: &App, picker: &ModelPicker, list: Rect, buffer: &mut Buffer) -> usize {
    let height = usize::from(list.height);
    if height == 0 {
        return 0;
    }
    let theme = &app.theme;
    if picker.hits.is_empty() {
        let says = if !app.models.is_read {
            "Reading the list …"
        } else if picker.query.trim().is_empty() {
            "There is no model"
        } else {
            "No model fits"
        };
        Line::new()
            .with(says, theme.popup.patch(theme.dim))
            .draw(buffer, list.x, list.y, list.width);
        return 0;
    }
    let before = app
        .areas
        .list_top
        .min(picker.hits.len().saturating_sub(height));
    let top = before
        .max((picker.selected + 1).saturating_sub(height))
        .min(picker.selected);
    let columns = Columns::of(usize::from(list.width));
    let shown = picker.hits.iter().enumerate().skip(top).take(height);
    for (y, (at, row)) in (list.y..).zip(shown) {
        if let Some(row) = app.models.listing.rows.get(*row) {
            let line = columns.line(app, row, at == picker.selected);
            line.draw(buffer, list.x, y, list.width);
        }
    }
    top
}

/// What a row has room for, in columns; 0 is not shown.
struct Columns {
    id: usize,
    price: usize,
    skills: usize,
    key: usize,
}

/// Columns of the window's size, and of the mark of the model in use.
const WINDOW: usize = 5;
const MARK: usize = 2;

impl Columns {
    fn of(width: usize) -> Self {
        let (price, skills, key) = match width {
            80.. => (13, 11, 6),
            58.. => (13, 0, 6),
            _ => (0, 0, 0),
        };
        let gaps = |columns: usize| if columns > 0 { columns + 2 } else { 0 };
        let others = MARK + 2 + WINDOW + gaps(price) + gaps(skills) + gaps(key);
        Self {
            id: width.saturating_sub(others),
            price,
            skills,
            key,
        }
    }

    fn line(&self, app: &App, row: &Row, selected: bool) -> Line {
        let theme = &app.theme;
        let base = if selected {
            theme.popup_selected
        } else {
            theme.popup
        };
        let missing = matches!(row.key, KeyState::Missing(_));
        // Colours of their own would be hard to read on the chosen row's ground.
        let tone = |style| if selected { base } else { base.patch(style) };
        let quiet = tone(theme.dim);
        let model = &*row.model;
        let in_use = same(model, &app.status.model);
        let id = model.full_id();
        let mut line = Line::new().with(if in_use { "● " } else { "  " }, tone(theme.accent));
        let main = match (missing, in_use) {
            (true, _) => quiet,
            (false, true) => tone(theme.accent),
            (false, false) => base,
        };
        // What tells models apart stands at the end.
        line.push(cell(&ellipsis_middle(&id, self.id), self.id), main);
        line.push(
            format!("  {:>WINDOW$}", model_details::window(model.context_window)),
            quiet,
        );
        if self.price > 0 {
            let price = model_details::price_pair(model);
            line.push(format!("  {price:>0$}", self.price), quiet);
        }
        if self.skills > 0 {
            line.push(format!("  {}", cell(&skills(model), self.skills)), quiet);
        }
        if self.key > 0 {
            let (word, style) = if missing {
                ("no key", tone(theme.warning))
            } else {
                ("", quiet)
            };
            line.push(format!("  {}", cell(word, self.key)), style);
        }
        line
    }
}

/// What the model can do beside reading and writing text.
fn skills(model: &Model) -> String {
    let think = if model.reasoning { "think" } else { "     " };
    let see = if model.vision { "image" } else { "" };
    format!("{think} {see}")
}

/// `text` in exactly so many columns.
fn cell(text: &str, columns: usize) -> String {
    let text = ellipsis(text, columns);
    let pad = columns.saturating_sub(width(&text));
    text + &" ".repeat(pad)
}

/// What is known of `row`, from line `top` on as far as there is more than fits.
fn draw_facts(app: &App, row: Option<&Row>, top: usize, area: Rect, buffer: &mut Buffer) {
    let Some(row) = row else { return };
    let lines = model_details::lines(&app.theme, row, usize::from(area.width));
    let top = top.min(lines.len().saturating_sub(usize::from(area.height)));
    for (y, line) in (area.y..area.bottom()).zip(&lines[top..]) {
        line.draw(buffer, area.x, y, area.width);
    }
}

fn draw_keys(app: &App, area: Rect, buffer: &mut Buffer) {
    let enter = app.key(Action::Submit);
    let save = app.key(Action::SaveModel);
    let close = app.key(Action::Cancel);
    let notes = [
        format!(" {enter} chooses · {save} makes it the default · Tab details · {close} closes "),
        format!(" {enter} chooses · {save} default · {close} closes "),
        format!(" {enter} · {save} default · Tab · {close} "),
    ];
    let fits = |note: &&String| width(note) <= usize::from(area.width);
    if let Some(note) = notes.iter().find(fits) {
        foot(app, note, area, buffer);
    }
}
