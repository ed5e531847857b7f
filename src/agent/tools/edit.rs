//! The `edit` tool: text for text in one file. Every byte that is not meant to change stays; what
//! a match overlooked is told to the model; a file that changed behind the model's back is only
//! edited where nothing can be mistaken.

use std::ops::Range;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::support::matching::{Miss, Normal, Scope, Tolerance, find};
use super::support::paths::Purpose;
use super::support::splice::splice;
use super::support::stamps::{FileStamps, Freshness};
use super::support::target::{Present, Target};
use super::support::{call, diff, kind, paths};
use crate::agent::tool::{Details, DiffDetails, Tool, ToolContext, ToolError, ToolOutput};
use crate::llm::{Content, ToolSpec};

/// Larger files are not edited.
const MAX_FILE: u64 = 64 * 1024 * 1024;
/// Nor is anything made larger than this.
const MAX_RESULT: usize = 256 * 1024 * 1024;

/// Edits files.
pub struct Edit {
    spec: ToolSpec,
    stamps: FileStamps,
}

impl Edit {
    /// The tool; `stamps` knows what the model has seen.
    pub fn new(stamps: FileStamps) -> Self {
        Self {
            spec: ToolSpec {
                name: "edit".into(),
                description: "Replace text in a file. old_text must be exactly as in the file, \
                              blanks included, and unique there, unless replace_all is true. For \
                              several changes to one file give edits; each is matched against \
                              the file as it was, and they must not overlap."
                    .into(),
                parameters: json!({
                    "type": "object",
                    "properties": {
                        "file_path": {"type": "string", "description": "File to change"},
                        "old_text": {"type": "string", "description": "Text to replace"},
                        "new_text": {"type": "string", "description": "What to put there"},
                        "replace_all": {"type": "boolean", "description": "Every occurrence"},
                        "edits": {
                            "type": "array",
                            "description": "Instead of old_text and new_text",
                            "items": {
                                "type": "object",
                                "properties": {
                                    "old_text": {"type": "string"},
                                    "new_text": {"type": "string"}
                                },
                                "required": ["old_text", "new_text"],
                                "additionalProperties": false
                            }
                        }
                    },
                    "required": ["file_path"],
                    "additionalProperties": false
                }),
                ..ToolSpec::default()
            },
            stamps,
        }
    }
}

impl Tool for Edit {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn preview(&self, args: &Value) -> Details {
        Details::Diff(DiffDetails {
            path: paths::readable(call::path(args).as_ref()),
            ..DiffDetails::default()
        })
    }

    fn execute(
        &self,
        args: Value,
        context: ToolContext,
    ) -> BoxFuture<'_, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let wanted = Wanted::parse(&args)?;
            let (path, purpose) = (call::path(&args), Purpose::Existing);
            let target =
                Target::new(path, &context.cwd, purpose, &self.stamps, &context.cancel).await?;
            call::change(move || edit(&target, &wanted)).await
        })
    }
}

/// What the call asks for.
struct Wanted {
    /// Pairs of old and new text, LF only.
    pairs: Vec<(Vec<u8>, Vec<u8>)>,
    scope: Scope,
}

impl Wanted {
    fn parse(args: &Value) -> Result<Self, ToolError> {
        let mut pairs = Vec::new();
        let single = (call::text(args, "old_text"), call::text(args, "new_text"));
        let list = edit_list(args.get("edits"))?;
        match single {
            (Some(old), Some(new)) => pairs.push((old.to_string(), new.to_string())),
            (None, None) if !list.is_empty() => {}
            (old, new) => {
                let mut names = Vec::new();
                if call::path(args).is_empty() {
                    names.push("file_path");
                }
                if old.is_none() {
                    names.push("old_text");
                }
                if new.is_none() {
                    names.push("new_text");
                }
                return Err(call::missing(&names));
            }
        }
        pairs.extend(list);
        if pairs.iter().any(|(old, _)| old.is_empty()) {
            return Err(call::invalid(
                "old_text must not be empty; to create a file or replace all of it, use write",
            ));
        }
        Ok(Self {
            pairs: pairs
                .into_iter()
                .map(|(old, new)| (lf(&old), lf(&new)))
                .collect(),
            scope: if call::flag(args, "replace_all") {
                Scope::All
            } else {
                Scope::Unique
            },
        })
    }
}

/// The `edits` argument: a list, one object, or either of them as JSON text.
fn edit_list(edits: Option<&Value>) -> Result<Vec<(String, String)>, ToolError> {
    let parsed;
    let value = match edits {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::String(text)) if text.trim().is_empty() => return Ok(Vec::new()),
        Some(Value::String(text)) => {
            parsed = serde_json::from_str(text)
                .map_err(|error| call::invalid(&format!("edits is not valid JSON: {error}")))?;
            &parsed
        }
        Some(value) => value,
    };
    let items = match value {
        Value::Array(items) => items.as_slice(),
        object @ Value::Object(_) => std::slice::from_ref(object),
        _ => {
            return Err(call::invalid(
                "edits must be a list of {old_text, new_text}",
            ));
        }
    };
    let mut faults = Vec::new();
    let mut pairs = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let texts = ["old_text", "new_text"].map(|name| {
            call::text(item, name).map(String::from).unwrap_or_else(|| {
                faults.push(format!("Missing required parameter: edits[{index}].{name}"));
                String::new()
            })
        });
        let [old, new] = texts;
        pairs.push((old, new));
    }
    if faults.is_empty() {
        Ok(pairs)
    } else {
        Err(call::invalid(&faults.join("; ")))
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

fn edit(target: &Target, wanted: &Wanted) -> Result<ToolOutput, ToolError> {
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
        content: vec![Content::text(report(shown, changes.len(), worst, stale))],
        details: Details::Diff(diff::details(target.display.clone(), bytes, &out)),
        is_error: false,
    })
}

/// Where each edit applies, in the bytes of `content`, and what its match overlooked.
fn locate(
    target: &Target,
    present: &Present,
    content: &[u8],
    wanted: &Wanted,
) -> Result<(Vec<Change>, Vec<Tolerance>), ToolError> {
    let shown = &target.shown;
    let normal = Normal::new(content);
    let (mut changes, mut tolerances) = (Vec::new(), Vec::new());
    for (edit, (old, _)) in wanted.pairs.iter().enumerate() {
        let (ranges, tolerance) = find(&normal, old, wanted.scope).map_err(|miss| {
            let mut message = match miss {
                Miss::NotFound => format!(
                    "Could not find the exact text in {shown}. The old_text must match exactly \
                     including all whitespace and newlines."
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
fn report(shown: &str, count: usize, worst: Tolerance, stale: bool) -> String {
    let noun = if count == 1 {
        "replacement"
    } else {
        "replacements"
    };
    let mut text = format!("Successfully edited {shown} ({count} {noun})");
    match worst {
        Tolerance::Exact => {}
        Tolerance::Typography => text.push_str(
            ". old_text was not exact: it matched but for trailing blanks or Unicode quotes, \
             dashes or spaces.",
        ),
        Tolerance::Indentation => text.push_str(
            ". old_text was not exact: it matched but for indentation, and new_text was \
             indented as the file is.",
        ),
    }
    if stale {
        text.push_str(
            "\nThe file had changed on disk since you last read it; the edit was applied to its \
             present content.",
        );
    }
    text
}
