//! What the user has approved of a project's programs: hooks, MCP servers. These run outside the sandbox, so
//! they run only once the user has approved exactly them. `projects.toml` holds a digest of their entries
//! and of the scripts in the project that these name.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use toml::Table;

use super::config::set_in_file;
use super::dirs::Dirs;
use crate::agent::git::project_root;
use crate::llm::read_small::read_small;

/// The largest script that an approval covers, in bytes.
const MAX_SCRIPT: u64 = 1 << 20;

/// The user's approvals of one kind for the project around a folder.
#[derive(Clone)]
pub struct Approvals {
    /// `projects.toml`.
    pub file: PathBuf,
    /// The table in it, from project root to digest.
    table: &'static str,
    cwd: PathBuf,
    root: PathBuf,
}

/// What keeps a project's programs from running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing.
    Approved,
    /// The user hasn't approved exactly these.
    Waiting,
    /// The user doesn't trust the project.
    Untrusted,
}

impl Approvals {
    /// Those in `table` for the project around `cwd`.
    pub fn new(dirs: &Dirs, cwd: &Path, table: &'static str) -> Self {
        Self {
            file: dirs.projects_file(),
            table,
            cwd: cwd.to_owned(),
            root: project_root(cwd).to_owned(),
        }
    }

    /// The project's folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder in it that tiller works in.
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// Whether the programs with this digest may run.
    pub fn standing(&self, digest: &str, trusted: bool) -> Result<Standing, String> {
        if !trusted {
            return Ok(Standing::Untrusted);
        }
        let text = match read_small(&self.file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error.to_string()),
        };
        let table: Table = (text.parse())
            .map_err(|error: toml::de::Error| format!("{}: {error}", self.file.display()))?;
        let kind = table.get(self.table);
        let approved = kind.and_then(|kind| kind.get(self.root.to_str()?)?.as_str());
        Ok(if approved == Some(digest) {
            Standing::Approved
        } else {
            Standing::Waiting
        })
    }

    /// Lets exactly the programs with this digest run from now on.
    pub fn approve(&self, digest: &str) -> Result<(), String> {
        let root = (self.root.to_str())
            .ok_or_else(|| format!("{}: its name isn't UTF-8", self.root.display()))?;
        set_in_file(&self.file, self.table, root, digest)
    }

    /// The files of the project that these command lines name.
    pub fn scripts<'a>(&self, lines: impl IntoIterator<Item = &'a str>) -> Vec<PathBuf> {
        let mut scripts = Vec::new();
        for line in lines {
            let named = line
                .replace("${CLAUDE_PROJECT_DIR}", "")
                .replace("$CLAUDE_PROJECT_DIR", "");
            let ends_word = |c: char| c.is_whitespace() || "\"';|&()<>=`".contains(c);
            for word in named.split(ends_word) {
                let inside = Path::new(word.trim_start_matches('/'));
                for script in [self.root.join(inside), self.cwd.join(inside), word.into()] {
                    let is_file = fs::metadata(&script)
                        .is_ok_and(|it| it.is_file() && it.len() <= MAX_SCRIPT);
                    let within = script.starts_with(&self.root);
                    if is_file && within && !scripts.contains(&script) {
                        scripts.push(script);
                    }
                }
            }
        }
        scripts
    }
}

/// What these files hold now; nothing for one that can't be read.
pub fn contents(files: Vec<PathBuf>) -> Vec<Vec<u8>> {
    let read = |file| fs::read(file).unwrap_or_default();
    files.into_iter().map(read).collect()
}
