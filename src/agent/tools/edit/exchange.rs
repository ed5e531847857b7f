//! Text for text in one file: what `edit` and `replace` have in common. Every byte that is not
//! meant to change stays; what a match overlooked is told to the model; a file that changed behind
//! the model's back is only changed where nothing can be mistaken. Knows no arguments.

use std::ops::Range;

use super::diff;
use super::matching::{Miss, Normal, Scope, Tolerance, find};
use super::splice::splice;
use super::stamps::Freshness;
use super::target::{Present, Target};
use crate::agent::tool::{Details, ToolError, ToolOutput};
use crate::agent::tools::kind;
use crate::llm::Content;

/// Larger files are not edited.
const MAX_FILE: u64 = 64 * 1024 * 1024;
/// Nor is anything made larger than this.
const MAX_RESULT: usize = 256 * 1024 * 1024;

/// What a call asks for.
pub struct Exchange {
    /// Pairs of old and new text, LF only.
    pairs: Vec<(Vec<u8>, Vec<u8>)>,
    scope: Scope,
    /// How many places the model expects to change, where it says.
    expected: Option<usize>,
    /// What the model calls its parameters.
    names: Names,
}

/// What a tool calls its old and new text.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    /// The text to replace.
    pub old: &'static str,
    /// What comes in its place.
    pub new: &'static str,
}

impl Names {
    /// The names of `edit`, which most agents use.
    pub const TEXT: Self = Self {
        old: "old_text",
        new: "new_text",
    };
    /// The names of `replace`, which other models are used to.
    pub const STRING: Self = Self {
        old: "old_string",
        new: "new_string",
    };
}

impl Exchange {
    /// Each old text for its new one, in `scope`.
    pub fn new(pairs: Vec<(String, String)>, scope: Scope, names: Names) -> Self {
        let pairs = pairs.into_iter().map(|(old, new)| (lf(&old), lf(&new)));
        Self {
            pairs: pairs.collect(),
            scope,
            expected: None,
            names,
        }
    }

    /// Refused unless this many places change.
    pub fn expecting(mut self, places: Option<usize>) -> Self {
        self.expected = places;
        self
    }
}

fn lf(text: &str) -> Vec<u8> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    Normal::new(text.as_bytes()).bytes
}

/// One place that changes: its range in the file, the text for it, and which edit it is of.
struct Change {
    range: Range<usize>,
    edit: usize,
}

/// Does what `wanted` says to the file of `target`.
pub fn exchange(target: &Target, wanted: &Exchange) -> Result<ToolOutput, ToolError> {
    let shown = &target.shown;
    let present = target.load(MAX_FILE)?;
    let Some(bytes) = &present.bytes else {
        return Err(ToolError::new(format!(
            "{shown} is {}; edit handles files up to {}.",
            kind::size(present.meta.len()),
            kind::size(MAX_FILE)
        )));
    };
    if kind::has_nul(bytes) {
        return Err(ToolError::new(format!(
            "{shown} is a binary file ({}) and cannot be edited.",
            kind::size(present.meta.len())
        )));
    }
    // The mark stays where it is, outside of everything that can match.
    let mark = if bytes.starts_with(kind::BOM) {
        kind::BOM.len()
    } else {
        0
    };
    let content = &bytes[mark..];
    let (mut changes, tolerances) = locate(target, &present, content, wanted)?;
    let worst = tolerances.iter().copied().max().unwrap_or(Tolerance::Exact);
    if let Some(expected) = wanted
        .expected
        .filter(|expected| *expected != changes.len())
    {
        let found = changes.len();
        let noun = if found == 1 {
            "occurrence"
        } else {
            "occurrences"
        };
        return Err(ToolError::new(format!(
            "Expected {expected} occurrences of the text in {shown} but found {found} {noun}. \
             Nothing was changed."
        )));
    }
    let stale = matches!(present.freshness, Freshness::Changed(_));
    if stale && (worst > Tolerance::Exact || wanted.scope == Scope::All) {
        return Err(ToolError::new(format!(
            "{shown} has changed on disk since you last read it, so only an exact, unique edit is \
             safe; nothing was changed. {}",
            target.show_changes(&present)
        )));
    }
    changes.sort_by_key(|change| change.range.start);
    for pair in changes.windows(2) {
        if pair[1].range.start < pair[0].range.end {
            return Err(ToolError::new(format!(
                "edits[{}] and edits[{}] overlap in {shown}. Make them one edit. Nothing was \
                 changed.",
                pair[0].edit, pair[1].edit
            )));
        }
    }
    let mut out = bytes[..mark].to_vec();
    let mut at = 0;
    for change in &changes {
        let (old, new) = &wanted.pairs[change.edit];
        out.extend_from_slice(&content[at..change.range.start]);
        out.extend(splice(
            content,
            &change.range,
            old,
            new,
            tolerances[change.edit],
        ));
        at = change.range.end;
        if out.len() > MAX_RESULT {
            return Err(ToolError::new(format!(
                "The result would be larger than {}; nothing was changed.",
                kind::size(MAX_RESULT as u64)
            )));
        }
    }
    out.extend_from_slice(&content[at..]);
    if out == *bytes {
        return Err(ToolError::new(format!(
            "No changes made to {shown}. The replacement produced identical content."
        )));
    }
    target.write(&out, Some(&present))?;
    Ok(ToolOutput {
        content: vec![Content::text(report(
            shown,
            changes.len(),
            worst,
            stale,
            wanted.names,
        ))],
        details: Details::Diff(diff::details(target.display.clone(), bytes, &out)),
        is_error: false,
    })
}

/// Where each edit applies, in the bytes of `content`, and what its match overlooked.
fn locate(
    target: &Target,
    present: &Present,
    content: &[u8],
    wanted: &Exchange,
) -> Result<(Vec<Change>, Vec<Tolerance>), ToolError> {
    let shown = &target.shown;
    let normal = Normal::new(content);
    let (mut changes, mut tolerances) = (Vec::new(), Vec::new());
    for (edit, (old, _)) in wanted.pairs.iter().enumerate() {
        let (ranges, tolerance) = find(&normal, old, wanted.scope).map_err(|miss| {
            let mut message = match miss {
                Miss::NotFound => format!(
                    "Could not find the exact text in {shown}. The {} must match exactly \
                     including all whitespace and newlines.",
                    wanted.names.old
                ),
                Miss::Many(count) => format!(
                    "Found {count} occurrences of the text in {shown}. The text must be unique. \
                     Please provide more context to make it unique."
                ),
            };
            if wanted.pairs.len() > 1 {
                message = format!("{message} (edits[{edit}]; nothing was changed)");
            }
            if matches!(present.freshness, Freshness::Changed(_)) {
                let changes = target.show_changes(present);
                message = format!(
                    "{message} The file has changed on disk since you last read it. {changes}"
                );
            }
            ToolError::new(message)
        })?;
        tolerances.push(tolerance);
        changes.extend(ranges.iter().map(|range| Change {
            range: normal.original(range),
            edit,
        }));
    }
    Ok((changes, tolerances))
}

// K5
fn report(shown: &str, count: usize, worst: Tolerance, stale: bool, names: Names) -> String {
    let Names { old, new } = names;
    let noun = if count == 1 {
        "replacement"
    } else {
        "replacements"
    };
    let mut text = format!("Successfully edited {shown} ({count} {noun})");
    let overlooked = match worst {
        Tolerance::Exact => String::new(),
        Tolerance::Typography => format!(
            ". {old} was not exact: it matched but for trailing blanks or Unicode quotes, dashes \
             or spaces."
        ),
        Tolerance::Indentation => format!(
            ". {old} was not exact: it matched but for indentation, and {new} was indented as the \
             file is."
        ),
    };
    text.push_str(&overlooked);
    if stale {
        text.push_str(
            "\nThe file had changed on disk since you last read it; the edit was applied to its \
             present content.",
        );
    }
    text
}
