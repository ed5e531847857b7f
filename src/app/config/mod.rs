//! Settings: layers of TOML, each value with its origin.
//!
//! `layers` reads files, `user_file` the user's, and `check` validates them. `project` decides what a project may set.
//! `rules` parses permission rules. `settings` (with `reader`, `rules` and `places`) converts the
//! merged values to the program's types. `edit` changes a file, and `answered_rules` appends rules
//! to it. Nothing here reads the environment.

mod check;
mod layers;
mod user_file;
mod project;
mod rules;
mod places;
mod reader;
mod settings;
mod edit;
mod manual;
mod answered_rules;
mod schema;

pub use answered_rules::{append_rules, read_answer, remove_older, remove_rule};
pub(crate) use edit::lock;
pub use edit::{
    append_to_file, remove_table, set_checked, set_in_file, typed_value, unset_checked,
};
pub use layers::{Layers, Origin, TYPED};
pub use manual::{
    SettingOverride, SettingRow, documented, entries_of, overrides, setting_rows, words_of,
};
pub use places::WRITABLE;
pub use project::add_project_file;
pub use rules::parse_checked_rules;
pub use schema::schema;
pub use settings::Settings;
