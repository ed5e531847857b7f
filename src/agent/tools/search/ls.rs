//! The `ls` tool: the names in one folder, including hidden ones. Doesn't descend.

use std::fs;

use serde::Deserialize;
use serde_json::json;

use super::budget::{self, Budget, Limits};
use super::hits::{Hit, Hits, Line};
use super::results::Results;
use super::root::SearchRoot;
use crate::paths;
use crate::tool::{Details, Effects, FilesDetails, ToolContext, ToolError, ToolOutput};
use crate::tools::open;
use crate::tools::settings::ToolSettings;
use crate::tools::typed::{self, TypedTool};
use tiller_llm::ToolSpec;

/// Names shown by default.
const LIMIT: usize = 500;

pub struct Ls(pub ToolSettings);

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Args {
    path: String,
    limit: Option<i64>,
}

impl TypedTool for Ls {
    type Args = Args;

    fn spec(&self) -> ToolSpec {
        typed::spec(
            "ls",
            "List a folder, with hidden names; folders end in /.",
            &[],
            json!({
                "path": {"type": "string", "description": "Folder, default ."},
                "limit": {"type": "integer", "default": LIMIT}
            }),
        )
    }

    fn effects(&self, args: Args) -> Effects {
        Effects::read(args.path)
    }

    fn preview(&self, args: Args) -> Details {
        Details::Files(FilesDetails {
            path: paths::readable(args.path.as_ref()),
            ..FilesDetails::default()
        })
    }

    async fn run(&self, args: Args, context: ToolContext) -> Result<ToolOutput, ToolError> {
        let limits = Limits::new(args.limit, LIMIT, &self.0);
        budget::run(context.cancel.clone(), limits, move |budget| {
            list(&args.path, &context, budget)
        })
        .await
    }
}

fn list(raw: &str, context: &ToolContext, budget: &Budget) -> Result<ToolOutput, ToolError> {
    let root = SearchRoot::folder(raw, context)?;
    let unreachable = |error| open::unreachable(&error, raw);
    let folder = root.reach.open_folder(&root.path).map_err(unreachable)?;
    let entries = folder.names().map_err(unreachable)?;
    // Sorted by displayed name, then by actual name.
    let hits = Hits::new(budget.limits);
    let mut total = 0;
    for (raw_name, _) in budget.readable(entries, &root.prefix()) {
        total += 1;
        let name = paths::readable(&raw_name);
        let hit = Hit::name(&name);
        hits.add((name.to_lowercase(), name, raw_name), hit);
    }
    let sorted = hits.into_sorted().take(budget.limits.count);
    let lines: Vec<Line> = sorted
        .map(|((_, mut name, raw_name), _)| {
            if fs::metadata(root.path.join(raw_name)).is_ok_and(|meta| meta.is_dir()) {
                name.push('/');
            }
            name.into()
        })
        .collect();
    let results = Results {
        more: total > lines.len(),
        lines,
        total: Some(total),
        noun: "entries",
        empty: "(empty folder)",
    };
    Ok(results.finish(budget)?.list(String::new(), &root))
}
