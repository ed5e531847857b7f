//! The `find` tool: names that match a glob, in sorted order. Memory is bounded by the limit.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use ignore::DirEntry;
use serde::Deserialize;
use serde_json::json;

use super::glob::Glob;
use super::limits;
use super::walk::{self, Ground, Horizon, Stop, Visitor};
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
        let (max_bytes, timeout_s) = (self.max_bytes, self.timeout_s);
        let cancel = context.cancel.clone();
        call::look(&cancel, move || {
            let query = Query::new(args, &context.cwd)?;
            let stop = Stop::new(context.cancel, timeout_s);
            query.run(&stop, max_bytes, timeout_s)
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
    ground: Ground,
    wanted: Wanted,
    limit: usize,
}

impl Query {
    fn new(args: Args, cwd: &Path) -> Result<Self, ToolError> {
        let glob = Glob::new(&args.pattern)?;
        Ok(Self {
            wanted: if glob.folders {
                Wanted::Folders
            } else {
                args.wanted
            },
            glob,
            ground: Ground::folder(&args.path, cwd)?,
            limit: call::positive(args.limit).unwrap_or(LIMIT),
            pattern: args.pattern,
        })
    }

    fn run(&self, stop: &Stop, max_bytes: usize, timeout_s: u64) -> Result<ToolOutput, ToolError> {
        let (names, horizon) = (Names::new(self.limit, max_bytes), Horizon::default());
        let make = || -> Box<dyn Visitor + '_> {
            Box::new(NameVisitor {
                query: self,
                names: &names,
                horizon: &horizon,
            })
        };
        walk::walk(&self.ground, stop, &horizon, &make);
        if stop.now() && !stop.timed_out() {
            return Err(call::cancelled());
        }
        let mut files = names.into_sorted();
        let more = files.len() > self.limit;
        files.truncate(self.limit);
        let fitting = limits::fitting(files.iter(), max_bytes);
        let mut notes = Vec::new();
        if fitting < files.len() {
            files.truncate(fitting);
            notes.push(limits::cut(max_bytes, fitting, "results"));
        } else if more {
            notes.push(limits::more(self.limit, "results"));
        }
        let truncated = !notes.is_empty();
        notes.extend(limits::shortcomings(stop, timeout_s));
        Ok(ToolOutput {
            content: vec![Content::text(limits::report(
                &files,
                "No files found",
                &notes,
            ))],
            details: Details::Files(FilesDetails {
                pattern: self.pattern.clone(),
                path: self.ground.title(),
                files,
                truncated: truncated || stop.timed_out(),
            }),
            is_error: false,
        })
    }
}

/// The smallest names so far: one more than can be shown, to know that there are more.
struct Names {
    limit: usize,
    max_bytes: usize,
    kept: Mutex<(BTreeSet<String>, usize)>,
}

impl Names {
    fn new(limit: usize, max_bytes: usize) -> Self {
        Self {
            limit,
            max_bytes,
            kept: Mutex::default(),
        }
    }

    fn add(&self, name: String, horizon: &Horizon) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (names, bytes) = &mut *kept;
        let length = name.len() + 1;
        if names.insert(name) {
            *bytes += length;
        }
        let enough = |count: usize, bytes: usize| count > self.limit || bytes > self.max_bytes + 1;
        while let Some(last) = names.last()
            && enough(names.len() - 1, *bytes - last.len() - 1)
        {
            *bytes -= last.len() + 1;
            names.pop_last();
        }
        if enough(names.len(), *bytes)
            && let Some(last) = names.last()
        {
            horizon.set(last);
        }
    }

    fn into_sorted(self) -> Vec<String> {
        let (names, _) = self
            .kept
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        names.into_iter().collect()
    }
}

struct NameVisitor<'s> {
    query: &'s Query,
    names: &'s Names,
    horizon: &'s Horizon,
}

impl Visitor for NameVisitor<'_> {
    fn visit(&mut self, entry: &DirEntry, mut shown: String) {
        let path = entry.path();
        let below = path.strip_prefix(&self.query.ground.root).unwrap_or(path);
        if !self.query.glob.is_match(below) {
            return;
        }
        // A link to a folder is shown as one, though nothing below it is walked.
        if entry.path_is_symlink() && fs::metadata(path).is_ok_and(|meta| meta.is_dir()) {
            shown.push('/');
        }
        let fits = match self.query.wanted {
            Wanted::Files => !shown.ends_with('/'),
            Wanted::Folders => shown.ends_with('/'),
            Wanted::Any => true,
        };
        if fits {
            self.names.add(shown, self.horizon);
        }
    }
}
