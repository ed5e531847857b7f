//! The `apply_patch` tool: changes any number of files with one patch in the v4a format. It plans every
//! operation before it writes the first file, and does all of them or none.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;

use super::commit::commit;
use super::parse::{Change, Section, parse};
use super::plan::{Plan, paths_of, plan, resolve};
use crate::paths;
use crate::tool::{
    Details, DiffDetails, Effects, FileChange, Rehearsal, ToolContext, ToolError, ToolOutput,
};
use crate::tools::call;
use crate::tools::edit::change::must_be_shown;
use crate::tools::edit::locked_file::{Caller, lock_files};
use crate::tools::edit::seen_files::SeenFiles;
use crate::tools::typed::{self, TypedTool};
use tiller_llm::{CustomFormat, EditFormat, ToolSpec};

/// The grammar of a custom tool's text, for servers that enforce one.
const GRAMMAR: &str = include_str!("grammar.lark");

pub struct ApplyPatch(pub SeenFiles);

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Args {
    patch: String,
}

impl TypedTool for ApplyPatch {
    type Args = Args;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            custom: Some(CustomFormat {
                syntax: "lark".into(),
                definition: GRAMMAR.into(),
            }),
            ..typed::spec(
                "apply_patch",
                "Change, add, delete and move files with one patch, which applies completely or not at \
                 all.\n\
                 *** Begin Patch\n\
                 *** Update File: src/a.py\n\
                 *** Move to: src/b.py (optional)\n\
                 @@ class A:\n\
                 @@     def f(self):\n\x20        context\n\
                 -        old\n\
                 +        new\n\
                 *** Add File: c.txt\n\
                 +every line with +\n\
                 *** Delete File: d.txt\n\
                 *** End Patch\n\
                 Each line of a hunk begins with a space, - or +. Lines after @@ name the class or \
                 function around the hunk. *** End of File ends a hunk at the file's end. Hunks are in \
                 file order, without line numbers.",
                &["patch"],
                json!({
                    "patch": {"type": "string", "description": "The whole patch"}
                }),
            )
        }
    }

    fn edit_format(&self) -> Option<EditFormat> {
        Some(EditFormat::ApplyPatch)
    }

    fn effects(&self, args: Args) -> Effects {
        parse(&args.patch).map_or_else(
            |_| Effects::unknown(),
            |patch| Effects::write(patch.iter().flat_map(paths_of).collect()),
        )
    }

    fn preview(&self, args: Args) -> Details {
        let patch = parse(&args.patch).unwrap_or_default();
        Details::Diff(DiffDetails::of_all(patch.iter().map(preview)))
    }

    async fn rehearse(
        &self,
        args: Args,
        context: ToolContext,
    ) -> Result<Option<Rehearsal>, ToolError> {
        let rehearse = |plan: Plan| {
            Ok(Rehearsal {
                fingerprint: plan.fingerprint(),
                changes: plan.changes_anything(),
                details: Details::Diff(plan.details()),
            })
        };
        self.plan(args, &context, rehearse).await.map(Some)
    }

    async fn run(&self, args: Args, context: ToolContext) -> Result<ToolOutput, ToolError> {
        let shown = context.shown;
        let apply = move |plan: Plan| {
            must_be_shown(shown, || plan.fingerprint())?;
            // Before the commit, which a cancelled call waits for.
            let details = Details::Diff(plan.details());
            commit(&plan)?;
            let text = format!("Patch applied:\n{}", plan.report.join("\n"));
            Ok(ToolOutput::new(text, details))
        };
        self.plan(args, &context, apply).await
    }
}

impl ApplyPatch {
    /// Plans the patch, then does `what` with it.
    async fn plan<T: Send + 'static>(
        &self,
        args: Args,
        context: &ToolContext,
        what: impl FnOnce(Plan) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let patch = parse(&args.patch).map_err(|fault| {
            ToolError::new(format!("Invalid patch; nothing was changed: {fault}."))
        })?;
        let (patch, caller) = (Arc::new(patch), Caller::new(context));
        let find = {
            let patch = Arc::clone(&patch);
            move || resolve(&patch, &caller)
        };
        let locked = lock_files(&self.0, &context.cancel, find).await?;
        call::blocking(move || what(plan(&patch, locked)?)).await
    }
}

/// The changes of a section, without a diff.
fn preview(section: &Section) -> DiffDetails {
    let path = |path: &str| paths::readable(path.as_ref());
    let moved = section.move_to.as_deref();
    DiffDetails {
        moved_from: moved.map(|_| path(&section.path)),
        change: match section.change {
            Change::Add(_) => FileChange::Added,
            Change::Delete => FileChange::Deleted,
            Change::Update(_) => FileChange::Changed,
        },
        ..DiffDetails::of(path(moved.unwrap_or(&section.path)))
    }
}
