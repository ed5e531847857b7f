//! What the transcript is made of. A cell is its source; nothing here knows rows or colors.

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
    /// Rises with every change, so that drawing knows what to lay out anew.
    pub revision: u32,
    /// Rises when text changed other than by growing at its end.
    pub content_epoch: u32,
    pub fold: Fold,
    pub body: CellBody,
}

#[derive(Clone, Debug, PartialEq)]
pub enum CellBody {
    User {
        /// Behind what was typed a line for each picture.
        text: String,
        /// The byte ranges of it that were pasted, in order.
        pastes: Vec<Range<u32>>,
        /// Its pictures, once the agent has confirmed it.
        pictures: Vec<Picture>,
        confirmed: bool,
        is_external: bool,
    },
    Assistant {
        text: CellText,
        live: bool,
    },
    Thinking {
        /// Empty when withheld.
        text: CellText,
        state: ThinkingState,
    },
    Tool(Box<ToolCell>),
    /// Something the user should read.
    Notice {
        level: NoticeLevel,
        /// What happened; the lines after the first are the way out.
        text: String,
    },
    /// The divider below what the model no longer reads itself.
    Compaction(CompactionCell),
    /// The rule below what a run said and did.
    TurnEnd(RunEnd, RunTotals),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompactionCell {
    /// What the model reads instead.
    pub summary: String,
    /// Tokens of the conversation before and after, where they are known.
    pub tokens: [Option<u64>; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkingState {
    Live {
        /// Unix ms.
        since: i64,
    },
    Done {
        /// How long it took, where known: stored messages do not say.
        millis: Option<i64>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct ToolCell {
    pub call_id: String,
    pub name: String,
    pub state: ToolState,
    pub details: Arc<Details>,
    /// Reads the details off the arguments while the model writes them, where it can.
    pub draft: Option<Box<Draft>>,
    /// Reads what it is about off them, where there is no draft.
    pub naming: Naming,
    /// What the model was told when the call failed or did not run; shown where the details do
    /// not say it.
    pub failure: String,
    pub duration_ms: Option<u64>,
    /// Whether it has a row of its own where it stands among others that look.
    pub is_listed: bool,
    pub pictures: Vec<Picture>,
}

/// What stands for the tool in a command of the user.
pub const USER_COMMAND: &str = "!";
/// Tools that only look, and change nothing.
const LOOKING: [&str; 4] = ["read", "grep", "find", "ls"];

impl ToolCell {
    /// What it is about: its command, its paths, what it looks for.
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

    /// Whether the user runs it, beside the agent.
    pub fn is_of_user(&self) -> bool {
        self.name == USER_COMMAND
    }

    pub fn looks(&self) -> bool {
        LOOKING.contains(&self.name.as_str())
    }

    /// Whether what it writes was not there before.
    pub fn makes_a_file(&self) -> bool {
        match &*self.details {
            Details::Diff(diff) if diff.files.is_empty() => {
                diff.change == FileChange::Added
                    || self.name == "write" && diff.old_lines == 0 && diff.removed == 0
            }
            _ => false,
        }
    }

    /// Whether there is something for its body to show.
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

    /// Whether its source is the captions of its pictures: there is no other text.
    pub fn has_captions(&self) -> bool {
        let has_no_text = matches!(&*self.details, Details::Text(text) if text.text.is_empty());
        has_no_text && !self.pictures.is_empty()
    }

    /// What its body shows: the output, the text, the names, the diffs one after the other.
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
    /// The model is still writing its arguments; so many bytes so far.
    Preparing {
        bytes: usize,
    },
    /// Complete, and not yet its turn.
    Waiting,
    Running {
        /// Unix ms.
        since: i64,
    },
    /// It waits for the user.
    Asking,
    Finished(ToolStatus),
}

/// Lines of a prompt that is always shown whole.
pub const PROMPT_LINES: usize = 12;

/// How much of a cell is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fold {
    /// A line, or the first lines.
    #[default]
    Folded,
    /// All of it.
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

    /// Whether it is a prompt of which only beginning and end are shown when it is folded.
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

    /// The text that the rows of the cell refer to: what copying and searching are about.
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

    /// Whether there is nothing to see of it, not even a title.
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
