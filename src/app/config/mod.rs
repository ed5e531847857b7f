//! Settings: layers of TOML, each value with its origin.
//!
//! `layers` reads and checks (raw: the form of the files), `settings` says what they mean
//! (resolved: the form of the need), `edit` changes one value in a file. Nothing here reads the environment.

mod layers;
mod settings;
mod edit;

pub use edit::set_in_file;
pub use layers::Layers;
pub use settings::Settings;
