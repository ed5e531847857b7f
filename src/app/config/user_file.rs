//! The user's settings file. tiller leaves out wrong settings, so that a typo, or a setting of a newer
//! tiller, doesn't stop it, unless it would then allow more.

use std::path::Path;

use toml::{Table, Value};

use super::check::meant;
use super::layers::{Layer, Layers, Origin, cannot_read};
use super::settings::Settings;
use crate::llm::read_small::read_small;

/// The setting that names the model's tools, and the tools if it is wrong.
const TOOLS: (&str, &str) = ("tools.set", "read_only");

impl Layers {
    /// Adds the user's settings file, if it exists. Leaves out a setting that doesn't exist or has a
    /// wrong value, see `left_out`. A mistake in permission or budget settings, or in what could be one of
    /// them, is an error.
    pub fn add_user_file(&mut self, path: &Path) -> Result<(), String> {
        let text = match read_small(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(cannot_read(path, &error)),
        };
        let origin = Origin::User(path.to_owned());
        let Ok(mut table) = text.parse::<Table>() else {
            return self.add_text(origin, text).map(|_| ());
        };
        let known = self.left_out.len();
        let mut stopping = Vec::new();
        loop {
            let layer = Layer {
                origin: origin.clone(),
                table: table.clone(),
                text: text.clone(),
            };
            let mut tried = self.clone();
            let added = tried.add(layer).map(|_| ());
            let resolved = added.and_then(|()| Settings::resolve(&tried).map(|_| ()));
            let Err(fault) = resolved else {
                if stopping.is_empty() {
                    *self = tried;
                    return Ok(());
                }
                break;
            };
            let key = key_of(&fault);
            let section = key.split('.').next().unwrap_or_default();
            // Any setting in a misspelled section of limits.
            let could_be = [key.to_owned(), format!("{section}.x")];
            let defaults = &self.layers[0].table;
            let mut meant = could_be.iter().filter_map(|key| meant(defaults, key));
            let stops = limits(key) || meant.any(|it| limits(&it));
            let removed = remove(&mut table, key);
            if stops || !removed {
                stopping.push(fault);
            } else {
                self.left_out.push(fault);
            }
            if !removed {
                break;
            }
        }
        // All mistakes at once: users mend them in one go.
        stopping.extend(self.left_out.drain(known..));
        Err(stopping.join("\n"))
    }

    /// Leaves out the setting of the user's file that `fault` names, because other files say that its value
    /// is wrong. False if the setting isn't from there.
    pub fn leave_out(&mut self, fault: &str) -> bool {
        let key = key_of(fault);
        let Some((_, Origin::User(file))) = self.get(key) else {
            return false;
        };
        let file = file.clone();
        let mut fault = fault.to_owned();
        if key == TOOLS.0 {
            // Without any value the model would get all tools.
            fault.push_str("\nUntil then the model only has tools that read");
            let read_only = self.add_value(Origin::User(file), key, &Value::from(TOOLS.1));
            if read_only.is_err() {
                return false;
            }
        } else {
            let of_user = |layer: &&mut Layer| matches!(layer.origin, Origin::User(_));
            for layer in self.layers.iter_mut().filter(of_user) {
                remove(&mut layer.table, key);
            }
        }
        self.left_out.push(fault);
        true
    }
}

/// The setting that an error names.
fn key_of(fault: &str) -> &str {
    let named = fault.split_once("setting ").map_or("", |(_, rest)| rest);
    named.split([' ', ':']).next().unwrap_or_default()
}

/// True for a setting that may limit actions or spending. Without it tiller would allow more.
fn limits(key: &str) -> bool {
    let limits =
        |part: &str| part == "mode" || part.starts_with("permission") || part.starts_with("budget");
    key.split('.').any(limits)
        || [TOOLS.0, "tools.bash.secret_env", "agent.max_iterations"].contains(&key)
}

/// Removes a dotted key; true if it was there.
fn remove(table: &mut Table, key: &str) -> bool {
    let inner = key.match_indices('.').any(|(dot, _)| {
        let inner = table.get_mut(&key[..dot]).and_then(Value::as_table_mut);
        inner.is_some_and(|inner| remove(inner, &key[dot + 1..]))
    });
    inner || table.remove(key).is_some()
}
