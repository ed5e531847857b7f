//! The list of models: the query, the matches, and the details of the selected one. The box keeps
//! its size, so that nothing jumps.

use ratatui_core::layout::Rect;
use ratatui_core::style::Style;

use super::details;
use super::state::{ModelPicker, same};
use crate::app::action::Action;
use crate::app::humanize::window;
use crate::app::models::{KeyState, ModelEntry};
use crate::app::tui::app::App;
use crate::app::tui::popups::{DocsRows, Popup, PopupDrawn, PopupView, on_row, split};
use crate::app::tui::text::width::{ellipsis, ellipsis_middle, width};
use crate::app::tui::view::line::StyledLine;
use crate::llm::Model;

/// Maximum rows inside the box.
const MAX_ROWS: usize = 32;
/// Rows for the details, on a low and on a high screen.
const DETAIL_ROWS: (u16, u16) = (5, 8);
/// Rows of a high screen's list and details.
const HIGH: u16 = 20;

impl PopupView for ModelPicker {
    fn draw(&self, popup: &mut Popup<'_>, _: &mut DocsRows) -> Option<PopupDrawn> {
        let app = popup.app;
        let area = popup.open("Models", MAX_ROWS, &notes(app))?;
        let mut below = popup.query(&self.picker, area);
        let all = app.models.listing.rows.len();
        if all > 0 {
            popup.count(&self.picker, all, "", area);
        }
        // The box may cover the place of hints.
        let said = app
            .hint
            .as_ref()
            .map(|hint| (&hint.text, app.theme.popup_title));
        let error = app.models.error.as_ref();
        let error = error.map(|error| (error, popup.style(app.theme.warning)));
        if let Some((text, style)) = error.or(said).filter(|_| below.height > 1) {
            let lines = StyledLine::wrapped(text, style, usize::from(below.width));
            let height = below.height.min(lines.len() as u16).min(below.height / 2);
            let (of_error, rest) = split(below, height);
            popup.text(&lines, of_error);
            below = rest;
        }
        let details = match below.height {
            HIGH.. => DETAIL_ROWS.1,
            _ => DETAIL_ROWS.0,
        };
        if below.height >= details + 5 {
            let (list, foot) = split(below, below.height - details - 1);
            below = list;
            let foot = popup.rule(foot);
            if let Some(entry) = self.entry(&app.models.listing) {
                let columns = usize::from(foot.width);
                let lines = details::lines(&app.theme, entry, columns);
                popup.text(&lines, foot);
            }
        }
        Some(draw_entries(popup, self, below))
    }
}

fn draw_entries(popup: &mut Popup<'_>, models: &ModelPicker, mut list: Rect) -> PopupDrawn {
    let (app, picker) = (popup.app, &models.picker);
    let none = if !app.models.is_read {
        "Reading…"
    } else if picker.query().trim().is_empty() {
        "No models"
    } else {
        "No match. Add one in models.toml"
    };
    let columns = Columns::of(usize::from(list.width));
    let entries = &app.models.listing.rows;
    let hidden = match models.hidden {
        0 => None,
        count => Some(format!(
            "  {count} more without a key · {} show them",
            app.key(Action::ListAll)
        )),
    };
    if let Some(text) = hidden.filter(|_| list.height > 2) {
        list.height -= 1;
        let listed = picker.matches().len().min(usize::from(list.height)) as u16;
        let line = StyledLine::of(text, popup.quiet());
        popup.line(&line, split(list, listed).1);
    }
    popup.matches(picker, none, list, |entry, style| {
        Some(columns.line(app, entries.get(entry)?, style))
    })
}

/// The columns of each field of a row; 0 hides a field.
struct Columns {
    id: usize,
    price: usize,
    skills: usize,
    key: usize,
}

/// Columns for the window's size, and for the mark of the current model.
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
        // Model names differ at the end.
        line.push(cell(&ellipsis_middle(&id, self.id), self.id), main);
        line.push(
            format!("  {:>WINDOW$}", window(model.context_window)),
            quiet,
        );
        if self.price > 0 {
            let price = details::price_pair(model);
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

/// What the model can do besides reading and writing text.
fn skills(model: &Model) -> String {
    let think = if model.reasoning { "think" } else { "     " };
    let see = if model.vision { "image" } else { "" };
    format!("{think} {see}")
}

/// `text` in exactly `columns` columns.
fn cell(text: &str, columns: usize) -> String {
    let text = ellipsis(text, columns);
    let pad = columns.saturating_sub(width(&text));
    text + &" ".repeat(pad)
}

fn notes(app: &App) -> [String; 3] {
    let enter = app.key(Action::Accept);
    let save = app.key(Action::SaveModel);
    let close = app.key(Action::Back);
    [
        format!(" {enter} select · {save} make it the default · {close} close "),
        format!(" {enter} select · {save} default · {close} close "),
        format!(" {enter} · {save} default · {close} "),
    ]
}
