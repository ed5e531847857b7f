//! `tiller config`: prints, changes and checks settings.

use std::fmt::Write;
use std::path::Path;

use toml::Value;

use super::out;
use crate::app::config::{Layers, append_to_file, entries_of, set_checked, unset_checked};
use crate::app::outcome::{Outcome, StartError};
use crate::app::sanitize::for_terminal;

/// `tiller config show`: all settings as a valid settings file, or those that `key` names. With `origin` also
/// their sources. For a single setting it prints only the value, without quotes.
pub fn show_config(
    layers: &Layers,
    key: Option<&str>,
    origin: bool,
) -> Result<Outcome, StartError> {
    let entries = key.map_or_else(|| Ok(layers.entries()), |key| entries_of(layers, key));
    let entries = entries.map_err(StartError::usage)?;
    let mut text = String::new();
    for (name, value, from) in &entries {
        let _ = match value {
            _ if origin => writeln!(text, "{name} = {value}  # {from}"),
            Value::String(value) if key == Some(name) => writeln!(text, "{value}"),
            value if key == Some(name) => writeln!(text, "{value}"),
            value => writeln!(text, "{name} = {value}"),
        };
    }
    match key {
        Some(key) if entries.is_empty() => Err(StartError::failed(format!("{key} isn't set"))),
        _ => Ok(out::print(&for_terminal(&text))),
    }
}

/// `tiller config set`: changes the user's file. Then reports its other mistakes, which `check` finds.
pub fn set_config(
    user_file: &Path,
    key: &str,
    value: &Value,
    check: impl FnOnce() -> Vec<String>,
) -> Result<Outcome, StartError> {
    set_checked(user_file, key, value).map_err(StartError::usage)?;
    let text = format!("Set {key} = {value} in {}\n", user_file.display());
    let printed = out::print(&for_terminal(&text));
    for fault in check() {
        out::eprint_line(&format!("tiller: still wrong in the file: {fault}"));
    }
    Ok(printed)
}

/// `tiller config unset`: restores the default.
pub fn unset_config(user_file: &Path, key: &str) -> Result<Outcome, StartError> {
    let unknown = |why| entries_of(&Layers::defaults(), key).err().unwrap_or(why);
    unset_checked(user_file, key).map_err(|why| StartError::usage(unknown(why)))?;
    let text = format!("Removed {key} from {}\n", user_file.display());
    Ok(out::print(&for_terminal(&text)))
}

/// `tiller config edit`: opens the user's file, which is created if need be. Then reports its mistakes,
/// which `check` finds.
pub fn edit_config(
    user_file: &Path,
    open: impl FnOnce() -> Result<(), String>,
    check: impl FnOnce() -> Vec<String>,
) -> Result<Outcome, StartError> {
    if !user_file.exists() {
        let text = "# Your settings. `tiller config show` prints all settings and their values.\n";
        append_to_file(user_file, text, |_, _| Ok(())).map_err(StartError::failed)?;
    }
    open().map_err(StartError::failed)?;
    let faults = check();
    for fault in &faults {
        out::eprint_line(&format!("tiller: {fault}"));
    }
    if !faults.is_empty() {
        return Ok(Outcome::Usage);
    }
    let text = format!("All settings in {} are valid\n", user_file.display());
    Ok(out::print(&for_terminal(&text)))
}

/// `tiller config path`: the user's file, even if it is broken.
pub fn config_path(user_file: &Path) -> Outcome {
    out::print(&format!("{}\n", user_file.display()))
}
