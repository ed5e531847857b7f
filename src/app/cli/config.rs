//! `tiller config`: what is in force, and where it comes from.

use std::fmt::Write;
use std::path::Path;

use super::out;
use crate::app::args::ConfigCommand;
use crate::app::config::Layers;
use crate::app::outcome::Outcome;

/// Prints settings (as a valid settings file) or the path of the user's file.
pub fn config(what: &ConfigCommand, layers: &Layers, user_file: &Path) -> Outcome {
    let text = match what {
        ConfigCommand::Path => format!("{}\n", user_file.display()),
        ConfigCommand::Show { origin, .. } => {
            let mut text = String::new();
            for (key, value, from) in layers.entries() {
                let _ = match origin {
                    true => writeln!(text, "{key} = {value}  # {from}"),
                    false => writeln!(text, "{key} = {value}"),
                };
            }
            text
        }
    };
    out::print(&text)
}
