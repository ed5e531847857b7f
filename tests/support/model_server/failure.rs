//! The errors vendors answer with, by what they mean; each wire has its own words for them.

use serde::Deserialize;

/// What went wrong, in no vendor's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    RateLimit,
    Overloaded,
    Auth,
    Forbidden,
    Overflow,
    Quota,
    NotFound,
    Invalid,
    Server,
}

/// One vendor's form of it.
pub(super) struct Words {
    pub status: u16,
    pub kind: &'static str,
    /// OpenAI's `code`; nobody else's business.
    pub code: Option<&'static str>,
    pub message: &'static str,
}
