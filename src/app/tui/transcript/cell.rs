//! The cells of the transcript. A cell holds its source text, and knows neither rows nor colors.

use std::borrow::Cow;
use std::iter;
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

use super::cell_text::CellText;
use super::draft::{Draft, Naming};
use crate::agent::tool::FileChange;
use crate::agent::{Details, NoticeLevel, RunEnd, RunTotals, ToolStatus};
use crate::app::tui::picture::Picture;

#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Rises with every change, so that drawing knows which cells to lay out again.
    pub revision: u32,
    /// Rises when text changed other than by appending.
    pub content_epoch: u32,
    pub fold: Fold,
    pub body: CellBody,
}

#[derive(Clone, Debug, PartialEq)]
pub enum CellBody {
    User {
        /// The prompt as typed, then a line for each picture.
        text: String,
        /// The byte ranges that were pasted, in order.
        pastes: Vec<Range<u32>>,
        /// Its pictures, once the agent has confirmed the prompt.
        pictures: Vec<Picture>,
        confirmed: bool,
        is_external: bool,
    },
    Assistant {
        text: CellText,
        live: bool,
    },
    Thinking {
        /// Empty when the provider withholds it.
        text: CellText,
        state: ThinkingState,
    },
    Tool(Box<ToolCell>),
    /// A notice for the user.
    Notice {
        level: NoticeLevel,
        /// What happened; further lines say what to do.
        text: String,
    },
    /// The divider below messages that the model no longer reads in full.
    Compaction(CompactionCell),
    /// The rule below a run.
    TurnEnd(RunEnd, RunTotals),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompactionCell {
    /// The summary that the model reads instead.
    pub summary: String,
    /// Tokens of the conversation before and after, if known.
    pub tokens: [Option<u64>; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkingState {
    Live {
        /// Unix ms.
        since: i64,
    },
    Done {
        /// How long it took; stored messages don't say.
        millis: Option<i64>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct ToolCell {
    pub call_id: String,
    pub name: String,
    pub state: ToolState,
    pub details: Arc<Details>,
    /// Drafts the details from the arguments while the model writes them, if possible.
    pub draft: Option<Box<Draft>>,
    /// Finds the call's subject in the arguments, without a draft.
    pub naming: Naming,
    /// Why the call failed or didn't run, as the model reads it. Shown if the details don't say it.
    pub failure: String,
    pub duration_ms: Option<u64>,
    /// Whether it has its own row within a group of looking calls.
    pub is_listed: bool,
    pub pictures: Vec<Picture>,
}

/// The tool name of a command run by the user.
pub const USER_COMMAND: &str = "!";
/// Tools that only look and change nothing.
const LOOKING: [&str; 4] = ["read", "grep", "find", "ls"];

impl ToolCell {
    /// The subject of the call: its command, its paths, its pattern.
    pub fn subject(&self) -> Cow<'_, str> {
        match &*self.details {
            Details::Command(command) => Cow::Borrowed(&command.command),
            Details::Diff(diff) => {
                let files = iter::once(diff).chain(&diff.files);
                let paths: Vec<&str> = files.map(|file| file.path.as_str()).collect();
                Cow::Owned(paths.join(" "))
            }
            Details::Matches(it) => Cow::Owned(format!("{} {}", it.pattern, it.path)),
            Details::Files(it) => Cow::Owned(format!("{} {}", it.pattern, it.path)),
            Details::Text(text) => Cow::Borrowed(&text.path),
            Details::Attachment(file) => Cow::Borrowed(&file.path),
            Details::Todo(list) => Cow::Owned(list.markdown()),
            Details::Other(other) => Cow::Borrowed(&other.title),
        }
    }

    /// The failure without the path at its end, which the subject names.
    pub fn reason(&self) -> &str {
        match self.failure.rsplit_once(": ") {
            Some((reason, path)) if self.subject().ends_with(path) => reason,
            _ => &self.failure,
        }
    }

    /// Whether the user runs it, not the agent.
    pub fn is_of_user(&self) -> bool {
        self.name == USER_COMMAND
    }

    pub fn looks(&self) -> bool {
        LOOKING.contains(&self.name.as_str())
    }

    /// Whether the call creates a new file.
    pub fn makes_a_file(&self) -> bool {
        match &*self.details {
            Details::Diff(diff) if diff.files.is_empty() => {
                diff.change == FileChange::Added
                    || self.name == "write" && diff.old_lines == 0 && diff.removed == 0
            }
            _ => false,
        }
    }

    /// Whether it has a body to show.
    pub fn has_source(&self) -> bool {
        match &*self.details {
            Details::Diff(diff) => {
                let mut diffs = iter::once(diff).chain(&diff.files);
                diffs.any(|file| !file.diff.is_empty())
            }
            Details::Command(command) => !command.output.is_empty(),
            Details::Matches(matches) => !matches.lines.is_empty(),
            Details::Files(files) => !files.files.is_empty(),
            Details::Text(text) => !text.text.is_empty() || !self.pictures.is_empty(),
            Details::Attachment(file) => !file.description.is_empty(),
            Details::Todo(list) => !list.items.is_empty(),
            Details::Other(other) => !other.value.is_null(),
        }
    }

    /// Whether its only text is the captions of its pictures.
    pub fn has_captions(&self) -> bool {
        let has_no_text = matches!(&*self.details, Details::Text(text) if text.text.is_empty());
        has_no_text && !self.pictures.is_empty()
    }

    /// The text of its body: the output, the names, or the diffs one after the other.
    pub fn source(&self) -> Cow<'_, str> {
        match &*self.details {
            Details::Diff(diff) if diff.files.is_empty() => Cow::Borrowed(&diff.diff),
            Details::Diff(diff) => {
                let diffs = iter::once(diff).chain(&diff.files);
                let diffs: Vec<&str> = diffs.map(|file| file.diff.as_str()).collect();
                Cow::Owned(diffs.join("\n"))
            }
            Details::Command(command) => Cow::Borrowed(&command.output),
            Details::Matches(matches) => Cow::Owned(matches.lines.join("\n")),
            Details::Files(files) => Cow::Owned(files.files.join("\n")),
            Details::Text(_) if self.has_captions() => {
                let captions: Vec<&str> = self.pictures.iter().map(Picture::caption).collect();
                Cow::Owned(captions.join("\n"))
            }
            Details::Text(text) => Cow::Borrowed(&text.text),
            Details::Attachment(file) => Cow::Borrowed(&file.description),
            Details::Todo(list) => Cow::Owned(list.markdown()),
            Details::Other(other) => match &other.value {
                Value::Null => Cow::Borrowed(""),
                Value::String(text) => Cow::Borrowed(text),
                value => Cow::Owned(serde_json::to_string_pretty(value).unwrap_or_default()),
            },
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolState {
    /// The model is still writing its arguments: the bytes so far.
    Preparing {
        bytes: usize,
    },
    /// Complete, waiting for its turn.
    Waiting,
    Running {
        /// Unix ms.
        since: i64,
    },
    /// Waiting for the user.
    Asking,
    Finished(ToolStatus),
}

/// Prompts up to this many lines are always shown whole.
pub const PROMPT_LINES: usize = 12;

/// How much of a cell is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fold {
    /// The title, or the first lines.
    #[default]
    Folded,
    /// Everything.
    Open,
}

impl Fold {
    pub(crate) fn toggled(self) -> Self {
        match self {
            Self::Folded => Self::Open,
            Self::Open => Self::Folded,
        }
    }
}

/// Kinds of cells that fold together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellClass {
    /// Thinking.
    Thinking,
    /// Tool calls.
    Tool,
}

impl Cell {
    pub fn new(body: CellBody, fold: Fold) -> Self {
        Self {
            revision: 0,
            content_epoch: 0,
            fold,
            body,
        }
    }

    /// The class it folds with, if it folds at all.
    pub fn class(&self) -> Option<CellClass> {
        match self.body {
            CellBody::Thinking { .. } => Some(CellClass::Thinking),
            CellBody::Tool(_) => Some(CellClass::Tool),
            _ => None,
        }
    }

    pub fn folds(&self) -> bool {
        self.class().is_some()
            || matches!(self.body, CellBody::Compaction(_))
            || self.is_long_prompt()
            || matches!(&self.body, CellBody::User { pictures, .. } if !pictures.is_empty())
    }

    /// Whether it's a long prompt, which shows only its start and end when folded.
    pub fn is_long_prompt(&self) -> bool {
        match &self.body {
            CellBody::User {
                text,
                pictures,
                pastes,
                ..
            } => {
                let lines = text.trim_end_matches('\n').lines().count();
                !pastes.is_empty() || lines.saturating_sub(pictures.len()) > PROMPT_LINES
            }
            _ => false,
        }
    }

    /// The source of the cell's rows, for copying and searching.
    pub fn source(&self) -> Cow<'_, str> {
        match &self.body {
            CellBody::User { text, .. } | CellBody::Notice { text, .. } => Cow::Borrowed(text),
            CellBody::Assistant { text, .. } | CellBody::Thinking { text, .. } => {
                Cow::Borrowed(text)
            }
            CellBody::Tool(tool) => tool.source(),
            CellBody::Compaction(cell) => Cow::Borrowed(&cell.summary),
            CellBody::TurnEnd(..) => Cow::Borrowed(""),
        }
    }

    pub fn is_markdown(&self) -> bool {
        matches!(
            self.body,
            CellBody::Assistant { .. } | CellBody::Thinking { .. } | CellBody::Compaction(_)
        )
    }

    /// Whether it shows nothing at all, not even a title.
    pub fn is_hidden(&self) -> bool {
        match &self.body {
            CellBody::Assistant { text, .. } => text.trim().is_empty(),
            CellBody::Thinking { text, state } => {
                text.trim().is_empty() && !matches!(state, ThinkingState::Live { .. })
            }
            _ => false,
        }
    }

    pub fn is_live(&self) -> bool {
        match &self.body {
            CellBody::Assistant { live, .. } => *live,
            CellBody::Thinking { state, .. } => matches!(state, ThinkingState::Live { .. }),
            CellBody::Tool(tool) => !matches!(tool.state, ToolState::Finished(_)),
            _ => false,
        }
    }
}
