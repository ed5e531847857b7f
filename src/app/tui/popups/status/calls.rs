//! The model calls: a line of figures for each.

use ratatui_core::style::Style;

use super::state::StatusPopup;
use crate::agent::ToolStatus;
use crate::agent::session::{CallSummary, IterationSummary};
use crate::app::humanize::{dollars, measured, plural, short};
use crate::app::tui::app::App;
use crate::app::tui::popups::on_row;
use crate::app::tui::view::line::StyledLine;

/// The most calls to list.
const MAX_CALLS: usize = 1000;

/// Newest first.
pub fn lines(app: &App, status: &StatusPopup, columns: usize) -> Vec<StyledLine> {
    let quiet = app.theme.popup.patch(app.theme.dim);
    let columns = Columns::of(columns);
    let mut lines = vec![columns.header(quiet)];
    let mut calls = status.calls(&app.timeline).rev();
    let shown = calls.by_ref().take(MAX_CALLS);
    lines.extend(shown.map(|call| columns.line(app, call, app.theme.popup)));
    let is_stored = app.status.session.is_some();
    let rest = calls.count() as u64;
    let note = match &status.stored {
        Some(Err(error)) => error.clone(),
        None if is_stored => "Reading…".to_owned(),
        _ if lines.len() == 1 => "No model calls yet".to_owned(),
        _ if rest > 0 => format!("… {}", plural(rest, "earlier call", "earlier calls")),
        _ => return lines,
    };
    lines.push(StyledLine::of(note, quiet));
    lines
}

struct Columns {
    first_token: bool,
    cached: bool,
}

impl Columns {
    fn of(width: usize) -> Self {
        Self {
            first_token: width >= 60,
            cached: width >= 76,
        }
    }

    fn header(&self, style: Style) -> StyledLine {
        let mut line = StyledLine::of(format!("{:>5}  {:>10}", "#", "took"), style);
        if self.first_token {
            line.push(format!("  {:>9}", "1st token"), style);
        }
        line.push(format!("  {:>6} {:>6}", "in", "out"), style);
        if self.cached {
            line.push(format!(" {:>6}", "cached"), style);
        }
        line.with(format!("  {:>7}  calls", "cost"), style)
    }

    fn line(&self, app: &App, row: &IterationSummary, base: Style) -> StyledLine {
        let theme = &app.theme;
        let tone = |style| on_row(theme, base, style);
        let quiet = tone(theme.dim);
        let mut line = StyledLine::of(format!("{:>5}  {:>10}", row.number, took(app, row)), base);
        if self.first_token {
            let first = row.first_token_ms.map(measured).unwrap_or_default();
            line.push(format!("  {first:>9}"), quiet);
        }
        let usage = &row.usage;
        let tokens = |count: u64| match count {
            0 => String::new(),
            count => short(count),
        };
        let (input, output) = (tokens(usage.input), tokens(usage.output));
        line.push(format!("  {input:>6} {output:>6}"), base);
        if self.cached {
            line.push(format!(" {:>6}", tokens(usage.cache_read)), quiet);
        }
        let cost = Some(usage.cost.total).filter(|cost| *cost > 0.0);
        let cost = cost.map(dollars).unwrap_or_default();
        line.push(format!("  {cost:>7}  "), base);
        if row.calls.is_empty() {
            let text = if row.ended.is_none() { "…" } else { "answer" };
            line.push(text, quiet);
        }
        for (at, call) in row.calls.iter().enumerate() {
            line.push(if at == 0 { "" } else { " · " }, quiet);
            line.push(&call.name, base);
            let failed = call.status.is_some_and(ToolStatus::is_error);
            let style = if failed { tone(theme.error) } else { quiet };
            let end = end(call);
            if !end.is_empty() {
                line.push(format!(" {end}"), style);
            }
        }
        if !row.prompt.is_empty() {
            line.push(format!("  ❯ {}", row.prompt), quiet);
        }
        line
    }
}

fn took(app: &App, row: &IterationSummary) -> String {
    match (row.began, row.ended) {
        (0, _) => String::new(),
        (began, Some(ended)) => measured(ended.abs_diff(began)),
        (began, None) if app.is_running() => measured(app.now.abs_diff(began)),
        _ => "cut off".to_owned(),
    }
}

fn end(call: &CallSummary) -> String {
    let label = match call.status {
        None => "running",
        Some(ToolStatus::Ok) => "",
        Some(ToolStatus::Error) => "failed",
        Some(ToolStatus::Skipped) => "skipped",
        Some(ToolStatus::Cancelled) => "stopped",
    };
    match call.duration_ms {
        Some(took) => format!("{} {label}", measured(took)).trim_end().to_owned(),
        None => label.to_owned(),
    }
}
