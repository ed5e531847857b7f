//! Names as file systems compare them.

use std::ffi::OsStr;
use std::path::Path;

/// The parts of a path in a form in which names are equal that some file system takes for the same:
/// without regard to case, and to characters that are not shown.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FoldedPath(Vec<String>);

impl FoldedPath {
    pub fn new(path: &Path) -> Self {
        Self(path.components().map(|it| folded(it.as_os_str())).collect())
    }

    /// The names of its folders and its own, after the root's.
    pub fn names(&self) -> &[String] {
        &self.0
    }

    pub fn starts_with(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0)
    }
}

/// One name in that form.
pub(super) fn folded(name: &OsStr) -> String {
    name.to_string_lossy()
        .chars()
        .filter(|c| !is_not_shown(*c))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Characters that HFS+ takes no account of.
fn is_not_shown(c: char) -> bool {
    matches!(
        c,
        '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}'
    )
}
