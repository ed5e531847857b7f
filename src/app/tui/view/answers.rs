//! The rows of a list of answers, which are numbered: a digit selects one.

use ratatui::style::Style;

use super::line::StyledLine;
use crate::app::tui::theme::Theme;

#[derive(Clone, Copy, Debug)]
pub struct AnswerStyles {
    /// The numbers, and the mark of the selected row.
    pub number: Style,
    pub text: Style,
    pub selected: Style,
}

pub fn on_popup(theme: &Theme) -> AnswerStyles {
    AnswerStyles {
        number: theme.popup.patch(theme.key_hint),
        text: theme.popup,
        selected: theme.popup_selected,
    }
}

/// Each answer on as many rows as it needs.
pub fn rows(
    labels: &[String],
    selected: Option<usize>,
    styles: AnswerStyles,
    columns: usize,
) -> Vec<StyledLine> {
    let labels = labels.iter().enumerate();
    labels
        .flat_map(|(at, label)| one(label, at, selected == Some(at), styles, columns))
        .collect()
}

/// The answers on one row, for a low screen.
pub fn row(labels: &[&str], selected: Option<usize>, styles: AnswerStyles) -> StyledLine {
    let mut line = StyledLine::new();
    for (at, label) in labels.iter().enumerate() {
        let is_selected = selected == Some(at);
        let style = if is_selected {
            styles.selected
        } else {
            styles.text
        };
        line.push(if is_selected { " ›" } else { "  " }, styles.number);
        line.push(format!("{} ", at + 1), styles.number);
        line.push(*label, style);
    }
    line
}

pub fn one(
    label: &str,
    at: usize,
    is_selected: bool,
    styles: AnswerStyles,
    columns: usize,
) -> Vec<StyledLine> {
    let style = if is_selected {
        styles.selected
    } else {
        styles.text
    };
    let mark = if is_selected { '›' } else { ' ' };
    let head = format!("{mark} {} ", at + 1);
    let wrapped = StyledLine::wrapped(label, style, columns.saturating_sub(head.len()).max(8));
    let wrapped = wrapped.iter().enumerate();
    wrapped
        .map(|(row, text)| {
            let head = if row == 0 {
                head.clone()
            } else {
                " ".repeat(head.chars().count())
            };
            StyledLine::of(head, styles.number).then(text)
        })
        .collect()
}
