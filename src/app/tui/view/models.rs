//! The list of models: what is typed, the models that fit, and what is known of the chosen one. The
//! box has one size on one screen, so that nothing jumps while it fills and is filtered.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::line::StyledLine;
use super::model_details;
use super::popup::{
    PopupDrawn, box_columns, draw_aside, draw_matches, draw_query, draw_rule, draw_text, on_row,
    open, split,
};
use crate::app::action::Action;
use crate::app::humanize::window;
use crate::app::models::{KeyState, ModelEntry};
use crate::app::tui::app::App;
use crate::app::tui::overlay::{ModelPicker, Pager, Picker, same};
use crate::app::tui::text::width::{ellipsis, ellipsis_middle, width};
use crate::llm::Model;

/// Rows inside the box at most.
const MAX_ROWS: u16 = 32;
const DETAIL_ROWS: u16 = 5;

pub fn draw(
    app: &App,
    models: &ModelPicker,
    room: Rect,
    buffer: &mut Buffer,
) -> Option<PopupDrawn> {
    let theme = &app.theme;
    let picker = &models.picker;
    let rows = room.height.saturating_sub(2).min(MAX_ROWS);
    let size = (box_columns(room), usize::from(rows));
    let area = open(app, "Models", size, &notes(app), room, buffer)?;
    let caret = draw_query(app, picker, area, buffer);
    draw_count(app, picker, caret, area, buffer);
    let (_, mut below) = split(area, 1);
    if let Some(error) = app.models.error.as_ref().filter(|_| below.height > 1) {
        let style = theme.popup.patch(theme.warning);
        let lines = StyledLine::wrapped(error, style, usize::from(below.width));
        let height = below.height.min(lines.len() as u16).min(below.height / 2);
        let (of_error, rest) = split(below, height);
        draw_text(&lines, Pager::default(), of_error, buffer);
        below = rest;
    }
    let drawn = if let Some(pager) = models.details {
        draw_details(app, models, pager, below, buffer)
    } else {
        let details = if below.height >= DETAIL_ROWS + 5 {
            DETAIL_ROWS
        } else {
            0
        };
        let (list, foot) = split(below, below.height - details - u16::from(details > 0));
        if details > 0 {
            let (rule, under) = split(foot, 1);
            draw_rule(theme, rule, buffer);
            draw_details(app, models, Pager::default(), under, buffer);
        }
        draw_entries(app, models, list, buffer)
    };
    Some(drawn.with_caret(caret))
}

/// How many fit, at the right of what is typed.
fn draw_count(app: &App, picker: &Picker, caret: (u16, u16), area: Rect, buffer: &mut Buffer) {
    let all = app.models.listing.rows.len();
    if all == 0 {
        return;
    }
    let count = match picker.matches().len() {
        fit if fit == all => format!("{all}"),
        fit => format!("{fit} of {all}"),
    };
    draw_aside(app, &count, caret, area, buffer);
}

fn draw_entries(app: &App, models: &ModelPicker, list: Rect, buffer: &mut Buffer) -> PopupDrawn {
    let picker = &models.picker;
    let none = if !app.models.is_read {
        "Reading the list …"
    } else if picker.query().trim().is_empty() {
        "There is no model"
    } else {
        "No match"
    };
    let columns = Columns::of(usize::from(list.width));
    let entries = &app.models.listing.rows;
    let hidden = match models.hidden {
        0 => None,
        count => Some(format!(
            "  {count} more without a key · {} shows them",
            app.key(Action::ListAll)
        )),
    };
    let mut list = list;
    if let Some(text) = hidden.filter(|_| list.height > 2) {
        list.height -= 1;
        let listed = picker.matches().len().min(usize::from(list.height)) as u16;
        let style = app.theme.popup.patch(app.theme.dim);
        StyledLine::of(text, style).draw(buffer, list.x, list.y + listed, list.width);
    }
    draw_matches(app, picker, none, list, buffer, |entry, style| {
        let entry = entries.get(entry);
        entry.map_or_else(StyledLine::new, |entry| columns.line(app, entry, style))
    })
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

    fn line(&self, app: &App, entry: &ModelEntry, base: Style) -> StyledLine {
        let theme = &app.theme;
        let missing = matches!(entry.key, KeyState::Missing(_));
        let tone = |style| on_row(theme, base, style);
        let quiet = tone(theme.dim);
        let model = &*entry.model;
        let in_use = same(model, &app.status.model);
        let id = model.full_id();
        let mut line = StyledLine::of(if in_use { "● " } else { "  " }, tone(theme.accent));
        let main = match (missing, in_use) {
            (true, _) => quiet,
            (false, true) => tone(theme.accent),
            (false, false) => base,
        };
        // What tells models apart stands at the end.
        line.push(cell(&ellipsis_middle(&id, self.id), self.id), main);
        line.push(
            format!("  {:>WINDOW$}", window(model.context_window)),
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
            let (label, style) = if missing {
                ("no key", tone(theme.warning))
            } else {
                ("", quiet)
            };
            line.push(format!("  {}", cell(label, self.key)), style);
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

fn draw_details(
    app: &App,
    models: &ModelPicker,
    pager: Pager,
    area: Rect,
    buffer: &mut Buffer,
) -> PopupDrawn {
    let Some(entry) = models.entry(&app.models.listing) else {
        return PopupDrawn::default();
    };
    let lines = model_details::lines(&app.theme, entry, usize::from(area.width));
    draw_text(&lines, pager, area, buffer)
}

fn notes(app: &App) -> [String; 3] {
    let enter = app.key(Action::Accept);
    let save = app.key(Action::SaveModel);
    let details = app.key(Action::ListDetails);
    let close = app.key(Action::Back);
    [
        format!(
            " {enter} chooses · {save} makes it the default · {details} details · {close} closes "
        ),
        format!(" {enter} chooses · {save} default · {close} closes "),
        format!(" {enter} · {save} default · {details} · {close} "),
    ]
}
