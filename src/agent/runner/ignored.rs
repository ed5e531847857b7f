//! Finds files that git ignores among those that a command removes or overwrites by name. `/undo` has no copy
//! of them, so tiller asks before it removes folders, and says afterwards what is gone.
//!
//! It leaves out what programs can make again: folders with the mark of a cache, and a few known ones.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use globset::Glob;
use tokio::task::spawn_blocking;

use super::allowed::CallScope;
use super::held::working_folder;
use crate::event::NoticeLevel;
use crate::git::{Git, can_be_made_again, is_cache, repository};
use crate::paths::{self, real};
use crate::permission::{Removed, removed};
use crate::stamp::Stamp;
use crate::workspace::Workspace;

/// Most files named in a notice.
const NAMED: usize = 5;

/// A file or folder that git ignores and a command is about to remove or overwrite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct IgnoredFile {
    pub path: PathBuf,
    /// Whether it goes with a whole folder.
    pub recursive: bool,
    /// How it was before.
    before: Stamp,
}

/// Returns the ignored files that `command` removes. Knows only those that it names, or that are in a folder
/// it names.
pub(super) fn removed_by(workspace: &Workspace, command: &str, cwd: &Path) -> Vec<IgnoredFile> {
    let operands = removed(command);
    if operands.is_empty() {
        return Vec::new();
    }
    working_folder(workspace, command, cwd).map_or_else(Vec::new, |it| among(&operands, &it))
}

fn among(operands: &[Removed], folder: &Path) -> Vec<IgnoredFile> {
    let mut asked: BTreeMap<(PathBuf, bool), Vec<PathBuf>> = BTreeMap::new();
    for operand in operands {
        for path in present(folder, &operand.path) {
            if let Some(top) = path.parent().and_then(repository) {
                let key = (top.to_owned(), operand.recursive);
                asked.entry(key).or_default().push(path);
            }
        }
    }
    let mut found = Vec::new();
    for ((top, recursive), paths) in asked {
        let ignored = ignored(&top, &paths);
        // People put results into `data/out`, but builds make an `out` that git ignores by name.
        let mut parents = BTreeSet::new();
        for path in &ignored {
            parents.extend(path.ancestors().skip(1).take_while(|it| *it != top));
        }
        let inside = among_ignored(&Git::within(&top), &top, parents.into_iter());
        let is_made = |folder: &Path| {
            let is_inside = folder.parent().is_some_and(|it| inside.contains(it));
            is_cache(folder) || !is_inside && can_be_made_again(folder)
        };
        let stays = |path: &&PathBuf| {
            let mut folders = path.ancestors().take_while(|it| *it != top);
            !folders.any(is_made)
        };
        found.extend(ignored.iter().filter(stays).filter_map(|path| {
            Some(IgnoredFile {
                before: Stamp::of(&path.symlink_metadata().ok()?),
                path: path.clone(),
                recursive,
            })
        }));
    }
    found
}

/// The existing paths that an operand means. Wildcards count only in its last part.
fn present(folder: &Path, operand: &str) -> Vec<PathBuf> {
    let path = folder.join(operand);
    let parent = path.parent().and_then(|parent| real(parent).ok());
    let paths: Vec<PathBuf> = match (parent, path.file_name()) {
        (Some(parent), Some(name)) => match Glob::new(&name.to_string_lossy()) {
            Ok(glob) if name.as_bytes().iter().any(|byte| b"*?[".contains(byte)) => {
                let glob = glob.compile_matcher();
                let is_hidden = |name: &OsStr| name.as_bytes().starts_with(b".");
                let names = fs::read_dir(&parent).into_iter().flatten().flatten();
                let names = names.map(|entry| entry.file_name());
                let matched =
                    names.filter(|it| glob.is_match(it) && is_hidden(it) == is_hidden(name));
                matched.map(|name| parent.join(name)).collect()
            }
            _ => vec![parent.join(name)],
        },
        _ => real(&path).into_iter().collect(),
    };
    let exists = |path: &PathBuf| path.symlink_metadata().is_ok();
    paths.into_iter().filter(exists).collect()
}

/// Those of `paths` that git ignores, and what it ignores below the others: whole folders where it can.
fn ignored(top: &Path, paths: &[PathBuf]) -> BTreeSet<PathBuf> {
    let git = Git::within(top);
    let mut found = among_ignored(&git, top, paths.iter().map(PathBuf::as_path));
    let others = paths
        .iter()
        .filter(|it| !found.contains(*it) && it.is_dir());
    let others: Vec<&OsStr> = others.map(|it| it.as_os_str()).collect();
    if others.is_empty() {
        return found;
    }
    let list = "--literal-pathspecs ls-files -z --others --ignored --exclude-standard --";
    let list = list.split(' ').map(OsStr::new).chain(others);
    let files = git.run(&list.collect::<Vec<_>>()).unwrap_or_default();
    let files = named(top, &files);
    let folders = files.iter().flat_map(|file| file.ancestors().skip(1));
    let folders: BTreeSet<&Path> = folders
        .filter(|it| it.starts_with(top) && *it != top)
        .collect();
    let whole = among_ignored(&git, top, folders.into_iter());
    found.extend(files.into_iter().map(|file| {
        let folders = file.ancestors().filter(|it| whole.contains(*it));
        folders.last().map_or_else(|| file.clone(), Path::to_owned)
    }));
    found
}

/// Those of `paths` that git ignores.
fn among_ignored<'p>(
    git: &Git,
    top: &Path,
    paths: impl Iterator<Item = &'p Path>,
) -> BTreeSet<PathBuf> {
    let mut names = Vec::new();
    for path in paths {
        names.extend_from_slice(path.as_os_str().as_bytes());
        names.push(0);
    }
    let read = |out: io::BufReader<_>| out.bytes().collect::<io::Result<Vec<u8>>>();
    let said = git.converse(&["check-ignore", "-z", "--stdin"], &names, read);
    // It fails if it finds none.
    named(top, &said.unwrap_or_default()).into_iter().collect()
}

/// The paths in a list of git's, which are relative to `top`.
fn named(top: &Path, list: &[u8]) -> Vec<PathBuf> {
    let names = list.split(|byte| *byte == 0).filter(|it| !it.is_empty());
    names
        .map(|name| top.join(OsStr::from_bytes(name)))
        .collect()
}

/// Names the files that a recursive `rm` takes, for a question.
pub(super) fn names(ignored: &[IgnoredFile], cwd: &Path) -> Vec<String> {
    let taken = ignored.iter().filter(|file| file.recursive);
    taken.map(|file| paths::display(&file.path, cwd)).collect()
}

/// Tells the user which of these files a command has deleted or overwritten, now and at the next `/undo`.
pub(super) async fn note_deleted(scope: CallScope<'_>, ignored: Vec<IgnoredFile>) {
    let CallScope { link, turn, .. } = scope;
    let Some(undo) = link.env.undo.clone().filter(|_| !ignored.is_empty()) else {
        return;
    };
    let noted = spawn_blocking(move || {
        let is_gone = |file: &IgnoredFile| match file.path.symlink_metadata() {
            Ok(now) => !now.is_dir() && Stamp::of(&now) != file.before,
            Err(_) => true,
        };
        let gone = ignored.into_iter().filter(is_gone).map(|file| file.path);
        undo.note_deleted(gone.collect())
    });
    match turn.unless_cut_short(noted).await {
        Ok(Ok(Ok(gone))) if !gone.is_empty() => {
            let gone = gone.iter().map(|path| paths::display(path, &link.env.cwd));
            let named = paths::name_some(&gone.collect::<Vec<_>>(), NAMED);
            let text = format!("/undo can't restore what git ignores: {named}");
            link.notice(NoticeLevel::Warning, text).await;
        }
        Ok(Ok(Err(error))) => tracing::warn!("undo: {error}"),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(operands: &str, expected: &str) {
        let place = tempfile::tempdir().unwrap();
        let root = real(place.path()).unwrap();
        assert!(Git::within(&root).run(&["init", "-q"]).is_ok());
        let rules = "data\n.env\n*.log\n__pycache__\ntarget\n.venv\n";
        for (path, text) in [
            (".gitignore", rules),
            ("data/raw/a", ""),
            ("data/b", ""),
            ("data/out/x", ""),
            (".env", ""),
            ("src/main.py", ""),
            ("src/x.log", ""),
            ("src/__pycache__/main.pyc", ""),
            ("target/CACHEDIR.TAG", ""),
            ("target/debug/x", ""),
            (".venv/pyvenv.cfg", ""),
            ("sub/data/c", ""),
            ("sub/data/d", ""),
        ] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let words = operands.split(' ').map(|path| Removed {
            path: path.to_owned(),
            recursive: true,
        });
        let found = among(&words.collect::<Vec<_>>(), &root);
        let mut named = names(&found, &root);
        named.sort();
        assert_eq!(named.join(" "), expected, "{operands}");
    }

    #[test]
    fn ignored_files_are_found_wherever_they_are() {
        for (operands, expected) in [
            ("data", "data"),
            ("data/", "data"),
            ("data/raw/a ./.env missing", ".env data/raw/a"),
            ("data/*", "data/b data/out data/raw"),
            ("src", "src/x.log"),
            ("src/../sub", "sub/data"),
            ("src/main.py", ""),
            ("target target/debug .venv src/__pycache__", ""),
            ("data/out", "data/out"),
            ("/usr/lib", ""),
        ] {
            check(operands, expected);
        }
    }
}
