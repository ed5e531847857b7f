//! Where the user's tools come from: a folder next to the settings, and one in the project. Those of a project are
//! used once the user trusts it. Of two with one name, that of the project counts.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::dirs::Dirs;
use super::live_rules::{Stamp, stamp};
use super::trust::{PROJECT_TOOLS, Trust};
use crate::agent::NoticeLevel;
use crate::agent::git::project_root;
use crate::agent::tools::own::{FoundTools, OwnFolder, ToolSource, read_folder};
use crate::agent::tools::{ToolSettings, builtin};

/// Most files of an untrusted project whose names count.
const MOST_NAMES: usize = 500;

/// The folders with tools for a folder.
#[derive(Clone)]
pub struct ToolFiles {
    dirs: Dirs,
    cwd: PathBuf,
}

/// A folder with tools.
pub struct ListedTools {
    /// Where it is.
    pub path: PathBuf,
    /// Whether it belongs to the project.
    pub of_project: bool,
    /// What it has.
    pub found: OwnFolder,
}

impl ToolFiles {
    /// Looks at the folder's project, and at the user's tools.
    pub fn new(dirs: &Dirs, cwd: &Path) -> Self {
        Self {
            dirs: dirs.clone(),
            cwd: cwd.to_owned(),
        }
    }

    /// The names of all tools that can be used here. Of a project that isn't `trusted`, these are the names of
    /// files, because nothing there is read.
    pub fn names(&self, trusted: bool) -> Vec<String> {
        let mut names = Vec::new();
        for it in self.read(trusted) {
            if it.of_project && !trusted {
                let files = fs::read_dir(&it.path).into_iter().flatten().flatten();
                let stems = files.take(MOST_NAMES).map(|file| {
                    let path = file.path();
                    path.file_stem()
                        .unwrap_or_default()
                        .to_string_lossy()
                        .into_owned()
                });
                names.extend(stems);
            }
            names.extend(it.found.tools.into_iter().map(|tool| tool.name));
        }
        names
    }

    /// The folders, best first, with whether they belong to the project.
    fn places(&self) -> [(PathBuf, bool); 2] {
        let of_project = project_root(&self.cwd).join(PROJECT_TOOLS);
        [(of_project, true), (self.dirs.tools(), false)]
    }

    /// Reads the folders that have tools, or faults. That of a project which isn't `trusted` is only named.
    pub fn read(&self, trusted: bool) -> Vec<ListedTools> {
        let mut listed = Vec::new();
        for (path, of_project) in self.places() {
            if of_project && !trusted {
                if path.is_dir() {
                    listed.push(ListedTools {
                        path,
                        of_project,
                        found: OwnFolder::default(),
                    });
                }
                continue;
            }
            let root = project_root(&self.cwd);
            let mut found = read_folder(&path, of_project.then_some(root));
            // The settings are hidden from commands.
            if let (false, Ok(real)) = (of_project, path.canonicalize()) {
                for tool in &mut found.tools {
                    tool.folder = Some(real.clone());
                }
            }
            if found != OwnFolder::default() {
                listed.push(ListedTools {
                    path,
                    of_project,
                    found,
                });
            }
        }
        listed
    }
}

/// The names of the user's tools for every project.
pub fn own_tool_names(dirs: &Dirs) -> Vec<String> {
    let tools = read_folder(&dirs.tools(), None).tools.into_iter();
    tools.map(|tool| tool.name).collect()
}

/// The user's tools while tiller runs.
pub struct LiveTools {
    files: ToolFiles,
    /// `--trust`.
    trusts: bool,
    read: Option<BTreeMap<PathBuf, Stamp>>,
}

impl LiveTools {
    /// The tools of `files`. With `trusts`, the user trusts the project for this run.
    pub fn new(files: ToolFiles, trusts: bool) -> Self {
        Self {
            files,
            trusts,
            read: None,
        }
    }

    fn stamps(&self, trusted: bool) -> BTreeMap<PathBuf, Stamp> {
        let mut files = vec![self.files.dirs.projects_file()];
        let places = self.files.places().into_iter();
        for (folder, _) in places.filter(|(_, of_project)| trusted || !of_project) {
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            files.extend(entries.map(|entry| entry.path()));
            files.push(folder);
        }
        let stamped = files.into_iter().map(|file| {
            let now = stamp(&file);
            (file, now)
        });
        stamped.collect()
    }
}

impl ToolSource for LiveTools {
    fn changed(&mut self) -> Option<FoundTools> {
        let files = &self.files;
        let trust = Trust::load(&files.dirs.projects_file(), &files.cwd);
        let trusted = self.trusts || trust.is_ok_and(|trust| trust.is_trusted());
        // Before reading, so that a change during it is found next time.
        let now = self.stamps(trusted);
        if self.read.as_ref() == Some(&now) {
            return None;
        }
        let is_first = self.read.replace(now).is_none();
        let listed = self.files.read(trusted);
        if is_first && listed.is_empty() {
            return None;
        }
        let mut found = FoundTools::default();
        let built_in = builtin(&ToolSettings::default());
        for it in listed {
            let path = it.path.display();
            let faults = it.found.faults.iter();
            let faults = faults.map(|fault| (NoticeLevel::Warning, format!("{path}: {fault}")));
            found.notices.extend(faults);
            for tool in it.found.tools {
                if found.tools.iter().any(|known| known.name == tool.name) {
                    continue;
                }
                if built_in.iter().any(|known| known.spec().name == tool.name) {
                    let program = tool.program.display();
                    let text = format!("{program} replaces the built-in tool {}", tool.name);
                    let level = if it.of_project {
                        NoticeLevel::Warning
                    } else {
                        NoticeLevel::Info
                    };
                    found.notices.push((level, text));
                }
                found.tools.push(tool);
            }
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn write(folder: &Path, name: &str, description: &str) {
        fs::create_dir_all(folder).unwrap();
        let file = folder.join(name);
        let text = format!("#!/bin/sh\n# /// tool\n# description = '{description}'\n# ///\n");
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn said(found: &FoundTools) -> String {
        let tools = found.tools.iter();
        let tools = tools.map(|tool| format!("{}: {}", tool.name, tool.description));
        let notices = found.notices.iter().map(|(_, text)| {
            let text = text.rsplit_once("/tools").map_or(&**text, |(_, text)| text);
            text.to_owned()
        });
        tools.chain(notices).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn a_trusted_projects_tool_counts_before_the_users_and_the_built_in_one() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("shop");
        fs::create_dir_all(root.join(".git")).unwrap();
        let home = folder.path().to_string_lossy().into_owned();
        let env = HashMap::from([("HOME".to_owned(), home)]);
        let dirs = Dirs::from_env(&env, || None).unwrap();
        let files = ToolFiles::new(&dirs, &root);
        let mut source = LiveTools::new(files, false);
        assert_eq!(source.changed(), None);
        write(&dirs.tools(), "weather", "mine");
        write(&root.join(PROJECT_TOOLS), "weather", "theirs");
        write(&root.join(PROJECT_TOOLS), "read", "theirs");
        let mut changed = || source.changed().map(|found| said(&found));
        assert_eq!(changed().as_deref(), Some("weather: mine"));
        assert_eq!(changed(), None);
        // Nothing in an untrusted project is read, not even for names or a list.
        write(&root.join(PROJECT_TOOLS), "Bad", "x");
        let files = ToolFiles::new(&dirs, &root);
        let listed = files.read(false);
        assert_eq!(listed[0].found, OwnFolder::default());
        assert!(!files.read(true)[0].found.faults.is_empty());
        assert!(files.names(false).contains(&"read".to_owned()));
        fs::remove_file(root.join(PROJECT_TOOLS).join("Bad")).unwrap();
        let trust = Trust::load(&dirs.projects_file(), &root).unwrap();
        trust.with_verdict(true).keep().unwrap();
        let all = "read: theirs; weather: theirs; /read replaces the built-in tool read";
        assert_eq!(changed().as_deref(), Some(all));
        fs::remove_file(root.join(PROJECT_TOOLS).join("weather")).unwrap();
        write(&dirs.tools(), "Bad", "x");
        let rest = "read: theirs; weather: mine; /read replaces the built-in tool read; : Bad: the \
             name 'Bad' doesn't fit: use a-z, 0-9 and _, begin with a letter, at most 64 characters";
        assert_eq!(changed().as_deref(), Some(rest));
        fs::remove_dir_all(dirs.tools()).unwrap();
        fs::remove_dir_all(root.join(PROJECT_TOOLS)).unwrap();
        assert_eq!(changed().as_deref(), Some(""));
    }
}
