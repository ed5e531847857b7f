//! The list of things to copy with a key: replies, code, commands and their output, prompts. A line for each,
//! with its size.

use std::sync::Arc;

use super::{DocsRows, Picker, Popup, PopupDrawn, PopupKeys, PopupView, on_row, topmost};
use crate::app::action::Action;
use crate::app::humanize::plural;
use crate::app::tui::app::App;
use crate::app::tui::effects::effect::Effect;
use crate::app::tui::text::diff::{self, Sign};
use crate::app::tui::text::markdown::code_blocks;
use crate::app::tui::text::width::ellipsis;
use crate::app::tui::transcript::{CopySource, Transcript};
use crate::app::tui::update::copy;
use crate::app::tui::view::line::StyledLine;

/// Maximum entries. To find something older, users search or scroll.
const MAX_ITEMS: usize = 200;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopyKind {
    Reply,
    Code(String),
    Command,
    Output,
    Change,
    Prompt,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyItem {
    pub kind: CopyKind,
    pub text: Arc<str>,
}

impl CopyKind {
    pub fn name(&self) -> &str {
        match self {
            Self::Reply => "reply",
            Self::Code(language) if language.is_empty() => "code",
            Self::Code(language) => language,
            Self::Command => "command",
            Self::Output => "output",
            Self::Change => "diff",
            Self::Prompt => "prompt",
        }
    }
}

impl CopyItem {
    /// Everything to copy, newest first. A reply comes before its code, which is in reverse.
    pub fn all(transcript: &Transcript) -> impl Iterator<Item = Self> + '_ {
        let item = |kind, text: &str| Self {
            kind,
            text: text.trim_end_matches('\n').into(),
        };
        let items = transcript
            .copy_sources()
            .flat_map(move |source| match source {
                CopySource::Reply(text) => {
                    let code = code_blocks(text).into_iter().rev();
                    let code = code.map(|(language, code)| item(CopyKind::Code(language), &code));
                    let all = std::iter::once(item(CopyKind::Reply, text.trim()));
                    all.chain(code).collect::<Vec<_>>()
                }
                CopySource::Call { command, output } => {
                    let command = command.map(|text| item(CopyKind::Command, text));
                    let output = Some(item(CopyKind::Output, &output));
                    output.into_iter().chain(command).collect()
                }
                CopySource::Change(diff) => vec![item(CopyKind::Change, &without_numbers(&diff))],
                CopySource::Prompt(text) => vec![item(CopyKind::Prompt, text)],
            });
        items.filter(|item| !item.text.is_empty()).take(MAX_ITEMS)
    }
}

fn without_numbers(diff: &str) -> String {
    let lines = diff::read(diff, 0).into_iter().map(|line| match line.sign {
        Sign::Added => format!("+{}", line.text),
        Sign::Removed => format!("-{}", line.text),
        Sign::Context => format!(" {}", line.text),
        Sign::Skipped => "...".to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CopyPicker {
    pub picker: Picker,
    /// The entries, newest first.
    pub items: Vec<CopyItem>,
}

impl CopyPicker {
    pub fn new(items: Vec<CopyItem>) -> Self {
        let mut list = Self {
            items,
            ..Self::default()
        };
        list.search();
        list
    }

    pub fn search(&mut self) {
        let holds = self.picker.holds();
        let fits = |item: &CopyItem| holds(&format!("{}\n{}", item.kind.name(), item.text));
        let items = self.items.iter().enumerate();
        let found = items.filter(|(_, item)| fits(item));
        let found = found.map(|(at, _)| at).collect();
        self.picker.set_matches(found, 0);
    }

    pub fn chosen(&self) -> Option<&CopyItem> {
        self.items.get(self.picker.chosen()?)
    }
}

impl PopupKeys for CopyPicker {
    fn picker(&mut self) -> Option<&mut Picker> {
        Some(&mut self.picker)
    }

    fn query_changed(app: &mut App) {
        topmost!(app, Copy).search();
    }

    fn choose(app: &mut App) -> Vec<Effect> {
        let list = topmost!(app, Copy);
        let item = list.chosen().cloned();
        app.overlays.pop();
        item.map_or_else(Vec::new, |item| copy::copy(app, &item, item.kind.name()))
    }
}

/// Columns for the kind of an entry.
const KIND: usize = 9;
/// Columns for the size of an entry.
const AMOUNT: usize = 12;
/// Bytes of a text that are read for its line.
const MAX_SHOWN: usize = 2_000;

impl PopupView for CopyPicker {
    fn draw(&self, popup: &mut Popup<'_>, _: &mut DocsRows) -> Option<PopupDrawn> {
        let app = popup.app;
        let rows = (self.items.len() + 1).min(usize::from(popup.room.height / 2).clamp(3, 14));
        let (enter, esc) = (app.key(Action::Accept), app.key(Action::Back));
        let notes = [
            format!(" type to filter · {enter} copy · {esc} close "),
            format!(" {enter} copy "),
        ];
        let area = popup.open("Copy", rows, &notes)?;
        let below = popup.query(&self.picker, area);
        let columns = usize::from(area.width);
        let text_columns = columns.saturating_sub(KIND + AMOUNT + 2);
        let line = |at: usize, style| {
            let item = self.items.get(at)?;
            let text = &item.text[..item.text.floor_char_boundary(MAX_SHOWN)];
            let mut lines = text.lines().filter(|line| !line.trim().is_empty());
            let first = ellipsis(lines.next().unwrap_or_default().trim(), text_columns);
            let kind = ellipsis(item.kind.name(), KIND - 1);
            let count = item.text.lines().count() as u64;
            let quiet = on_row(&app.theme, style, app.theme.dim);
            let mut line = StyledLine::of(format!("{kind:<KIND$}"), quiet);
            line.push(first, style);
            let amount = plural(count, "line", "lines");
            let gap = columns.saturating_sub(line.width() + amount.len() + 1);
            line.push(" ".repeat(gap.max(1)), style);
            Some(line.with(amount, quiet))
        };
        Some(popup.matches(&self.picker, "No match", below, line))
    }
}
