//! `SYSTEM.md`, which replaces the built-in prompt, and `APPEND_SYSTEM.md`, which extends it. They
//! come from the user's folder and from `.tiller/` in a trusted project, whose `SYSTEM.md` wins.
//! Read when a prompt is rendered; later changes apply to new sessions.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::collect::InstructionSources;
use super::imports::is_secret;
use crate::git::project_root;

/// Most bytes of one file to use.
const MAX_BYTES: u64 = 256 * 1024;
/// The folder for a project's own files, in its root.
pub const PROJECT_FOLDER: &str = ".tiller";
/// Replaces the built-in prompt.
const BASE: &str = "SYSTEM.md";
/// Extends it.
const APPEND: &str = "APPEND_SYSTEM.md";
/// Both names.
pub const SYSTEM_FILES: [&str; 2] = [BASE, APPEND];

/// The content of the files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SystemFiles {
    /// Replaces the built-in prompt.
    pub base: Option<String>,
    /// Paragraphs after it.
    pub append: Vec<String>,
}

impl SystemFiles {
    /// Reads them for a session in `cwd`.
    pub(crate) fn read(sources: &InstructionSources, cwd: &Path) -> Self {
        let mut files = Self::default();
        if let Some(folder) = &sources.user {
            files.add(folder, None);
        }
        if sources.project {
            let root = project_root(cwd);
            files.add(&root.join(PROJECT_FOLDER), Some(root));
        }
        files
    }

    fn add(&mut self, folder: &Path, root: Option<&Path>) {
        let read = |name: &str| read(&folder.join(name), root);
        self.base = read(BASE).or_else(|| self.base.take());
        self.append.extend(read(APPEND));
    }
}

/// The text of a file; `None` if it is missing, blank, outside `root` or a link to a secret.
fn read(path: &Path, root: Option<&Path>) -> Option<String> {
    // Most folders have none, which one system call tells.
    let real = path.is_file().then(|| fs::canonicalize(path).ok())??;
    if root.is_some() && real.file_name() != path.file_name() && is_secret(&real) {
        return None;
    }
    let root = root.map_or_else(|| Some(PathBuf::new()), |root| fs::canonicalize(root).ok())?;
    if !real.starts_with(root) {
        return None;
    }
    let mut bytes = Vec::new();
    let file = File::open(real).ok()?;
    file.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    (!text.trim().is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_projects_base_wins_and_additions_add_up() {
        let dir = tempfile::tempdir().unwrap();
        let (user, cwd) = (dir.path().join("user"), dir.path().join("p/a"));
        let own = dir.path().join("p/.tiller");
        for folder in [&user, &cwd, &own, &dir.path().join("p/.git")] {
            fs::create_dir_all(folder).unwrap();
        }
        let files = |user: &Path, project| {
            let user = Some(user.to_owned());
            let read = SystemFiles::read(
                &InstructionSources {
                    user,
                    home: None,
                    project,
                },
                &cwd,
            );
            (read.base.unwrap_or_default(), read.append.join(" "))
        };
        let pair = |base: &str, append: &str| (base.to_owned(), append.to_owned());
        assert_eq!(files(&user, true), pair("", ""));
        fs::write(user.join(BASE), "U").unwrap();
        fs::write(user.join(APPEND), "u").unwrap();
        fs::write(own.join(APPEND), "p").unwrap();
        assert_eq!(files(&user, true), pair("U", "u p"));
        fs::write(own.join(BASE), "P").unwrap();
        assert_eq!(files(&user, true), pair("P", "u p"));
        assert_eq!(files(&user, false), pair("U", "u"));
        fs::write(own.join(BASE), " \n").unwrap();
        fs::remove_file(own.join(APPEND)).unwrap();
        std::os::unix::fs::symlink(user.join(APPEND), own.join(APPEND)).unwrap();
        assert_eq!(files(&user, true), pair("U", "u"));
        fs::remove_file(own.join(APPEND)).unwrap();
        fs::write(own.join(".env"), "token").unwrap();
        std::os::unix::fs::symlink(".env", own.join(APPEND)).unwrap();
        assert_eq!(files(&user, true), pair("U", "u"));
    }
}
