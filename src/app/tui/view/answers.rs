//! The rows of a numbered list of answers. A digit selects one.

use std::iter;

use ratatui_core::style::Style;

use super::line::StyledLine;
use crate::app::tui::theme::Theme;

#[derive(Clone, Copy, Debug)]
pub struct AnswerStyles {
    /// For the numbers and the mark of the selected row.
    pub number: Style,
    pub text: Style,
    pub selected: Style,
}

impl AnswerStyles {
    fn label(&self, is_selected: bool) -> Style {
        if is_selected {
            self.selected
        } else {
            self.text
        }
    }
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

/// All answers on one row, for a low screen.
pub fn row(labels: &[&str], selected: Option<usize>, styles: AnswerStyles) -> StyledLine {
    let mut line = StyledLine::new();
    for (at, label) in labels.iter().enumerate() {
        let is_selected = selected == Some(at);
        line.push(if is_selected { " ›" } else { "  " }, styles.number);
        line.push(format!("{} ", at + 1), styles.number);
        line.push(*label, styles.label(is_selected));
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
    let mark = if is_selected { '›' } else { ' ' };
    let head = format!("{mark} {} ", at + 1);
    let room = columns.saturating_sub(head.len()).max(8);
    let blank = " ".repeat(head.chars().count());
    let heads = iter::once(head).chain(iter::repeat(blank));
    let wrapped = StyledLine::wrapped(label, styles.label(is_selected), room);
    let rows = heads.zip(&wrapped);
    rows.map(|(head, text)| StyledLine::of(head, styles.number).then(text))
        .collect()
}
