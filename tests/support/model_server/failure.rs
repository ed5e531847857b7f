//! The kinds of errors that vendors respond with. Each wire words them in its own way.

use serde::Deserialize;

/// What went wrong, independent of the vendor.
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

/// How one vendor words a failure.
pub(super) struct Words {
    pub status: u16,
    pub kind: &'static str,
    /// OpenAI's `code`; the other vendors have none.
    pub code: Option<&'static str>,
    pub message: &'static str,
}
