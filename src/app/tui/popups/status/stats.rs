//! The cost and the time of the session since it was opened here.

use std::collections::BTreeMap;

use crate::agent::ToolStatus;
use crate::app::humanize::{dollars, duration, grouped, measured};
use crate::app::tui::app::App;
use crate::app::tui::view::line::StyledLine;

const MAX_TOOLS: usize = 12;

#[derive(Default)]
struct ToolFigures {
    calls: u64,
    failed: u64,
    /// Calls with a duration, and the sum of their durations.
    timed: u64,
    millis: u64,
}

pub fn lines(app: &App) -> Vec<StyledLine> {
    let theme = &app.theme;
    let quiet = theme.popup.patch(theme.dim);
    let mut lines = Vec::new();
    let mut row = |name: &str, value: String, note: String| {
        let line = StyledLine::of(format!("{name:<14}"), quiet);
        lines.push(line.with(value, theme.popup).with(note, quiet));
    };
    let total = &app.status.total;
    let budget = app.status.budget;
    let steps = app.timeline.steps();
    // Tokens and cost are those of the whole session.
    let is_part = match steps.first() {
        None => total.output > 0,
        Some(step) => step.number > 1,
    };
    let of_budget = match budget.usd {
        usd if usd > 0.0 => format!("  of {}", dollars(usd)),
        _ if is_part => "  of the whole session".to_owned(),
        _ => String::new(),
    };
    row("cost", dollars(total.cost.total), of_budget);
    let read = total.input + total.cache_read + total.cache_write;
    row("input", grouped(read), " tokens".to_owned());
    if let Some(share) = (100 * total.cache_read).checked_div(read) {
        let note = format!(" tokens, {share} %");
        row("  from cache", grouped(total.cache_read), note);
    }
    row("output", grouped(total.output), " tokens".to_owned());

    let prompts = steps.iter().filter(|step| !step.prompt.is_empty()).count() as u64;
    let took = steps
        .iter()
        .filter_map(|step| Some(step.ended?.abs_diff(step.began)));
    let millis: u64 = took.sum();
    let first = steps.iter().filter_map(|step| step.first_token_ms);
    let mut first: Vec<u64> = first.collect();
    first.sort_unstable();
    let mut tools: BTreeMap<&str, ToolFigures> = BTreeMap::new();
    for call in steps.iter().flat_map(|step| &step.calls) {
        let figures = tools.entry(&call.name).or_default();
        figures.calls += 1;
        figures.failed += u64::from(call.status == Some(ToolStatus::Error));
        figures.timed += u64::from(call.duration_ms.is_some());
        figures.millis += call.duration_ms.unwrap_or(0);
    }
    let in_tools: u64 = tools.values().map(|figures| figures.millis).sum();
    let since = "  counted since you opened or rewound it";
    let since = if is_part { since } else { "" };
    row("prompts", prompts.to_string(), since.to_owned());
    let (all, of_tools) = (time(millis), time(in_tools));
    let times = format!("  {all} total, {of_tools} in tools");
    row("model calls", steps.len().to_string(), times);
    if let Some(slowest) = first.last() {
        let slowest = match first.len() {
            1 => String::new(),
            _ => format!("  median, {} max", measured(*slowest)),
        };
        row("first token", measured(first[first.len() / 2]), slowest);
    }
    let calls: u64 = tools.values().map(|figures| figures.calls).sum();
    if calls > 0 {
        row("tool calls", grouped(calls), String::new());
    }
    let mut tools: Vec<_> = tools.into_iter().collect();
    tools.sort_by_key(|(_, figures)| std::cmp::Reverse(figures.calls));
    for (name, figures) in tools.into_iter().take(MAX_TOOLS) {
        let mut notes = Vec::new();
        if let Some(average) = figures.millis.checked_div(figures.timed) {
            notes.push(format!("{} ms on average", grouped(average)));
        }
        if figures.failed > 0 {
            notes.push(format!("{} failed", figures.failed));
        }
        let (name, notes) = (format!("  {name}"), format!("  {}", notes.join(", ")));
        row(&name, grouped(figures.calls), notes);
    }
    lines
}

fn time(millis: u64) -> String {
    duration((millis / 1000) as i64)
}
