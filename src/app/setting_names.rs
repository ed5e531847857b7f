//! Checks the names in settings that other files know: themes, models, tools. `tiller config set`,
//! /settings and `tiller doctor` check them here.

use std::path::Path;
use std::slice;

use toml::Value;

use super::config::{Layers, Origin, Settings, TYPED, WRITABLE, set_checked};
use crate::agent::{ToolSelection, ToolSettings, Toolbox, tools};
use crate::llm::local::LocalServer;
use crate::llm::nearest::nearest;

/// The names that settings can use.
pub struct SettingNames<'a> {
    pub themes: &'a [String],
    /// The tools of the user.
    pub tools: &'a [String],
    /// Why there is no model of this name.
    pub model: &'a dyn Fn(&str) -> Result<(), String>,
}

impl SettingNames<'_> {
    /// Errors about names that don't exist, in settings of these origins.
    pub fn unknown(&self, layers: &Layers, of: impl Fn(&Origin) -> bool) -> Vec<String> {
        let model = |name: &str| {
            // A server on this machine may run later.
            let server = name.split(['/', ':']).next().and_then(LocalServer::from_id);
            if name.is_empty() || server.is_some() {
                return Ok(());
            }
            (self.model)(name)
        };
        let theme = |name: &str| self.theme(name);
        let tools = |text: &str| check_tools(text, self.tools);
        let mut faults = Vec::new();
        for (key, value, origin) in layers.entries() {
            let check: &dyn Fn(&str) -> Result<(), String> = match key.as_str() {
                _ if !of(origin) => continue,
                "ui.theme" if value.as_str() == Some("auto") => continue,
                "ui.theme" | "ui.theme_dark" | "ui.theme_light" => &theme,
                "models.default" | "models.fallback" | "models.favorites" => &model,
                alias if alias.starts_with("models.aliases.") => &model,
                "tools.set" => &tools,
                _ => continue,
            };
            let items = value
                .as_array()
                .map_or(slice::from_ref(value), Vec::as_slice);
            let checked = items.iter().filter_map(Value::as_str).try_for_each(check);
            faults.extend(checked.err().map(|why| layers.fault(&key, &why)));
        }
        faults
    }

    /// Sets `key` in the user's `file`, unless the value is wrong.
    pub fn save(&self, file: &Path, key: &str, value: &Value) -> Result<(), String> {
        // Only the new value must be right.
        let mut layers = Layers::defaults();
        let _ = layers.add_user_file(file);
        layers.add_value(TYPED, key, value)?;
        let missing = || {
            let places = Settings::resolve(&layers).ok()?.places;
            let why = places.missing_folders().next()?;
            (key == WRITABLE).then(|| layers.fault(key, &why))
        };
        let unknown = self.unknown(&layers, |it| *it == TYPED).pop();
        match unknown.or_else(missing) {
            Some(fault) => Err(fault),
            None => set_checked(file, key, value),
        }
    }

    fn theme(&self, name: &str) -> Result<(), String> {
        let themes = self.themes;
        if themes.is_empty() || themes.iter().any(|known| known == name) {
            return Ok(());
        }
        let near = nearest(name, themes.iter().map(String::as_str));
        let near = near.map_or_else(String::new, |near| format!(": did you mean '{near}'?"));
        Err(format!(
            "unknown theme '{name}'{near}\nThemes: {}",
            themes.join(", ")
        ))
    }
}

/// Why the value of `tools.set` is wrong; `own` are the user's tools.
pub fn check_tools(text: &str, own: &[String]) -> Result<(), String> {
    let tools = tools::builtin(&ToolSettings::default());
    let selection: ToolSelection = text.parse()?;
    Toolbox::select(tools, &selection.with_own(own.to_owned())).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_does_not_exist_is_not_saved() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        let names = SettingNames {
            themes: &["dark".to_owned(), "nord".to_owned()],
            tools: &["weather".to_owned()],
            model: &|name| match name {
                "opus" => Ok(()),
                _ => Err(format!("unknown model '{name}'")),
            },
        };
        let list = |names: &[&str]| Value::from(names.to_vec());
        for (key, value, told) in [
            ("models.default", "hiaku".into(), "unknown model 'hiaku'"),
            (
                "models.fallback",
                list(&["opus", "hiaku"]),
                "unknown model 'hiaku'",
            ),
            ("tools.set", "reed".into(), "did you mean 'read'?"),
            ("ui.theme", "nrod".into(), "did you mean 'nord'?"),
            ("ui.mouse", 3.into(), "expected true or false"),
            (
                "permission.writable",
                list(&["/", "/nope"]),
                "/nope: No such file or directory; check the path, or make the folder first",
            ),
        ] {
            let fault = names.save(&file, key, &value).unwrap_err();
            assert!(fault.contains(told), "{fault}");
            assert!(!file.exists());
        }
        names
            .save(&file, "tools.set", &"all,-weather".into())
            .unwrap();
        std::fs::remove_file(&file).unwrap();
        names.save(&file, "models.default", &"opus".into()).unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!(text, "[models]\ndefault = \"opus\"\n");
    }
}
