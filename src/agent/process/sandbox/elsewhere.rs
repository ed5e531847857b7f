//! Systems without a sandbox of ours.

use std::collections::BTreeSet;

use super::spec::{Layer, Sandbox};
use super::support::Support;

const NONE: &str = "there is no sandbox for this system";

pub(in crate::agent::process) fn confine(_: &Sandbox) -> Result<(), String> {
    Err(NONE.to_owned())
}

pub(super) fn trial(_: BTreeSet<Layer>) -> Support {
    Support::none(NONE)
}
