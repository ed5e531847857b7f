//! The `edit` tool replaces old text with new text in one file. It has two variants, `edit` and `replace`
//! (which Gemini models know), with different names for the same work. `text_edits` does that work.

use serde::Deserialize;
use serde_json::{Value, json};

use super::change::Change;
use super::locked_file::LockedFile;
use super::matching::Scope;
use super::seen_files::SeenFiles;
use super::text_edits::{TextEdits, plan_edits};
use super::write;
use crate::paths;
use crate::paths::Purpose;
use crate::schema::Schema;
use crate::tool::{Details, DiffDetails, Effects, Rehearsal, ToolContext, ToolError, ToolOutput};
use crate::tools::call;
use crate::tools::typed::{self, TypedTool};
use tiller_llm::{EditFormat, ToolSpec};

pub struct Edit {
    format: EditFormat,
    /// Its names for the old and the new text.
    names: (&'static str, &'static str),
    seen: SeenFiles,
}

/// The arguments of a call, with the names of either variant.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Args {
    file_path: String,
    #[serde(alias = "old_string")]
    old_text: Option<String>,
    #[serde(alias = "new_string")]
    new_text: Option<String>,
    #[serde(alias = "allow_multiple")]
    replace_all: bool,
    expected_replacements: Option<i64>,
    edits: Vec<Pair>,
}

#[derive(Deserialize)]
struct Pair {
    old_text: String,
    new_text: String,
}

impl Edit {
    /// The variant that most models know; `seen` knows what the model has seen.
    pub fn new(seen: SeenFiles) -> Self {
        Self {
            format: EditFormat::Edit,
            names: ("old_text", "new_text"),
            seen,
        }
    }

    pub fn as_replace(seen: SeenFiles) -> Self {
        Self {
            format: EditFormat::Replace,
            names: ("old_string", "new_string"),
            seen,
        }
    }

    /// An empty old text creates a file, if the variant allows that.
    fn creates(&self, args: &Args) -> bool {
        self.format == EditFormat::Replace && args.old_text.as_ref().is_some_and(String::is_empty)
    }

    /// Plans the change, then does `what` with it.
    async fn plan<T: Send + 'static>(
        &self,
        args: Args,
        context: &ToolContext,
        what: impl FnOnce(Change) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let creates = self.creates(&args);
        let purpose = if creates {
            Purpose::MayBeNew
        } else {
            Purpose::Existing
        };
        let path = args.file_path.clone();
        let file = LockedFile::lock(path, purpose, &self.seen, context);
        if creates {
            let (file, content) = (file.await?, args.new_text.unwrap_or_default());
            return call::blocking(move || what(create(file, content)?)).await;
        }
        let edits = self.text_edits(args)?;
        let file = file.await?;
        call::blocking(move || what(plan_edits(file, &edits)?)).await
    }

    fn text_edits(&self, args: Args) -> Result<TextEdits, ToolError> {
        let single = args.old_text.zip(args.new_text);
        let listed = args
            .edits
            .into_iter()
            .map(|pair| (pair.old_text, pair.new_text));
        let pairs: Vec<_> = single.into_iter().chain(listed).collect();
        if pairs.iter().any(|(old, _)| old.is_empty()) {
            return Err(call::invalid(&format!(
                "{} must not be empty; to create or overwrite a file, use write",
                self.names.0
            )));
        }
        let expected = call::positive(args.expected_replacements);
        let scope = if args.replace_all || expected.is_some_and(|places| places > 1) {
            Scope::All
        } else {
            Scope::Unique
        };
        Ok(TextEdits {
            pairs,
            scope,
            expected,
            names: self.names,
        })
    }
}

impl TypedTool for Edit {
    type Args = Args;

    fn spec(&self) -> ToolSpec {
        match self.format {
            EditFormat::Replace => replace_spec(),
            _ => edit_spec(),
        }
    }

    /// Adds a condition that not all servers accept in a schema: edits replace old and new text.
    fn schema(&self, mut schema: Value) -> Schema {
        if schema["properties"].get("edits").is_some() {
            schema["if"] = json!({
                "required": ["edits"],
                "properties": { "edits": { "minItems": 1 } }
            });
            schema["else"] = json!({ "required": ["old_text", "new_text"] });
            schema["dependentRequired"] =
                json!({ "old_text": ["new_text"], "new_text": ["old_text"] });
        }
        Schema::lenient(&schema)
    }

    fn edit_format(&self) -> Option<EditFormat> {
        Some(self.format)
    }

    fn effects(&self, args: Args) -> Effects {
        Effects::write(vec![args.file_path])
    }

    fn preview(&self, args: Args) -> Details {
        let path = paths::readable(args.file_path.as_ref());
        Details::Diff(DiffDetails::of(path))
    }

    async fn rehearse(
        &self,
        args: Args,
        context: ToolContext,
    ) -> Result<Option<Rehearsal>, ToolError> {
        self.plan(args, &context, Change::rehearse).await.map(Some)
    }

    async fn run(&self, args: Args, context: ToolContext) -> Result<ToolOutput, ToolError> {
        let shown = context.shown;
        self.plan(args, &context, move |change| change.make(shown))
            .await
    }
}

/// A new file. An existing one isn't emptied just because the old text is missing.
fn create(file: LockedFile, content: String) -> Result<Change, ToolError> {
    if file.is_new() {
        return write::replace(file, content);
    }
    Err(call::invalid(
        "old_string must not be empty if the file exists; to replace the whole file, use write",
    ))
}

fn edit_spec() -> ToolSpec {
    let pair = json!({
        "type": "object",
        "properties": {
            "old_text": {"type": "string"},
            "new_text": {"type": "string"}
        },
        "required": ["old_text", "new_text"],
        "additionalProperties": false
    });
    typed::spec(
        "edit",
        "Replace text in a file. old_text must match the file exactly, including whitespace, and occur \
         only once, unless replace_all is true. For several changes to one file use edits; each is \
         matched against the original file, and they must not overlap.",
        &["file_path"],
        json!({
            "file_path": {"type": "string", "description": "File to change"},
            "old_text": {"type": "string", "description": "Text to replace"},
            "new_text": {"type": "string", "description": "Replacement"},
            "replace_all": {"type": "boolean", "description": "Every occurrence"},
            "edits": {
                "type": "array",
                "description": "Instead of old_text and new_text",
                "items": pair
            }
        }),
    )
}

fn replace_spec() -> ToolSpec {
    typed::spec(
        "replace",
        "Replace text in a file. old_string must match the file exactly, including whitespace, and occur \
         only once, unless allow_multiple is true. An empty old_string creates a file.",
        &["file_path", "old_string", "new_string"],
        json!({
            "file_path": {"type": "string", "description": "File to change"},
            "instruction": {"type": "string", "description": "Purpose of the change"},
            "old_string": {"type": "string", "description": "Text to replace"},
            "new_string": {"type": "string", "description": "Replacement"},
            "allow_multiple": {"type": "boolean", "description": "Every occurrence"},
            "expected_replacements": {
                "type": "integer",
                "description": "How many occurrences, if more than one"
            }
        }),
    )
}
