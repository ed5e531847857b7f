//! `tiller config`: prints, changes and checks settings.

use std::fmt::Write;
use std::path::Path;

use toml::Value;

use super::out;
use crate::app::config::{Layers, append_to_file, entries_of, set_typed};
use crate::app::outcome::{Outcome, StartError};
use crate::app::sanitize::for_terminal;

/// `tiller config show`: all settings as a valid settings file, with `origin` also their sources.
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

/// `tiller config get`: the value of a setting, a string without quotes; or a section as `show` prints it.
pub fn get_config(layers: &Layers, key: &str) -> Result<Outcome, StartError> {
    let entries = entries_of(layers, key).map_err(StartError::usage)?;
    let text = match entries.as_slice() {
        [] => return Err(StartError::failed(format!("{key} isn't set"))),
        [(name, Value::String(text))] if name == key => format!("{text}\n"),
        [(name, value)] if name == key => format!("{value}\n"),
        all => {
            let lines = all.iter().map(|(key, value)| format!("{key} = {value}\n"));
            lines.collect()
        }
    };
    Ok(out::print(&for_terminal(&text)))
}

/// `tiller config set`: changes the user's file.
pub fn set_config(user_file: &Path, key: &str, value: &str) -> Result<Outcome, StartError> {
    let value = set_typed(user_file, key, value).map_err(StartError::usage)?;
    let text = format!("Set {key} = {value} in {}\n", user_file.display());
    Ok(out::print(&for_terminal(&text)))
}

/// `tiller config edit`: opens the user's file, which is created if need be, and checks it afterwards.
pub fn edit_config(
    user_file: &Path,
    open: impl FnOnce() -> Result<(), String>,
) -> Result<Outcome, StartError> {
    if !user_file.exists() {
        let text = "# Your settings. `tiller config show` prints all settings and their values.\n";
        append_to_file(user_file, text, |_, _| Ok(())).map_err(StartError::failed)?;
    }
    open().map_err(StartError::failed)?;
    let mut layers = Layers::defaults();
    layers.add_user_file(user_file).map_err(StartError::usage)?;
    for fault in &layers.left_out {
        out::eprint_line(&format!("tiller: {fault}"));
    }
    if !layers.left_out.is_empty() {
        return Ok(Outcome::Usage);
    }
    let text = format!("All settings in {} are valid\n", user_file.display());
    Ok(out::print(&for_terminal(&text)))
}

/// `tiller config path`: the user's file, even if it is broken.
pub fn config_path(user_file: &Path) -> Outcome {
    out::print(&format!("{}\n", user_file.display()))
}
