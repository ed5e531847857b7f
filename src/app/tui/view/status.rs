//! The status line: folder and branch, session, model, context, tokens, cost. A narrow screen drops
//! the least important parts.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;

use super::line::StyledLine;
use crate::agent::{Budget, BudgetLimit};
use crate::app::humanize::{cents, short};
use crate::app::tui::app::{App, Status};
use crate::app::tui::text::width::{ellipsis, width};
use crate::app::tui::theme::Theme;
use crate::llm::ThinkingLevel;

const BAR: usize = 8;
/// Columns of the screen from which token counts are shown.
const TOKENS_FROM: usize = 138;
/// Columns between two parts.
const GAP: usize = 3;
/// Maximum columns of the folder, on a wide and on a narrow screen.
const PLACE: usize = 40;
const SHORT_PLACE: usize = 18;
/// Columns of the session's name.
const MIN_NAME: usize = 30;
const MAX_NAME: usize = 50;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Detail {
    Model,
    Percent,
    Place,
    Thinking,
    Bar,
    Cost,
    Tokens,
    Session,
}

const ALL: [Detail; 8] = [
    Detail::Session,
    Detail::Tokens,
    Detail::Cost,
    Detail::Bar,
    Detail::Thinking,
    Detail::Place,
    Detail::Percent,
    Detail::Model,
];

pub fn draw(app: &App, area: Rect, buffer: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let columns = usize::from(area.width).saturating_sub(2);
    for detail in ALL {
        let right = right(&app.status, &app.theme, detail, columns);
        // The end of a path identifies a folder, so the cost stays longer than the whole path.
        let short = (detail < Detail::Tokens).then_some(SHORT_PLACE);
        for place in [PLACE].into_iter().chain(short) {
            let left = left(&app.status, &app.theme, (detail, place), columns, &right);
            let gap = GAP * usize::from(left.width() > 0 && right.width() > 0);
            if left.width() + gap + right.width() <= columns || detail == Detail::Model {
                StyledLine::draw_both(&left, &right, area, buffer);
                return;
            }
        }
    }
}

/// Folder, branch and session in the detail `most`, the folder in at most `place_columns`.
fn left(
    status: &Status,
    theme: &Theme,
    (most, place_columns): (Detail, usize),
    columns: usize,
    right: &StyledLine,
) -> StyledLine {
    let mut left = StyledLine::new();
    if most >= Detail::Place {
        left.push(place(status, place_columns), theme.status_place);
    }
    if let Some(branch) = status.branch.as_deref().filter(|_| most >= Detail::Place) {
        left.push(" on ", theme.faint);
        left.push(ellipsis(branch, 30), theme.code);
        match status.changes {
            None | Some(0) => {}
            Some(changes @ ..1000) => left.push(format!(" ±{changes}"), theme.status),
            Some(_) => left.push(" ±999+", theme.status),
        }
    }
    let session = status.session.as_ref().and_then(|session| session.label());
    if let Some(name) = session.filter(|_| most >= Detail::Session) {
        let room = columns.saturating_sub(left.width() + right.width() + 2 * GAP);
        let name = ellipsis(name, room.clamp(MIN_NAME, MAX_NAME) - 2);
        // In quotes, so that a name such as `fail` doesn't read like a state.
        left.push(format!("   \"{name}\""), theme.status);
    }
    left
}

/// The model and its usage in the detail `most`.
fn right(status: &Status, theme: &Theme, most: Detail, columns: usize) -> StyledLine {
    let mut right = StyledLine::new();
    right.push(ellipsis(&status.model.id, 40), theme.status_model);
    if status.is_demo() {
        right.push(" (scripted, no model)", theme.status);
    } else if most >= Detail::Thinking && status.level_sent() != ThinkingLevel::Off {
        right.push(format!(" {}", status.level_sent()), theme.status);
    }
    if most >= Detail::Percent {
        context(status, theme, most, &mut right);
    }
    let total = &status.total;
    if most >= Detail::Tokens
        && columns >= TOKENS_FROM
        && total.input + total.output + total.cache_read > 0
    {
        let mut text = format!("   ↑{} ↓{}", short(total.input), short(total.output));
        if total.cache_read > 0 {
            text.extend([" ↯", &short(total.cache_read)]);
        }
        right.push(text, theme.status);
    }
    if most >= Detail::Cost {
        cost(status, theme, &mut right);
    }
    right
}

fn cost(status: &Status, theme: &Theme, line: &mut StyledLine) {
    let Budget { usd, tokens } = status.budget;
    let (cost, read) = (status.total.cost.total, status.total.context_tokens());
    let style = |share: f64| match share {
        share if share >= 1.0 => theme.context_full,
        share if share >= 0.8 => theme.context_high,
        _ => theme.status,
    };
    if usd > 0.0 {
        let text = format!("   {} of {}", cents(cost), BudgetLimit::Usd(usd));
        line.push(text, style(cost / usd));
    } else if cost > 0.0 {
        line.push(format!("   {}", cents(cost)), theme.status);
    }
    if tokens > 0 {
        let text = format!("   {} of {} tokens", short(read), short(tokens));
        line.push(text, style(read as f64 / tokens as f64));
    }
}

/// The folder, or only its end on a narrow screen.
fn place(status: &Status, most_columns: usize) -> String {
    let place = status.place();
    if width(&place) <= most_columns {
        return place;
    }
    let name = place.rsplit('/').next().unwrap_or(&place);
    ellipsis(&format!("…/{name}"), most_columns)
}

/// How full the context is, as a bar and in per cent.
fn context(status: &Status, theme: &Theme, most: Detail, line: &mut StyledLine) {
    if status.model.context_window == 0 {
        return;
    }
    let share = status.context as f64 / status.model.context_window as f64;
    let style = match share {
        share if share >= 0.8 => theme.context_full,
        share if share >= 0.6 => theme.context_high,
        _ => theme.context_used,
    };
    line.push("   ", theme.status);
    if most >= Detail::Bar {
        let filled = ((share * BAR as f64).round() as usize).min(BAR);
        // If the text says 0 %, the bar is empty too.
        let filled = if share >= 0.005 { filled.max(1) } else { 0 };
        line.push("▰".repeat(filled), style);
        line.push("▱".repeat(BAR - filled), theme.context_free);
        line.push(" ", theme.status);
    }
    let style = if share >= 0.6 { style } else { theme.status };
    line.push(format!("{:.0} %", share * 100.0), style);
}
