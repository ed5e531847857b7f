//! The queue strip: the waiting messages, and how to take them back.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;

use super::line::StyledLine;
use crate::agent::QueueKind;
use crate::app::action::Action;
use crate::app::commands::message_as_typed;
use crate::app::tui::app::App;

/// Draws the line above and as many waiting messages as there is room for.
pub fn draw(app: &App, rule: Rect, area: Rect, buffer: &mut Buffer) {
    if !rule.is_empty() && !area.is_empty() {
        let line = "─".repeat(usize::from(rule.width.saturating_sub(2)));
        buffer.set_stringn(1, rule.y, line, usize::from(rule.width), app.theme.rule);
    }
    for (at, (row, queued)) in area.rows().zip(&app.queue).enumerate() {
        let rest = app.queue.len() - at - 1;
        let last = row.bottom() == area.bottom();
        let (mark, style) = match queued.kind {
            QueueKind::Steering => ("↳ steer  ", app.theme.queue_steer),
            QueueKind::FollowUp => ("▸ then   ", app.theme.queue_follow_up),
            QueueKind::Trial => ("▸ try    ", app.theme.queue_follow_up),
        };
        let text = message_as_typed(&queued.content);
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let first = lines.next().unwrap_or("(picture)").trim();
        let mut left = StyledLine::of(mark, style).with(first, app.theme.queue_text);
        let mut more = match lines.count() {
            0 => String::new(),
            1 => "  +1 line".to_owned(),
            many => format!("  +{many} lines"),
        };
        if queued.origin.is_some() {
            more.push_str("  from another program");
        }
        if left.width() + more.len() + 2 <= usize::from(area.width) {
            left.push(more, app.theme.dim);
        }
        let mut right = StyledLine::new();
        if last && rest > 0 {
            right.push(format!("{rest} more  "), app.theme.dim);
        }
        if at == 0 && area.width >= 60 {
            right.push(app.key(Action::TakeBack), app.theme.key_hint);
            right.push(" edit", app.theme.dim);
        }
        StyledLine::draw_both(&left, &right, row, buffer);
    }
}
