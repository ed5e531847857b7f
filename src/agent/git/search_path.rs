//! Where tiller finds programs for itself, so that no command can put one in their place.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use super::head::project_root;

/// Other folders that sandboxed commands can write to, in any project.
static WRITABLE: RwLock<BTreeSet<PathBuf>> = RwLock::new(BTreeSet::new());

/// Stops finding tiller's own programs in these folders, where sandboxed commands can write.
pub fn distrust_programs_in<'a>(folders: impl Iterator<Item = &'a PathBuf>) {
    let mut writable = WRITABLE.write().unwrap_or_else(PoisonError::into_inner);
    writable.extend(folders.cloned());
}

/// Where tiller finds programs for itself (git, clipboard programs): the absolute folders in
/// `PATH`. It skips those where sandboxed commands can write, such as the project around `cwd`.
pub fn search_path(cwd: Option<&Path>) -> OsString {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let writable = WRITABLE.read().unwrap_or_else(PoisonError::into_inner);
    let here = cwd.map(project_root);
    let written = writable.iter().map(PathBuf::as_path).chain(here);
    let written: Vec<PathBuf> = written.map(real).collect();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_outside = |folder: &PathBuf| {
        // A link to git may lead there, too.
        let places = [real(folder), real(&folder.join("git"))];
        let is_written = |place: &PathBuf| written.iter().any(|it| place.starts_with(it));
        folder.is_absolute() && !places.iter().any(is_written)
    };
    let path = std::env::join_paths(std::env::split_paths(&path).filter(is_outside));
    // An empty entry would mean the current folder.
    path.ok()
        .filter(|path| !path.is_empty())
        .unwrap_or_else(|| "/usr/bin:/bin".into())
}
