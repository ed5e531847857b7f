//! The `replace` tool: editing in the shape that Gemini models are used to. The same as `edit`
//! beneath.

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::exchange::{Exchange, Names, exchange};
use super::matching::Scope;
use super::stamps::FileStamps;
use super::target::Target;
use super::write;
use crate::agent::tool::{Details, DiffDetails, Tool, ToolContext, ToolError, ToolOutput};
use crate::agent::tools::paths::Purpose;
use crate::agent::tools::{call, paths};
use crate::llm::ToolSpec;

const NAMES: Names = Names::STRING;

/// Replaces text in files.
pub struct Replace {
    spec: ToolSpec,
    stamps: FileStamps,
}

impl Replace {
    /// The tool; `stamps` knows what the model has seen.
    pub fn new(stamps: FileStamps) -> Self {
        Self {
            spec: ToolSpec {
                name: "replace".into(),
                description: "Replace text in a file. old_string must be exactly as in the file, \
                              blanks included, and unique there, unless allow_multiple is true. An \
                              empty old_string creates a file."
                    .into(),
                parameters: json!({
                    "type": "object",
                    "properties": {
                        "file_path": {"type": "string", "description": "File to change"},
                        "instruction": {"type": "string", "description": "What the change is for"},
                        "old_string": {"type": "string", "description": "Text to replace"},
                        "new_string": {"type": "string", "description": "What to put there"},
                        "allow_multiple": {"type": "boolean", "description": "Every occurrence"},
                        "expected_replacements": {
                            "type": "integer",
                            "description": "How many occurrences, if more than one"
                        }
                    },
                    "required": ["file_path", "old_string", "new_string"],
                    "additionalProperties": false
                }),
                ..ToolSpec::default()
            },
            stamps,
        }
    }
}

impl Tool for Replace {
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
            let (old, new) = NAMES.texts(&args);
            let old = old.ok_or_else(|| call::missing(&[NAMES.old]))?.to_string();
            let new = new.ok_or_else(|| call::missing(&[NAMES.new]))?.to_string();
            let purpose = if old.is_empty() {
                Purpose::MayBeNew
            } else {
                Purpose::Existing
            };
            let path = call::path(&args);
            let target =
                Target::new(path, &context.cwd, purpose, &self.stamps, &context.cancel).await?;
            if old.is_empty() {
                return call::change(move || create(&target, &new)).await;
            }
            let expected = call::number(&args, "expected_replacements").map(|n| n as usize);
            let many = call::flag(&args, "allow_multiple") || expected.is_some_and(|n| n > 1);
            let scope = if many { Scope::All } else { Scope::Unique };
            let wanted = Exchange::new(vec![(old, new)], scope, NAMES).expecting(expected);
            call::change(move || exchange(&target, &wanted)).await
        })
    }
}

/// A new file; one that is there already is not emptied for the want of an old text.
fn create(target: &Target, content: &str) -> Result<ToolOutput, ToolError> {
    if target.is_new() {
        return write::replace(target, content);
    }
    Err(call::invalid(
        "old_string must not be empty for a file that is there; to replace all of it, use write",
    ))
}
