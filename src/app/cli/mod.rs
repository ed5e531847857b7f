//! Front ends that print: print mode, JSON mode, the demo as plain text, sub-commands. Only they
//! and the terminal write to stdout.

mod headless;
mod refusal;
mod print;
mod json;
mod plain_demo;
mod demo_project;
mod config;
mod password_prompt;
mod auth;
mod sessions;
mod models;
mod docs;
mod policy;
mod running_session;
mod policy_notes;
mod rules;
mod mcp;
mod steer;
mod attached_questions;
mod attached_view;
mod attach;

pub use self::print::{Output, Print};
pub use attach::{ScreenOffer, attach};
pub use auth::AuthContext;
pub use config::{
    config_is_set, config_path, edit_config, setting_warning, show_config, unset_config,
};
pub use demo_project::demo_project;
pub use docs::{DocsTerminal, docs};
pub use headless::{Sink, Task, run_headless};
pub use json::Json;
pub use mcp::mcp;
pub use models::models;
pub use plain_demo::PlainDemo;
pub use policy::{check_rules, explain_command};
pub use rules::{add_rule, list_rules, remove_stored_rule};
pub use sessions::{SessionsPlace, sessions, status};
pub use steer::steer;
