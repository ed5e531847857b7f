//! The marks of todo items.

use ratatui_core::style::Style;

use super::Theme;
use crate::agent::TodoStatus;

/// The mark, its style, and the style of the text.
pub fn todo_mark(theme: &Theme, status: TodoStatus) -> (&'static str, Style, Style) {
    match status {
        TodoStatus::Completed => ("✓ ", theme.tool_ok, theme.dim),
        TodoStatus::InProgress => ("◐ ", theme.tool_running, theme.text),
        TodoStatus::Pending => ("○ ", theme.dim, theme.dim),
    }
}
