//! Names as file systems compare them.

use std::ffi::OsStr;
use std::path::Path;

/// The parts of a path, folded so that names are equal if any file system treats them as the same:
/// without case and invisible characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FoldedPath(Vec<String>);

impl FoldedPath {
    pub fn new(path: &Path) -> Self {
        Self(path.components().map(|it| folded(it.as_os_str())).collect())
    }

    /// The names of its folders and its own, without the root.
    pub fn names(&self) -> &[String] {
        &self.0
    }

    pub fn starts_with(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0)
    }
}

/// Folds one name.
pub(super) fn folded(name: &OsStr) -> String {
    name.to_string_lossy()
        .chars()
        .filter(|c| !is_not_shown(*c))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Characters that HFS+ ignores.
fn is_not_shown(c: char) -> bool {
    matches!(
        c,
        '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}'
    )
}
