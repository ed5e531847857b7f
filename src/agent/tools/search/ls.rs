//! The `ls` tool: the names in one folder, hidden ones too. Does not look below.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::json;

use super::limits;
use super::walk::{Ground, Stop};
use crate::agent::tool::{Details, Effects, FilesDetails, ToolContext, ToolError, ToolOutput};
use crate::agent::tools::settings::ToolSettings;
use crate::agent::tools::typed::TypedTool;
use crate::agent::tools::{call, open, paths};
use crate::llm::{Content, ToolSpec};

/// Names shown when the call does not say.
const LIMIT: usize = 500;

/// Lists folders.
pub struct Ls {
    spec: ToolSpec,
    max_bytes: usize,
    timeout_s: u64,
}

impl Ls {
    /// The tool.
    pub fn new(settings: &ToolSettings) -> Self {
        Self {
            spec: ToolSpec {
                name: "ls".into(),
                description: "List a folder, hidden names too; folders end in /.".into(),
                parameters: json!({
                    "type": "object",
                    "properties": {
                        "path": {"type": "string", "description": "Folder, default ."},
                        "limit": {"type": "integer", "default": LIMIT}
                    },
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
    path: String,
    limit: Option<i64>,
}

impl TypedTool for Ls {
    type Args = Args;

    fn spec(&self) -> &ToolSpec {
        &self.spec
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
        let (max_bytes, timeout_s) = (self.max_bytes, self.timeout_s);
        let cancel = context.cancel.clone();
        call::look(&cancel, move || {
            let stop = Stop::new(context.cancel, timeout_s);
            let limit = call::positive(args.limit).unwrap_or(LIMIT);
            list(
                &args.path,
                &context.cwd,
                limit,
                max_bytes,
                (&stop, timeout_s),
            )
        })
        .await
    }
}

fn list(
    raw: &str,
    cwd: &Path,
    limit: usize,
    max_bytes: usize,
    (stop, timeout_s): (&Stop, u64),
) -> Result<ToolOutput, ToolError> {
    let ground = Ground::folder(raw, cwd)?;
    let entries = fs::read_dir(&ground.root).map_err(|error| open::unreachable(&error, raw))?;
    // The smallest names by what they look like, then by what they are; one more than can be
    // shown.
    let mut kept = BTreeSet::new();
    for entry in entries.flatten() {
        if stop.now() {
            break;
        }
        let name = paths::readable(&entry.file_name());
        kept.insert((name.to_lowercase(), name, entry.file_name()));
        if kept.len() > limit.saturating_add(1) {
            kept.pop_last();
        }
    }
    if stop.now() && !stop.timed_out() {
        return Err(call::cancelled());
    }
    let more = kept.len() > limit;
    let mut files: Vec<String> = kept
        .into_iter()
        .take(limit)
        .map(|(_, mut name, raw_name)| {
            if fs::metadata(ground.root.join(raw_name)).is_ok_and(|meta| meta.is_dir()) {
                name.push('/');
            }
            name
        })
        .collect();
    let fitting = limits::fitting(files.iter(), max_bytes);
    let mut notes = Vec::new();
    if fitting < files.len() {
        files.truncate(fitting);
        notes.push(limits::cut(max_bytes, fitting, "entries"));
    } else if more {
        notes.push(limits::more(limit, "entries"));
    }
    let truncated = !notes.is_empty();
    notes.extend(limits::shortcomings(stop, timeout_s));
    Ok(ToolOutput {
        content: vec![Content::text(limits::report(
            &files,
            "(empty folder)",
            &notes,
        ))],
        details: Details::Files(FilesDetails {
            pattern: String::new(),
            path: ground.title(),
            files,
            truncated,
        }),
        is_error: false,
    })
}
