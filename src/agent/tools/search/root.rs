//! Where a search starts, and how results show paths below it.

use std::fs;
use std::path::PathBuf;

use crate::paths;
use crate::tool::{ToolContext, ToolError};
use crate::tools::open;
use crate::workspace::{Access, Reach};

pub struct SearchRoot {
    pub reach: Reach,
    /// Its path, with all links resolved.
    pub path: PathBuf,
    /// Whether it is a folder; otherwise it is a regular file.
    pub is_folder: bool,
    /// The path for results; empty for the working directory.
    shown: String,
}

impl SearchRoot {
    /// Resolves the `path` argument; an empty `raw` means the working directory.
    pub fn new(raw: &str, context: &ToolContext) -> Result<Self, ToolError> {
        let (cwd, reach) = (context.cwd.as_path(), context.reach.clone());
        let path = if raw.is_empty() {
            cwd.to_path_buf()
        } else {
            reach.resolve(raw, cwd, paths::Purpose::Existing)
        };
        let real = fs::canonicalize(&path).map_err(|error| {
            if raw.is_empty() {
                let cwd = cwd.display();
                ToolError::new(format!("The working directory is gone: {cwd}"))
            } else {
                open::unreachable(&error, raw)
            }
        })?;
        let allowed = reach.check(&real, Access::Read);
        allowed.map_err(|error| open::unreachable(&error, raw))?;
        let kind = fs::metadata(&real)
            .map_err(|error| open::unreachable(&error, raw))?
            .file_type();
        if !kind.is_dir() {
            open::must_be_file(kind, raw)?;
        }
        let named = reach.named(&path);
        let shown: PathBuf = named
            .strip_prefix(cwd)
            .unwrap_or(&named)
            .components()
            .collect();
        Ok(Self {
            reach,
            path: real,
            is_folder: kind.is_dir(),
            shown: paths::readable(shown.as_os_str()),
        })
    }

    /// Like [`Self::new`], for tools that need a folder.
    pub fn folder(raw: &str, context: &ToolContext) -> Result<Self, ToolError> {
        let root = Self::new(raw, context)?;
        if root.is_folder {
            Ok(root)
        } else {
            Err(ToolError::new(format!("{raw} is a file, not a folder.")))
        }
    }

    /// The path for the user: `.` for the working directory.
    pub fn title(&self) -> String {
        if self.shown.is_empty() {
            ".".into()
        } else {
            self.shown.clone()
        }
    }

    /// The prefix for paths in results: empty, or ending in `/`, so that `read` accepts them unchanged.
    pub fn prefix(&self) -> String {
        match self.shown.as_str() {
            "" => String::new(),
            shown if shown.ends_with('/') => shown.into(),
            shown => format!("{shown}/"),
        }
    }
}
