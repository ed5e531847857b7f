//! The editor: its border with the mode, its rows, and the caret.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;

use super::bordered::draw_border;
use super::line::StyledLine;
use crate::agent::permission::PermissionMode;
use crate::agent::{RunState, Subject};
use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::composer::{ComposerLayout, SpanKind};
use crate::app::tui::layout::Areas;
use crate::app::tui::run_facts::Resume;
use crate::app::tui::text::width::ellipsis;

/// Draws the editor. Returns the caret's place on the screen.
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
    // On a screen too low for all rows, show those around the caret.
    let caret_row = usize::from(layout.cursor.1);
    let skipped = (caret_row + 1).saturating_sub(usize::from(area.height));
    for (place, row) in area.rows().zip(layout.rows.iter().skip(skipped)) {
        let mut x = area.x;
        for span in row {
            let style = match span.kind {
                SpanKind::Text => app.theme.editor_text,
                SpanKind::Placeholder => app.theme.editor_paste,
                SpanKind::Selected => app.theme.editor_text.patch(app.theme.popup_selected),
            };
            let left = usize::from(area.right().saturating_sub(x));
            (x, _) = buffer.set_stringn(x, place.y, &span.text, left, style);
        }
    }
    if app.composer.is_empty() {
        let says = if app.rule.is_some() {
            "Edit the rule"
        } else if app.is_read_only() {
            "Read-only"
        } else if let Some(question) = app.questions.first() {
            match question.subject {
                Subject::Permission(_) => "Tell it what to do instead",
                Subject::Choice(_) => "Or type your own answer",
            }
        } else if app.is_running() {
            "Tell it something…"
        } else if matches!(app.resume, Some(Resume::Planned(_))) {
            "Change the plan, or ask for anything else"
        } else {
            "Ask for anything"
        };
        let line = StyledLine::of(says, app.theme.editor_placeholder);
        line.draw(buffer, area.x, area.y, area.width);
    }
    let x = (area.x + layout.cursor.0).min(area.right() - 1);
    Some((x, area.y + (caret_row - skipped) as u16))
}

fn border(app: &App, layout: &ComposerLayout, area: Rect, buffer: &mut Buffer) {
    let theme = &app.theme;
    let mode = match app.status.permission {
        _ if app.is_read_only() => "read-only",
        PermissionMode::Full => "runs everything",
        mode => mode.name(),
    };
    let label_style = match mode {
        "plan" | "read-only" => theme.editor_plan,
        "ask" => theme.editor_ask,
        "auto" => theme.editor_auto,
        _ => theme.editor_full,
    };
    // The border's color shows the state, its words the mode.
    let style = match app.run {
        _ if !app.questions.is_empty() => theme.warning,
        RunState::Idle if app.resume == Some(Resume::Failed) => theme.error,
        RunState::Idle => theme.rule,
        _ => label_style,
    };
    let columns = usize::from(area.width);
    let trial = if app.trial.is_some() { " · trial" } else { "" };
    let rule = if app.rule.is_some() { " · rule" } else { "" };
    // Shown only when it matters: the message looks like a command but isn't one.
    let is_message = app.composer.is_message() && app.composer.text().starts_with(['/', '!']);
    let message = if is_message {
        " · message, not a command"
    } else {
        ""
    };
    let vim = match app.composer.vim() {
        Some((mode, keys)) => format!(" · {} {keys}", mode.name()),
        None => String::new(),
    };
    let label = format!(" {mode}{trial}{rule}{message}{} ", vim.trim_end());
    let label = ellipsis(&label, columns.saturating_sub(4));
    let hidden = layout.total_rows.saturating_sub(layout.rows.len());
    let note = match hidden {
        0 => taught(app, columns),
        1 => StyledLine::of(" 1 more line ", theme.dim),
        more => StyledLine::of(format!(" {more} more lines "), theme.dim),
    };
    draw_border(buffer, area, style);
    buffer.set_stringn(area.x + 2, area.y, &label, columns - 4, label_style);
    let width = note.width() as u16;
    if width > 0 && width + 4 <= area.width {
        note.draw(buffer, area.right() - 2 - width, area.bottom() - 1, width);
    }
}

/// Two or three keys that work now.
fn taught(app: &App, columns: usize) -> StyledLine {
    let theme = &app.theme;
    let key = |action| app.keymap.label(action);
    let mut hints: Vec<(String, &str)> = Vec::new();
    let mut add = |key: Option<String>, does| hints.extend(key.map(|key| (key, does)));
    if !app.questions.is_empty() || app.is_read_only() || app.rule.is_some() {
        return StyledLine::new();
    }
    if app.composer.before_caret() == "?" {
        add(key(Action::Submit), "help");
    } else if app.composer.before_caret().starts_with("# ") {
        let what = "is plain text; edit AGENTS.md to remember things";
        add(Some("#".to_owned()), what);
    } else if app.is_reading() {
        add(key(Action::Cancel), "close");
    } else if app.is_running() {
        add(key(Action::Submit), "steer");
        add(key(Action::FollowUp), "queue");
    } else {
        add(Some("/".to_owned()), "command");
        add(Some("@".to_owned()), "file");
        add(key(Action::Help), "help");
    }
    // A narrow screen shows fewer.
    while !hints.is_empty() {
        let mut line = StyledLine::of(" ", theme.faint);
        for (at, (key, does)) in hints.iter().enumerate() {
            if at > 0 {
                line.push(" · ", theme.faint);
            }
            line.push(key.as_str(), theme.dim);
            line.push(format!(" {does}"), theme.faint);
        }
        line.push(" ", theme.faint);
        if line.width() + 28 <= columns {
            return line;
        }
        hints.pop();
    }
    StyledLine::new()
}
