//! Commands in their sandbox: what they may do, and what they can't.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::needless_raw_string_hashes,
    reason = "a test that cannot go on fails, one that is skipped says so; scripts are quoted alike"
)]

pub mod place;
mod outside;
mod basics;
mod attempts;
mod escapes;
mod leftovers;
mod network;
mod tools;
mod endings;
