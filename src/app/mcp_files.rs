//! Where MCP servers come from: `mcp.json` next to the settings, and the files of Claude Code. Those of a project
//! are only listed.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::dirs::Dirs;
use super::live_rules::{Stamp, stamp};
use crate::agent::git::project_root;
use crate::agent::mcp::{FoundServers, McpSource, ServerFile, read_servers};
use crate::llm::read_small::read_small;

/// Files in a project that may have servers.
const PROJECT_SERVERS: [&str; 2] = [".tiller/mcp.json", ".mcp.json"];
/// The key of the servers in a file.
const SERVERS: &str = "mcpServers";

/// The files with servers for a folder.
#[derive(Clone)]
pub struct McpFiles {
    dirs: Dirs,
    cwd: PathBuf,
}

/// A file with servers.
pub struct ListedServers {
    /// Where it is.
    pub path: PathBuf,
    /// Whether it belongs to the project.
    pub of_project: bool,
    /// What it has.
    pub file: ServerFile,
}

impl McpFiles {
    /// Looks at the folder's project, and at the user's files.
    pub fn new(dirs: &Dirs, cwd: &Path) -> Self {
        Self {
            dirs: dirs.clone(),
            cwd: cwd.to_owned(),
        }
    }

    /// All places, with whether they belong to the project. Of two servers with one name, the first counts.
    fn places(&self) -> Vec<(PathBuf, bool)> {
        let mut places = vec![(self.dirs.mcp_file(), false)];
        places.extend(self.claude_file().map(|file| (file, false)));
        let root = project_root(&self.cwd);
        places.extend(PROJECT_SERVERS.map(|name| (root.join(name), true)));
        places
    }

    fn claude_file(&self) -> Option<PathBuf> {
        Some(self.dirs.home.as_ref()?.join(".claude.json"))
    }

    /// Reads the files that have servers, or errors.
    pub fn read(&self) -> Vec<ListedServers> {
        let mut found = Vec::new();
        for (path, of_project) in self.places() {
            let file = match read_small(&path) {
                Ok(text) => self.parse(&path, &text),
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => fault(error.to_string()),
            };
            if !file.servers.is_empty() || !file.faults.is_empty() {
                found.push(ListedServers {
                    path,
                    of_project,
                    file,
                });
            }
        }
        found
    }

    fn parse(&self, path: &Path, text: &str) -> ServerFile {
        let value: Value = match serde_json::from_str(text) {
            Ok(value) => value,
            Err(error) => return fault(format!("not valid JSON: {error}")),
        };
        let mut values = Vec::new();
        if self.claude_file().as_deref() == Some(path) {
            for folder in [&*self.cwd, project_root(&self.cwd)] {
                let folder = folder.to_str().unwrap_or_default();
                values.push(&value["projects"][folder][SERVERS]);
            }
        }
        values.push(&value[SERVERS]);
        let mut all = ServerFile::default();
        for value in values.into_iter().filter(|value| !value.is_null()) {
            let file = read_servers(value);
            for server in file.servers {
                if all.servers.iter().all(|known| known.name != server.name) {
                    all.servers.push(server);
                }
            }
            for fault in file.faults {
                if !all.faults.contains(&fault) {
                    all.faults.push(fault);
                }
            }
        }
        all
    }
}

fn fault(text: String) -> ServerFile {
    ServerFile {
        faults: vec![text],
        ..ServerFile::default()
    }
}

/// The servers for a folder while tiller runs.
pub struct LiveServers {
    files: McpFiles,
    read: Option<Vec<Stamp>>,
}

impl LiveServers {
    /// The servers of `files`.
    pub fn new(files: McpFiles) -> Self {
        Self { files, read: None }
    }
}

impl McpSource for LiveServers {
    fn changed(&mut self) -> Option<FoundServers> {
        // Before reading, so that a change during it is found next time.
        let places = self.files.places();
        let now: Vec<Stamp> = places.iter().map(|(path, _)| stamp(path)).collect();
        if self.read.as_ref() == Some(&now) {
            return None;
        }
        self.read = Some(now);
        let listed = self.files.read();
        let mut found = FoundServers::default();
        let mut names = HashSet::new();
        for it in listed {
            let path = it.path.display().to_string();
            // A file of Claude Code may have servers that only it can use.
            if it.path == self.files.dirs.mcp_file() {
                let faults = it.file.faults.iter();
                (found.notices).extend(faults.map(|fault| format!("{path}: {fault}")));
            }
            // They would run outside the sandbox, and the model can change them.
            if it.of_project {
                continue;
            }
            for server in it.file.servers {
                match server.expanded(|name| std::env::var(name).ok()) {
                    Ok(server) if names.insert(server.name.clone()) => found.servers.push(server),
                    Ok(_) => {}
                    Err(variable) => found.notices.push(format!(
                        "MCP server {} doesn't start: the variable {variable} isn't set. Set it, or write \
                         ${{{variable}:-DEFAULT}} in {path}",
                        server.name
                    )),
                }
            }
        }
        Some(found)
    }
}
