//! `tiller config`: the current settings and their origins.

use std::fmt::Write;
use std::path::Path;

use super::out;
use crate::app::config::Layers;
use crate::app::outcome::Outcome;

/// `tiller config show`: all settings as a valid settings file; with `origin`, also where each
/// comes from.
pub fn show_config(layers: &Layers, origin: bool) -> Outcome {
    let mut text = String::new();
    for (key, value, from) in layers.entries() {
        let _ = if origin {
            writeln!(text, "{key} = {value}  # {from}")
        } else {
            writeln!(text, "{key} = {value}")
        };
    }
    out::print(&text)
}

/// `tiller config path`: the user's file, even if it is invalid.
pub fn config_path(user_file: &Path) -> Outcome {
    out::print(&format!("{}\n", user_file.display()))
}
