//! How an item of a todo list is marked, wherever it is shown.

use ratatui::style::Style;

use super::Theme;
use crate::agent::TodoStatus;

/// Its mark, the mark's style, and that of its text.
pub fn todo_mark(theme: &Theme, status: TodoStatus) -> (&'static str, Style, Style) {
    match status {
        TodoStatus::Completed => ("✓ ", theme.tool_ok, theme.dim),
        TodoStatus::InProgress => ("◐ ", theme.tool_running, theme.text),
        TodoStatus::Pending => ("○ ", theme.dim, theme.dim),
    }
}
