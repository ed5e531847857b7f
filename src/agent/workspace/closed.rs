//! What a search leaves out: the protected places below where it begins. Asked for every name, so
//! names that cannot be meant are told apart first.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::Path;

use super::folded::folded;
use super::locate::Access;
use super::reach::Limits;

/// What may not be read below a folder.
pub(in crate::agent) struct Closed<'r> {
    /// None: everything may be read.
    pub(super) limits: Option<&'r Limits>,
    /// The last names of such places, folded.
    pub(super) names: HashSet<&'r str>,
    /// Whether folders of processes, whose names are numbers, are among them.
    pub(super) processes: bool,
}

impl Closed<'_> {
    /// Whether `path`, whose last part is `name`, is one of them.
    pub fn holds(&self, name: &OsStr, path: &Path) -> bool {
        let number = || name.as_encoded_bytes().iter().all(u8::is_ascii_digit);
        let named = || self.names.contains(folded(name).as_str());
        let may_be = (self.processes && number()) || (!self.names.is_empty() && named());
        let refused = |limits: &Limits| limits.check(path, Access::Read).is_err();
        may_be && self.limits.is_some_and(refused)
    }
}
