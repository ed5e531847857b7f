//! The `find` tool: names that match a glob, in sorted order. Memory is bounded by the limit.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::json;

use super::budget::{self, Budget};
use super::glob::Glob;
use super::hits::{Hit, Hits, Line};
use super::limits::{Limits, Results};
use super::root::SearchRoot;
use super::walk::{self, Entry};
use crate::agent::tool::{Details, Effects, FilesDetails, ToolContext, ToolError, ToolOutput};
use crate::agent::tools::settings::ToolSettings;
use crate::agent::tools::typed::TypedTool;
use crate::agent::tools::{call, paths};
use crate::llm::{Content, ToolSpec};

/// Names shown when the call does not say.
const LIMIT: usize = 1000;

/// Finds files by name.
pub struct Find {
    spec: ToolSpec,
    max_bytes: usize,
    timeout_s: u64,
}

impl Find {
    /// The tool.
    pub fn new(settings: &ToolSettings) -> Self {
        Self {
            spec: ToolSpec {
                name: "find".into(),
                description: "Find files by glob: without / names at any depth (*.rs), with / \
                              paths below path (src/**/*.rs). Sorted; respects .gitignore, shows \
                              hidden files; folders end in /."
                    .into(),
                parameters: json!({
                    "type": "object",
                    "properties": {
                        "pattern": {"type": "string", "description": "Glob"},
                        "path": {"type": "string", "description": "Folder, default ."},
                        "type": {"type": "string", "enum": ["file", "directory", "any"], "default": "file"},
                        "limit": {"type": "integer", "default": LIMIT}
                    },
                    "required": ["pattern"],
                    "additionalProperties": false
                }),
                ..ToolSpec::default()
            },
            max_bytes: settings.search_max_bytes,
            timeout_s: settings.search_timeout_s,
        }
    }
}

/// The arguments of a call.
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

    fn spec(&self) -> &ToolSpec {
        &self.spec
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
        let max_bytes = self.max_bytes;
        budget::run(context.cancel, self.timeout_s, move |budget| {
            Query::new(args, &context.cwd, max_bytes)?.run(budget)
        })
        .await
    }
}

/// Which entries are wanted.
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

/// What the call asks for.
struct Query {
    pattern: String,
    glob: Glob,
    root: SearchRoot,
    wanted: Wanted,
    limits: Limits,
}

impl Query {
    fn new(args: Args, cwd: &Path, max_bytes: usize) -> Result<Self, ToolError> {
        let glob = Glob::new(&args.pattern)?;
        Ok(Self {
            wanted: if glob.folders {
                Wanted::Folders
            } else {
                args.wanted
            },
            glob,
            root: SearchRoot::folder(&args.path, cwd)?,
            limits: Limits {
                count: call::positive(args.limit).unwrap_or(LIMIT),
                max_bytes,
            },
            pattern: args.pattern,
        })
    }

    fn run(self, budget: &Budget) -> Result<ToolOutput, ToolError> {
        let hits = Hits::new(self.limits.count, self.limits.max_bytes);
        walk::walk(&self.root, budget, &hits, || {
            |entry: Entry| {
                if let Some(name) = self.name(entry) {
                    let hit = Hit::name(&name);
                    hits.add(name, hit);
                }
            }
        });
        let mut names: Vec<Line> = hits.into_sorted().map(|(name, _)| name.into()).collect();
        let more = names.len() > self.limits.count;
        names.truncate(self.limits.count);
        let results = Results {
            lines: names,
            more,
            total: None,
            noun: "results",
            empty: "No files found",
        };
        let found = results.finish(self.limits, budget)?;
        Ok(ToolOutput {
            content: vec![Content::text(found.text)],
            details: Details::Files(FilesDetails {
                path: self.root.title(),
                pattern: self.pattern,
                files: found.lines,
                truncated: found.truncated,
            }),
            is_error: false,
        })
    }

    /// The entry's name in results, if it is wanted.
    fn name(&self, mut entry: Entry) -> Option<String> {
        let below = entry.path.strip_prefix(&self.root.path);
        if !self.glob.is_match(below.unwrap_or(&entry.path)) {
            return None;
        }
        // A link to a folder is shown as one, though nothing below it is walked.
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
