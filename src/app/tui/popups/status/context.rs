//! How the context window is used, as lines of a popup.

use std::path::Path;

use crate::agent::{ContextKind, ContextUsage};
use crate::app::commands::status::{FIRST_REQUEST, part_name};
use crate::app::humanize::{abbreviate_home, short, window};
use crate::app::tui::app::App;
use crate::app::tui::text::width::ellipsis;
use crate::app::tui::view::line::StyledLine;

/// Columns for the name of a part.
const NAME: usize = 20;
/// Columns for a part's tokens and its share.
const FIGURES: usize = 14;
/// Maximum columns of a part's bar.
const BAR: usize = 32;

/// A head, a line for each part with its share of the window, and how to free context.
pub fn lines(app: &App, usage: Option<&ContextUsage>, columns: usize) -> Vec<StyledLine> {
    let theme = &app.theme;
    let dim = theme.popup.patch(theme.dim);
    let Some(usage) = usage else {
        return vec![StyledLine::of("Counting…", dim)];
    };
    if usage.parts.is_empty() {
        let text = "Nothing sent yet";
        return vec![StyledLine::of(text, dim)];
    }
    let mut lines = vec![head(app, usage, columns), StyledLine::new()];
    if usage.is_first {
        lines.extend(StyledLine::wrapped(FIRST_REQUEST, dim, columns));
    }
    let bar = columns.saturating_sub(NAME + FIGURES).min(BAR);
    for part in &usage.parts {
        lines.push(row(app, usage, part_name(part), part.tokens, (bar, true)));
        if part.kind == ContextKind::Instructions {
            lines.extend(files(app, usage, columns));
        }
    }
    if usage.window > 0 {
        let free = usage.window.saturating_sub(usage.total);
        lines.push(row(app, usage, "Free".to_owned(), free, (bar, false)));
    }
    lines.push(StyledLine::new());
    for text in ways_out(usage) {
        lines.extend(StyledLine::wrapped(&text, dim, columns));
    }
    lines
}

fn head(app: &App, usage: &ContextUsage, columns: usize) -> StyledLine {
    let theme = &app.theme;
    let size = match usage.window {
        0 => format!("  {} tokens", short(usage.total)),
        all => format!("  {} of {} tokens", short(usage.total), window(all)),
    };
    let room = columns.saturating_sub(size.len()).max(8);
    StyledLine::of(ellipsis(&usage.model, room), theme.popup_title).with(size, theme.popup)
}

fn row(
    app: &App,
    usage: &ContextUsage,
    name: String,
    tokens: u64,
    (columns, used): (usize, bool),
) -> StyledLine {
    let theme = &app.theme;
    let all = match usage.window {
        0 => usage.total,
        window => window.max(usage.total),
    };
    let share = tokens as f64 / all.max(1) as f64;
    let percent = match share * 100.0 {
        share if share > 0.0 && share < 1.0 => "<1 %".to_owned(),
        share => format!("{share:.0} %"),
    };
    let bar = match (share * columns as f64).round() as usize {
        0 if tokens > 0 => 1,
        bar => bar.min(columns),
    };
    let (mark, style) = if used {
        ("▓", theme.context_used)
    } else {
        ("░", theme.context_free)
    };
    StyledLine::of(format!("{:<NAME$}", ellipsis(&name, NAME - 1)), theme.popup)
        .with(
            format!("{:>6} {percent:>5}  ", short(tokens)),
            theme.popup.patch(theme.dim),
        )
        .with(mark.repeat(bar), theme.popup.patch(style))
}

/// The names of the instruction files.
fn files(app: &App, usage: &ContextUsage, columns: usize) -> Vec<StyledLine> {
    let cwd = Path::new(&app.status.cwd);
    let shown = |file: &String| {
        let file = Path::new(file);
        let below = file
            .strip_prefix(cwd)
            .map(|below| below.display().to_string());
        below.unwrap_or_else(|_| abbreviate_home(file, app.status.home.as_deref()))
    };
    let names: Vec<String> = usage.files.iter().map(shown).collect();
    let dim = app.theme.popup.patch(app.theme.dim);
    StyledLine::wrapped(&names.join(", "), dim, columns)
}

/// How to free context, and when that happens automatically.
fn ways_out(usage: &ContextUsage) -> Vec<String> {
    let mut texts = Vec::new();
    match usage.after_compaction {
        Some(left) => {
            let free = usage.total.saturating_sub(left);
            texts.push(format!(
                "/compact frees about {} tokens and leaves {}",
                short(free),
                short(left)
            ));
        }
        None => texts.push("Nothing to compact yet".to_owned()),
    }
    if usage.old_results > 0 {
        let old = short(usage.old_results);
        texts.push(format!("Old tool output: {old} tokens"));
    }
    match usage.limit {
        Some(limit) => texts.push(format!("Compacts automatically at {} tokens", short(limit))),
        None if usage.window == 0 => {
            texts.push("This model's context window is unknown".to_owned());
        }
        None => texts.push("Automatic compaction is off".to_owned()),
    }
    texts
}
