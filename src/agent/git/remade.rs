//! Folders that programs can make again: those with the mark of a cache, and a few known ones.

use std::ffi::OsStr;
use std::path::Path;

use crate::word_list::WordList;

/// Folders that only package managers and other programs fill.
const CACHES: WordList = WordList(
    "node_modules __pycache__ htmlcov .cache .next .nuxt .svelte-kit .turbo .parcel-cache .gradle .tox .nox .eggs \
     .pytest_cache .mypy_cache .ruff_cache .dart_tool DerivedData",
);
/// Folders that builds make, and that people make for results too.
const BUILDS: WordList = WordList("target build dist out coverage tmp");
/// Files that mark a cache.
const MARKS: [&str; 2] = ["CACHEDIR.TAG", "pyvenv.cfg"];

/// Returns `true` for a folder that programs can make again, if git ignores it by name.
pub(crate) fn can_be_made_again(folder: &Path) -> bool {
    is_cache(folder) || is_named(folder, BUILDS)
}

/// Returns `true` for such a folder wherever it is. `data/out` in an ignored `data` isn't one.
pub(crate) fn is_cache(folder: &Path) -> bool {
    is_named(folder, CACHES) || MARKS.iter().any(|mark| folder.join(mark).exists())
}

fn is_named(folder: &Path, names: WordList) -> bool {
    let name = folder.file_name().and_then(OsStr::to_str);
    name.is_some_and(|name| names.contains(name))
}
