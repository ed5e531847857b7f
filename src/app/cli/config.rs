//! `tiller config`: prints, changes and checks settings.

use std::fmt::Write;
use std::path::Path;
use std::slice;

use toml::Value;

use crate::agent::permission::PermissionMode;
use crate::app::config::{Layers, append_to_file, entries_of, unset_checked};
use crate::app::out;
use crate::app::outcome::{Outcome, StartError};
use crate::app::sanitize::for_terminal;

/// `tiller config show`: all settings as a valid settings file, or those that `keys` name. With `origin` also
/// their sources. For a single setting it prints only the value, without quotes.
pub fn show_config(layers: &Layers, keys: &[String], origin: bool) -> Result<Outcome, StartError> {
    let mut entries = Vec::new();
    for key in keys {
        let of_key = entries_of(layers, key).map_err(StartError::usage)?;
        if of_key.is_empty() {
            return Err(StartError::failed(format!("{key} isn't set")));
        }
        entries.extend(of_key);
    }
    if keys.is_empty() {
        entries = layers.entries();
    }
    let mut text = String::new();
    for (name, value, from) in &entries {
        let is_alone = keys == slice::from_ref(name);
        let _ = match value {
            _ if origin => writeln!(text, "{name} = {value}  # {from}"),
            Value::String(value) if is_alone => writeln!(text, "{value}"),
            value if is_alone => writeln!(text, "{value}"),
            value => writeln!(text, "{name} = {value}"),
        };
    }
    Ok(out::print(&for_terminal(&text)))
}

/// `tiller config set`: says what has changed. Then reports the file's other mistakes, which `check` finds.
pub fn config_is_set(
    user_file: &Path,
    key: &str,
    value: &Value,
    check: impl FnOnce() -> Vec<String>,
) -> Outcome {
    let text = format!("Set {key} = {value} in {}\n", user_file.display());
    let printed = out::print(&for_terminal(&text));
    for fault in check() {
        out::eprint_line(&format!("tiller: still wrong in the file: {fault}"));
    }
    printed
}

/// What a valid new value means, if that may surprise.
pub fn setting_warning(key: &str, value: &Value) -> Option<String> {
    let is_full = key == "permission.mode" && value.as_str() == Some(PermissionMode::Full.name());
    is_full.then(|| {
        format!(
            "every new session runs commands without questions and without a sandbox. Use full only in a \
             container or VM; to go back: tiller config set {key} auto"
        )
    })
}

/// `tiller config unset`: restores the default.
pub fn unset_config(user_file: &Path, key: &str) -> Result<Outcome, StartError> {
    if key == "permission.rules" {
        return Err(StartError::usage(
            "rules have numbers: tiller policy list shows them, tiller policy remove NUMBER removes one",
        ));
    }
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
        out::eprint_error(fault);
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
