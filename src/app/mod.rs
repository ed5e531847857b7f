//! Layer 3: users and other programs. `cli` and `tui` never import each other; `boot` joins the
//! parts.

pub(crate) mod args;
pub(crate) mod dirs;
pub mod sanitize;
pub(crate) mod humanize;
pub mod files;
pub(crate) mod fuzzy;
pub(crate) mod config;
pub mod models;
pub(crate) mod setting_names;
pub(crate) mod catalogue;
pub(crate) mod outcome;
pub(crate) mod signals;
pub mod action;
mod action_scope;
pub(crate) mod synonyms;
pub(crate) mod manual;
pub mod commands;
pub(crate) mod prompt;
pub(crate) mod attachments;
pub(crate) mod resources;
mod grammar;
pub mod export;
pub mod sessions;
pub mod branches;
pub(crate) mod keys;
pub mod rule_store;
pub mod stored_rules;
pub(crate) mod typed_rule;
mod one_liner;
mod from_word;
pub(crate) mod out;
pub mod notify;
pub mod manners;
pub mod color_depth;
pub(crate) mod external_editor;
pub mod clipboard;
pub(crate) mod trust;
pub(crate) mod project;
pub(crate) mod plan;
mod chosen_model;
mod live_rules;
pub(crate) mod unread_flags;
pub(crate) mod doctor;
pub mod boot;
pub(crate) mod log;
pub(crate) mod records;
pub(crate) mod steer;
pub(crate) mod cli;
pub mod hook_files;
pub mod mcp_files;
pub mod tool_files;
pub mod host;
pub(crate) mod serve;
pub mod demo;
#[cfg(feature = "tui")]
pub mod tui;

#[cfg(test)]
#[cfg(feature = "tui")]
#[path = "../../tests/docs/mod.rs"]
mod docs;
