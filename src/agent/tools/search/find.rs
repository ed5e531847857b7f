//! The `find` tool: names that match a glob, in sorted order. Memory is bounded by the limit.

use std::fs;

use serde::Deserialize;
use serde_json::json;

use super::budget::{self, Budget, Limits};
use super::glob::Glob;
use super::hits::{Hit, Hits, Line};
use super::results::Results;
use super::root::SearchRoot;
use super::walk::{self, Entry};
use crate::paths;
use crate::tool::{Details, Effects, FilesDetails, ToolContext, ToolError, ToolOutput};
use crate::tools::settings::ToolSettings;
use crate::tools::typed::{self, TypedTool};
use tiller_llm::ToolSpec;

/// Names shown by default.
const LIMIT: usize = 1000;

pub struct Find(pub ToolSettings);

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Args {
    pattern: String,
    path: String,
    #[serde(rename = "type")]
    wanted: Wanted,
    limit: Option<i64>,
}

impl TypedTool for Find {
    type Args = Args;

    fn spec(&self) -> ToolSpec {
        typed::spec(
            "find",
            "Find files by glob: without /, names at any depth (*.rs); with /, paths below path \
             (src/**/*.rs). Sorted; respects .gitignore, includes hidden files; folders end in /.",
            &["pattern"],
            json!({
                "pattern": {"type": "string", "description": "Glob"},
                "path": {"type": "string", "description": "Folder, default ."},
                "type": {"type": "string", "enum": ["file", "directory", "any"], "default": "file"},
                "limit": {"type": "integer", "default": LIMIT}
            }),
        )
    }

    fn effects(&self, args: Args) -> Effects {
        Effects::read(args.path)
    }

    fn preview(&self, args: Args) -> Details {
        Details::Files(FilesDetails {
            pattern: args.pattern,
            path: paths::readable(args.path.as_ref()),
            ..FilesDetails::default()
        })
    }

    async fn run(&self, args: Args, context: ToolContext) -> Result<ToolOutput, ToolError> {
        let limits = Limits::new(args.limit, LIMIT, &self.0);
        budget::run(context.cancel.clone(), limits, move |budget| {
            Query::new(args, &context)?.run(budget)
        })
        .await
    }
}

#[derive(Clone, Copy, Default, Deserialize, PartialEq)]
enum Wanted {
    #[default]
    #[serde(rename = "file")]
    Files,
    #[serde(rename = "directory")]
    Folders,
    #[serde(rename = "any")]
    Any,
}

struct Query {
    pattern: String,
    glob: Glob,
    root: SearchRoot,
    wanted: Wanted,
}

impl Query {
    fn new(args: Args, context: &ToolContext) -> Result<Self, ToolError> {
        let glob = Glob::new(&args.pattern)?;
        Ok(Self {
            wanted: if glob.folders {
                Wanted::Folders
            } else {
                args.wanted
            },
            glob,
            root: SearchRoot::folder(&args.path, context)?,
            pattern: args.pattern,
        })
    }

    fn run(self, budget: &Budget) -> Result<ToolOutput, ToolError> {
        let hits = Hits::new(budget.limits);
        walk::walk(&self.root, budget, &hits, || {
            |entry: Entry| {
                if let Some(name) = self.name(entry) {
                    let hit = Hit::name(&name);
                    hits.add(name, hit);
                }
            }
        });
        let mut names: Vec<Line> = hits.into_sorted().map(|(name, _)| name.into()).collect();
        let more = names.len() > budget.limits.count;
        names.truncate(budget.limits.count);
        let results = Results {
            lines: names,
            more,
            total: None,
            noun: "results",
            empty: "No files found",
        };
        Ok(results.finish(budget)?.list(self.pattern, &self.root))
    }

    /// The entry's name in results, if it matches.
    fn name(&self, mut entry: Entry) -> Option<String> {
        let below = entry.path.strip_prefix(&self.root.path);
        if !self.glob.is_match(below.unwrap_or(&entry.path)) {
            return None;
        }
        // A link to a folder is shown as a folder, although nothing below it is walked.
        if entry.kind.is_symlink() && fs::metadata(&entry.path).is_ok_and(|meta| meta.is_dir()) {
            entry.shown.push('/');
        }
        let is_folder = entry.shown.ends_with('/');
        let wanted = match self.wanted {
            Wanted::Files => !is_folder,
            Wanted::Folders => is_folder,
            Wanted::Any => true,
        };
        wanted.then_some(entry.shown)
    }
}
