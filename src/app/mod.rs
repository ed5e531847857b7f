//! Layer 3: users and other programs. `cli` and `tui` never import each other; `boot` is the only
//! place that puts the parts together.

pub mod args;
pub mod dirs;
pub mod sanitize;
pub(crate) mod humanize;
pub(crate) mod config;
pub mod models;
pub mod catalogue;
pub mod outcome;
pub(crate) mod signals;
pub mod action;
pub mod prompt;
pub mod keys;
pub mod plan;
pub mod boot;
pub mod log;
pub(crate) mod records;
pub(crate) mod cli;
pub mod demo;
pub mod tui;
