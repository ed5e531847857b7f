//! The list of iterations, as lines for the box they are shown in.

use super::line::StyledLine;
use crate::agent::ToolStatus;
use crate::app::humanize::{dollars, measured, short};
use crate::app::sanitize::visible_line;
use crate::app::tui::app::App;
use crate::app::tui::timeline::{Call, Step};

/// One line for each iteration, and one below it for each of its calls.
pub fn lines(app: &App) -> Vec<StyledLine> {
    let theme = &app.theme;
    let steps = app.timeline.steps();
    if steps.is_empty() {
        let text = "No model was called yet";
        return vec![StyledLine::new().with(text, theme.popup.patch(theme.dim))];
    }
    let mut lines = Vec::new();
    for step in steps {
        lines.push(
            StyledLine::new()
                .with(format!("{:>4}", step.number), theme.popup_title)
                .with(figures(app, step), theme.popup),
        );
        for call in &step.calls {
            let name = visible_line(&call.name);
            lines.push(
                StyledLine::new()
                    .with(format!("      {name}"), theme.popup)
                    .with(format!("  {}", end(call)), theme.popup.patch(theme.dim)),
            );
        }
    }
    lines
}

fn figures(app: &App, step: &Step) -> String {
    let until = step.ended.unwrap_or(app.now);
    let usage = &step.usage;
    let mut parts = vec![format!("  {:>9}", measured(until.abs_diff(step.began)))];
    if usage.input + usage.output + usage.cache_read > 0 {
        parts.push(format!(
            "  ↑{} ↓{}",
            short(usage.input),
            short(usage.output)
        ));
    }
    if usage.cache_read > 0 {
        parts.push(format!(" ↯{}", short(usage.cache_read)));
    }
    if usage.cost.total > 0.0 {
        parts.push(format!("  {}", dollars(usage.cost.total)));
    }
    parts.concat()
}

fn end(call: &Call) -> String {
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
