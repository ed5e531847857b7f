//! Things to copy with a key: replies, code, commands and their output, prompts. Plain data.

use std::sync::Arc;

use crate::app::tui::popups::Picker;
use crate::app::tui::text::diff::{self, Sign};
use crate::app::tui::text::markdown::code_blocks;
use crate::app::tui::transcript::{CopySource, Transcript};

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
