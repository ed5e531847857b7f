//! Stands in for `screen` in a build without the feature `tui`.

use std::ffi::OsString;
use std::path::Path;

use super::run_context::RunContext;
use crate::agent::AgentHandle;
use crate::agent::session::{HistoryFacts, Session};
use crate::app::cli::{DocsTerminal, ScreenOffer};
use crate::app::dirs::Dirs;
use crate::app::host::Host;
use crate::app::outcome::StartError;
use crate::app::plan::Plan;
use crate::app::serve::OpenScreen;

/// Nothing is shown.
pub(super) struct Shown;

impl Shown {
    pub fn of(_: &Session, _: &HistoryFacts) -> Self {
        Self
    }
}

/// Fails, because this build has no screen.
pub(super) async fn run(
    _: &RunContext,
    _: &Plan,
    _: Shown,
    (_, handle): (Host, &AgentHandle),
    _: &Dirs,
) -> Result<(u8, Option<Vec<OsString>>), StartError> {
    handle.shutdown().await;
    Err(StartError::usage(
        "this tiller was built without the full screen; use `tiller -p PROMPT`, `tiller --mode rpc` or \
         `tiller acp`",
    ))
}

/// Pages are printed as they are.
pub(super) fn docs_terminal<'a>(_: impl Fn(&str) -> &'a str, _: &str) -> Option<DocsTerminal> {
    None
}

/// No themes are known, so any name is accepted.
pub(super) fn theme_names(_: &Path) -> Vec<String> {
    Vec::new()
}

/// The keymap isn't read.
pub(super) fn wrong_keys(_: &Path) -> Vec<String> {
    Vec::new()
}

/// Clients that attach get no screen.
pub(super) fn for_clients(_: &RunContext, _: &Plan, _: &Host) -> Option<OpenScreen> {
    None
}

/// Attaches as plain text.
pub(super) fn to_lend() -> Option<ScreenOffer> {
    None
}
