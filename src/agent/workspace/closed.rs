//! The protected places below a search root, which the search leaves out. Checked for every name,
//! so it first rules out names that can't match.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::Path;

use super::folded::folded;
use super::locate::Access;
use super::reach::Limits;

/// The unreadable places below a folder.
pub(crate) struct Closed<'r> {
    /// `None` if everything may be read.
    pub(super) limits: Option<&'r Limits>,
    /// The last names of these places, folded.
    pub(super) names: HashSet<&'r str>,
    /// `true` if folders of processes, named by numbers, are among them.
    pub(super) processes: bool,
}

impl Closed<'_> {
    /// Returns `true` if `path`, whose last part is `name`, is one of them.
    pub fn holds(&self, name: &OsStr, path: &Path) -> bool {
        let number = || name.as_encoded_bytes().iter().all(u8::is_ascii_digit);
        let named = || self.names.contains(folded(name).as_str());
        let may_be = (self.processes && number()) || (!self.names.is_empty() && named());
        let refused = |limits: &Limits| limits.check(path, Access::Read).is_err();
        may_be && self.limits.is_some_and(refused)
    }
}
