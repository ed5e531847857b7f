//! Where MCP servers come from: `mcp.json` next to the settings, the files of Claude Code, and those of a project,
//! whose programs run in the sandbox of the model's commands once the user trusts it.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::dirs::Dirs;
use super::live_rules::{Stamp, stamp};
use super::trust::{PROJECT_SERVERS, Trust};
use crate::agent::git::project_root;
use crate::agent::mcp::{
    FoundServers, McpServer, McpSource, ServerFile, Transport, name_in_tools, read_servers,
};
use crate::llm::read_small::read_small;

/// The key of the servers in a file.
pub(crate) const SERVERS: &str = "mcpServers";

/// The files with servers for a folder.
#[derive(Clone)]
pub struct McpFiles {
    dirs: Dirs,
    cwd: PathBuf,
    /// `--trust`.
    trusts: bool,
    variables: Arc<Variables>,
}

/// The values of `${NAME}`.
struct Variables {
    /// For servers of the user.
    all: HashMap<String, String>,
    /// For those of a project, without secrets: the model can change what they run.
    of_commands: Vec<(OsString, OsString)>,
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
    /// Looks at the folder's project, and at the user's files. With `trusts`, the user trusts the project for
    /// this run. Servers of the user may use the `variables`, those of a project only the ones `of_commands`.
    pub fn new(
        dirs: &Dirs,
        cwd: &Path,
        trusts: bool,
        variables: &HashMap<String, String>,
        of_commands: &[(OsString, OsString)],
    ) -> Self {
        Self {
            dirs: dirs.clone(),
            cwd: cwd.to_owned(),
            trusts,
            variables: Arc::new(Variables {
                all: variables.clone(),
                of_commands: of_commands.to_vec(),
            }),
        }
    }

    /// Whether the servers of the project may run.
    pub fn trusts_project(&self) -> bool {
        let trust = Trust::load(&self.dirs.projects_file(), &self.cwd);
        self.trusts || trust.is_ok_and(|trust| trust.is_trusted())
    }

    /// The server with its variables replaced.
    ///
    /// # Errors
    /// Returns why it isn't used.
    pub fn usable(&self, server: &McpServer, of_project: bool) -> Result<McpServer, String> {
        if !of_project {
            let expanded = server.expanded(|name| self.variables.all.get(name).cloned());
            return expanded.map_err(|name| format!("the variable {name} isn't set"));
        }
        if matches!(server.transport, Transport::Http(_)) {
            return Err(format!(
                "a project can't choose where your data goes. If you trust the URL, copy the entry to {}",
                self.dirs.mcp_file().display()
            ));
        }
        let of_commands = &self.variables.of_commands;
        let expanded = server.expanded(|name| {
            let found = of_commands.iter().find(|(known, _)| known == name);
            found.and_then(|(_, value)| value.to_str().map(str::to_owned))
        });
        let mut expanded = expanded.map_err(|name| {
            format!("the variable {name} isn't set, or is a secret that the project doesn't get")
        })?;
        expanded.of_project = true;
        Ok(expanded)
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
            let is_empty = file.servers.is_empty() && file.disabled.is_empty();
            if !is_empty || !file.faults.is_empty() {
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
        if *path == self.dirs.mcp_file() && value.get(SERVERS).is_none() {
            return fault(format!(
                "it has no servers: put them inside \"{SERVERS}\": {{...}}"
            ));
        }
        let mut all = ServerFile::default();
        for value in values.into_iter().filter(|value| !value.is_null()) {
            let file = read_servers(value);
            for server in file.servers {
                if all.servers.iter().all(|known| known.name != server.name) {
                    all.servers.push(server);
                }
            }
            all.disabled.extend(file.disabled);
            all.faulty.extend(file.faulty);
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
        let files = &self.files;
        // Before reading, so that a change during it is found next time.
        let places = files.places().into_iter().map(|(path, _)| path);
        let places = places.chain([files.dirs.projects_file()]);
        let now: Vec<Stamp> = places.map(|path| stamp(&path)).collect();
        if self.read.as_ref() == Some(&now) {
            return None;
        }
        self.read = Some(now);
        let trusted = files.trusts_project();
        let mut found = FoundServers::default();
        let mut names = HashSet::new();
        // The user's rules for a server mean the user's, even if it can't start.
        let mut of_user = HashSet::new();
        let listed = files.read().into_iter();
        for it in listed.filter(|it| trusted || !it.of_project) {
            let path = it.path.display().to_string();
            // A file of Claude Code may have servers that only it can use.
            if it.path == files.dirs.mcp_file() {
                let faults = it.file.faults.iter();
                (found.notices).extend(faults.map(|fault| format!("{path}: {fault}")));
            }
            names.extend(it.file.disabled.iter().map(|name| name_in_tools(name)));
            if !it.of_project {
                let faulty = it.file.faulty.iter();
                of_user.extend(faulty.map(|name| name_in_tools(name)));
            }
            for server in it.file.servers {
                let name = name_in_tools(&server.name);
                if !it.of_project {
                    of_user.insert(name.clone());
                } else if of_user.contains(&name) {
                    continue;
                }
                match files.usable(&server, it.of_project) {
                    Ok(server) if names.insert(name) => found.servers.push(server),
                    // `/mcp` says why the project's aren't used.
                    Err(why) if !it.of_project => found.notices.push(format!(
                        "MCP server {} doesn't start: {why}. Set it, or write a default into {path}: \
                         ${{NAME:-DEFAULT}}",
                        server.name
                    )),
                    _ => {}
                }
            }
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_project_never_has_the_name_of_a_server_of_the_users() {
        let home = tempfile::tempdir().unwrap();
        let project = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name).display().to_string();
        let env = HashMap::from([
            ("HOME".to_owned(), at("")),
            ("TILLER_CONFIG_DIR".to_owned(), at("")),
        ]);
        let dirs = Dirs::from_env(&env, || None).unwrap();
        let own = r#"{"mcpServers": {"db": {"command": "own", "args": ["${UNSET}"]}, "my_lab": {"args": []}}}"#;
        fs::write(dirs.mcp_file(), own).unwrap();
        let theirs = r#"{"mcpServers": {
            "db": {"command": "a"}, "my lab": {"command": "b"}, "db__x": {"command": "c"}, "web": {"command": "d"}
        }}"#;
        fs::write(project.path().join(".mcp.json"), theirs).unwrap();
        let files = McpFiles::new(&dirs, project.path(), true, &HashMap::new(), &[]);
        let found = LiveServers::new(files).changed().unwrap();
        let names: Vec<&str> = found.servers.iter().map(|it| &*it.name).collect();
        assert_eq!(names, ["web"]);
    }
}
