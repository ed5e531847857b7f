//! `tiller config`: what is in force, and where it comes from.

use std::fmt::Write;
use std::path::Path;

use super::out;
use crate::app::config::Layers;
use crate::app::outcome::Outcome;

/// `tiller config show`: all settings, as a valid settings file; with `origin` where each comes from.
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

/// `tiller config path`: the user's file, whatever is in it.
pub fn config_path(user_file: &Path) -> Outcome {
    out::print(&format!("{}\n", user_file.display()))
}
