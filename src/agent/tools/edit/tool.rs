//! The `edit` tool: old text, new text, in one file. What is done with them is `exchange`.

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::exchange::{Exchange, Names, exchange};
use super::matching::Scope;
use super::stamps::FileStamps;
use super::target::Target;
use crate::agent::tool::{Details, DiffDetails, Tool, ToolContext, ToolError, ToolOutput};
use crate::agent::tools::paths::Purpose;
use crate::agent::tools::{call, paths};
use crate::llm::ToolSpec;

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
            let wanted = parse(&args)?;
            let (path, purpose) = (call::path(&args), Purpose::Existing);
            let target =
                Target::new(path, &context.cwd, purpose, &self.stamps, &context.cancel).await?;
            call::change(move || exchange(&target, &wanted)).await
        })
    }
}

const NAMES: Names = Names::TEXT;

/// What the call asks for.
fn parse(args: &Value) -> Result<Exchange, ToolError> {
    let mut pairs = Vec::new();
    let single = NAMES.texts(args);
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
                names.push(NAMES.old);
            }
            if new.is_none() {
                names.push(NAMES.new);
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
    let scope = if call::flag(args, "replace_all") {
        Scope::All
    } else {
        Scope::Unique
    };
    Ok(Exchange::new(pairs, scope, NAMES))
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
        let (old, new) = NAMES.texts(item);
        let texts = [(old, NAMES.old), (new, NAMES.new)].map(|(text, name)| {
            text.map(String::from).unwrap_or_else(|| {
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
