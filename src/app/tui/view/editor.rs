//! The editor: its border with the mode, its rows, and where the caret is.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::agent::Subject;
use crate::app::tui::app::App;
use crate::app::tui::composer::{ComposerLayout, SpanKind};
use crate::app::tui::layout::Areas;
use crate::app::tui::run_facts::Resume;
use crate::app::tui::text::width::ellipsis;

/// Draws it; the caret's place on the screen.
pub fn draw(
    app: &App,
    layout: &ComposerLayout,
    areas: &Areas,
    buffer: &mut Buffer,
) -> Option<(u16, u16)> {
    if areas.editor.height > areas.text.height {
        border(app, layout, areas.editor, buffer);
    }
    let area = areas.text;
    if area.is_empty() {
        return None;
    }
    // On a screen too low for all rows, those around the caret are shown.
    let caret_row = usize::from(layout.cursor.1);
    let skipped = (caret_row + 1).saturating_sub(usize::from(area.height));
    for (y, row) in layout
        .rows
        .iter()
        .skip(skipped)
        .take(usize::from(area.height))
        .enumerate()
    {
        let mut x = area.x;
        for span in row {
            let style = match span.kind {
                SpanKind::Text => app.theme.editor_text,
                SpanKind::Placeholder => app.theme.editor_paste,
            };
            let left = usize::from(area.right().saturating_sub(x));
            (x, _) = buffer.set_stringn(x, area.y + y as u16, &span.text, left, style);
        }
    }
    if app.composer.is_empty() {
        let says = if app.rule.is_some() {
            "Write the rule here"
        } else if app.is_read_only() {
            "Only read: nothing is sent or stored"
        } else if let Some(question) = app.questions.first() {
            match question.subject {
                Subject::Permission(_) => "Or say why not, or what to do instead",
                Subject::Choice(_) => "Or answer in your own words",
            }
        } else if app.is_running() {
            "Steer it, or queue what comes next"
        } else if matches!(app.resume, Some(Resume::Planned(_))) {
            "Say what to change in the plan, or ask for anything else"
        } else {
            "Ask for anything"
        };
        let columns = usize::from(area.width);
        buffer.set_stringn(
            area.x,
            area.y,
            ellipsis(says, columns),
            columns,
            app.theme.editor_placeholder,
        );
    }
    let x = (area.x + layout.cursor.0).min(area.right() - 1);
    Some((x, area.y + (caret_row - skipped) as u16))
}

fn border(app: &App, layout: &ComposerLayout, area: Rect, buffer: &mut Buffer) {
    let mode = if app.is_read_only() {
        "read only"
    } else {
        app.status.permission.name()
    };
    let style = match mode {
        "plan" | "read only" => app.theme.editor_plan,
        "ask" => app.theme.editor_ask,
        "auto" => app.theme.editor_auto,
        _ => app.theme.editor_full,
    };
    let columns = usize::from(area.width);
    let trial = if app.trial.is_some() { " · trial" } else { "" };
    let rule = if app.rule.is_some() { " · rule" } else { "" };
    let label = ellipsis(
        &format!("─ {mode}{trial}{rule} "),
        columns.saturating_sub(2),
    );
    let hidden = layout.total_rows.saturating_sub(layout.rows.len());
    let note = match hidden {
        0 => String::new(),
        more => format!(" {more} more lines ─"),
    };
    edge(buffer, area, area.y, ["╭", &label, "", "╮"], style);
    edge(
        buffer,
        area,
        area.bottom() - 1,
        ["╰", "", &note, "╯"],
        style,
    );
    for y in area.y + 1..area.bottom() - 1 {
        buffer.set_stringn(area.x, y, "│", 1, style);
        buffer.set_stringn(area.right() - 1, y, "│", 1, style);
    }
}

/// A horizontal edge: corner, words at the left, words at the right, corner.
fn edge(buffer: &mut Buffer, area: Rect, y: u16, words: [&str; 4], style: Style) {
    let [start, left, right, end] = words;
    let inside = usize::from(area.width).saturating_sub(2);
    let used = left.chars().count() + right.chars().count();
    let (right, used) = if used > inside {
        ("", left.chars().count())
    } else {
        (right, used)
    };
    let fill = "─".repeat(inside.saturating_sub(used));
    let text = format!("{start}{left}{fill}{right}{end}");
    buffer.set_stringn(area.x, y, text, usize::from(area.width), style);
}
