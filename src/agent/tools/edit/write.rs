//! The `write` tool: creates or replaces a whole file, completely or not at all.

use serde::Deserialize;
use serde_json::json;

use super::change::Change;
use super::diff;
use super::locked_file::{CurrentFile, LockedFile};
use super::seen_files::SeenFiles;
use crate::paths;
use crate::paths::Purpose;
use crate::tool::{Details, DiffDetails, Effects, Rehearsal, ToolContext, ToolError, ToolOutput};
use crate::tools::call;
use crate::tools::kind;
use crate::tools::typed::{self, TypedTool};
use tiller_llm::ToolSpec;

/// Larger files are replaced without showing a diff.
const MAX_DIFF: u64 = 8 * 1024 * 1024;

pub struct Write(pub SeenFiles);

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Args {
    file_path: String,
    content: String,
}

impl TypedTool for Write {
    type Args = Args;

    fn spec(&self) -> ToolSpec {
        typed::spec(
            "write",
            "Create or overwrite a file. Creates missing folders. Not for changing parts of a file.",
            &["file_path", "content"],
            json!({
                "file_path": {"type": "string", "description": "File to write"},
                "content": {"type": "string", "description": "Complete new content"}
            }),
        )
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

impl Write {
    /// Plans the change, then does `what` with it.
    async fn plan<T: Send + 'static>(
        &self,
        args: Args,
        context: &ToolContext,
        what: impl FnOnce(Change) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let (path, purpose) = (args.file_path, Purpose::MayBeNew);
        let file = LockedFile::lock(path, purpose, &self.0, context).await?;
        call::blocking(move || what(replace(file, args.content)?)).await
    }
}

/// A change that makes `content` the whole file.
pub(super) fn replace(file: LockedFile, content: String) -> Result<Change, ToolError> {
    let before = if file.is_new() {
        None
    } else {
        Some(file.load(MAX_DIFF)?)
    };
    if let Some(current) = &before
        && current.freshness.is_changed()
    {
        return Err(ToolError::new(format!(
            "{} has changed on disk since you last read it, so it was not overwritten. {}",
            file.path.shown,
            file.show_changes(current)
        )));
    }
    let shown = &file.path.shown;
    Ok(Change {
        report: format!("Successfully wrote {} bytes to {shown}", content.len()),
        details: difference(&file, before.as_ref(), &content),
        after: content.into_bytes(),
        before,
        file,
    })
}

fn difference(file: &LockedFile, before: Option<&CurrentFile>, content: &str) -> DiffDetails {
    let path = file.path.display.clone();
    let old = match before {
        None => Some(&[][..]),
        Some(current) => current
            .bytes
            .as_deref()
            .filter(|bytes| !kind::has_nul(bytes)),
    };
    match old {
        Some(old) if content.len() as u64 <= MAX_DIFF => {
            diff::details(path, old, content.as_bytes())
        }
        _ => {
            let lines = content.lines().count() as u64;
            DiffDetails {
                added: lines,
                new_lines: lines,
                first_changed_line: Some(1),
                ..DiffDetails::of(path)
            }
        }
    }
}
