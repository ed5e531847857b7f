//! Where MCP servers come from: `mcp.json` next to the settings and in the project, and the files of Claude
//! Code. Those of a project start only once the user has approved exactly them (see `approval`).

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::approval::{Approvals, Standing, contents};
use super::dirs::Dirs;
use super::humanize::plural;
use super::live_rules::{Stamp, stamp};
use super::trust::{PROJECT_SERVERS, Trust};
use crate::agent::mcp::{
    FoundServers, McpServer, McpSource, ServerFile, read_servers, servers_digest,
};
use crate::agent::word_list::WordList;
use crate::llm::read_small::read_small;

/// The table in `projects.toml` from project root to the digest of the approved servers.
const TABLE: &str = "mcp";
/// The key of the servers in a file.
const SERVERS: &str = "mcpServers";

/// Extensions of programs that an interpreter runs.
const PROGRAMS: WordList =
    WordList("js mjs cjs ts mts cts tsx py rb sh bash zsh pl php lua jar r jl");

/// The files with servers for a folder.
#[derive(Clone)]
pub struct McpFiles {
    dirs: Dirs,
    approvals: Approvals,
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
            approvals: Approvals::new(dirs, cwd, TABLE),
        }
    }

    /// All places, with whether they belong to the project. Of two servers with one name, the first counts.
    fn places(&self) -> Vec<(PathBuf, bool)> {
        let mut places = vec![(self.dirs.mcp_file(), false)];
        places.extend(self.claude_file().map(|file| (file, false)));
        let root = self.approvals.root();
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
            for folder in [self.approvals.cwd(), self.approvals.root()] {
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

    /// Whether the project's servers in `listed` may start.
    pub fn standing(&self, listed: &[ListedServers], trusted: bool) -> Result<Standing, String> {
        self.approvals.standing(&self.digest(listed), trusted)
    }

    /// Lets exactly the project's servers in `listed` start from now on.
    pub fn approve(&self, listed: &[ListedServers]) -> Result<(), String> {
        self.approvals.approve(&self.digest(listed))
    }

    fn digest(&self, listed: &[ListedServers]) -> String {
        let servers: Vec<McpServer> = servers_of_project(listed).cloned().collect();
        servers_digest(&servers, &contents(self.scripts(&servers)))
    }

    /// The files of the project that the servers' commands name.
    fn scripts(&self, servers: &[McpServer]) -> Vec<PathBuf> {
        let lines: Vec<String> = servers.iter().map(McpServer::what).collect();
        let mut scripts = self.approvals.scripts(lines.iter().map(String::as_str));
        // A server may also name data that it changes.
        scripts.retain(|file| is_program(file));
        scripts
    }
}

/// Whether the file is a program: by its name, or because it can be executed.
fn is_program(file: &Path) -> bool {
    let extension = file.extension().and_then(OsStr::to_str);
    let mode = fs::metadata(file).map_or(0, |it| it.permissions().mode());
    extension.is_some_and(|it| PROGRAMS.contains(it)) || mode & 0o111 != 0
}

fn fault(text: String) -> ServerFile {
    ServerFile {
        faults: vec![text],
        ..ServerFile::default()
    }
}

/// The servers of the project's files.
pub fn servers_of_project(listed: &[ListedServers]) -> impl Iterator<Item = &McpServer> {
    let of_project = listed.iter().filter(|it| it.of_project);
    of_project.flat_map(|it| &it.file.servers)
}

/// The servers for a folder while tiller runs.
pub struct LiveServers {
    files: McpFiles,
    /// `--trust`.
    trusts: bool,
    read: Option<[Vec<Stamp>; 2]>,
    /// The scripts that the project's servers name.
    scripts: Vec<PathBuf>,
}

impl LiveServers {
    /// The servers of `files`. With `trusts`, the user trusts the project for this run.
    pub fn new(files: McpFiles, trusts: bool) -> Self {
        Self {
            files,
            trusts,
            read: None,
            scripts: Vec::new(),
        }
    }

    /// What the files are now, and the scripts.
    fn stamps(&self) -> [Vec<Stamp>; 2] {
        let mut places = self.files.places();
        places.push((self.files.approvals.file.clone(), false));
        let places = places.iter().map(|(path, _)| stamp(path));
        let scripts = self.scripts.iter().map(|path| stamp(path));
        [places.collect(), scripts.collect()]
    }

    fn may_start(&self, listed: &[ListedServers], found: &mut FoundServers) -> bool {
        let count = servers_of_project(listed).count();
        if count == 0 {
            return false;
        }
        let approvals = &self.files.approvals;
        let trust = Trust::load(&approvals.file, approvals.cwd());
        let trusted = self.trusts || trust.is_ok_and(|trust| trust.is_trusted());
        match self.files.standing(listed, trusted) {
            Ok(Standing::Approved) => return true,
            Ok(Standing::Untrusted) => {}
            Ok(Standing::Waiting) => {
                let servers = plural(count as u64, "MCP server", "MCP servers");
                found.notices.push(format!(
                    "{servers} of this project won't start until you approve them: /mcp"
                ));
            }
            Err(why) => {
                let text = format!("The project's MCP servers don't start: {why}");
                found.notices.push(text);
            }
        }
        false
    }
}

impl McpSource for LiveServers {
    fn changed(&mut self) -> Option<FoundServers> {
        // Before reading, so that a change during it is found next time.
        let now = self.stamps();
        if self.read.as_ref() == Some(&now) {
            return None;
        }
        let listed = self.files.read();
        let own: Vec<McpServer> = servers_of_project(&listed).cloned().collect();
        self.scripts = self.files.scripts(&own);
        let [places, _] = now;
        let [_, scripts] = self.stamps();
        self.read = Some([places, scripts]);
        let mut found = FoundServers::default();
        let approved = self.may_start(&listed, &mut found);
        let mut names = HashSet::new();
        for it in listed {
            let path = it.path.display().to_string();
            // A file of Claude Code may have servers that only it can use.
            if it.path == self.files.dirs.mcp_file() {
                let faults = it.file.faults.iter();
                (found.notices).extend(faults.map(|fault| format!("{path}: {fault}")));
            }
            if it.of_project && !approved {
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
