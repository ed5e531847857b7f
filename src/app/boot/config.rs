//! `tiller config`, and whether the themes, models and tools in the settings exist.

use std::cell::LazyCell;
use std::collections::HashMap;
use std::slice;
use std::sync::Arc;

use toml::Value;

use super::runtime::current_thread;
use super::sub_command::{discover, layers};
use crate::agent::{ToolSettings, Toolbox, tools};
use crate::app::args::ConfigCommand;
use crate::app::cli;
use crate::app::config::{Layers, Origin, Settings, TYPED};
use crate::app::dirs::Dirs;
use crate::app::outcome::{Outcome, StartError};
use crate::app::tui::open_in_editor;
use crate::app::tui::theme::Themes;
use crate::app::{keys, plan};
use crate::llm::local::LocalServer;
use crate::llm::nearest::nearest;

pub(super) fn config(
    what: &ConfigCommand,
    dirs: &Dirs,
    env: &HashMap<String, String>,
) -> Result<Outcome, StartError> {
    let file = dirs.config_file();
    let check = || {
        let mut own = Layers::defaults();
        let read = own.add_user_file(&file).err();
        let unknown = unknown_names(&own, dirs, env, |it| matches!(it, Origin::User(_)));
        own.left_out
            .into_iter()
            .chain(read)
            .chain(unknown)
            .collect()
    };
    match what {
        ConfigCommand::Show {
            key,
            origin,
            config,
        } => cli::show_config(&layers(dirs, config)?, key.as_deref(), *origin),
        ConfigCommand::Set { key, value } => {
            // Only the new value must be right; `check` reports the other mistakes.
            let mut own = Layers::defaults();
            let _ = own.add_user_file(&file);
            let value = own
                .add_typed(&TYPED, key, value)
                .map_err(StartError::usage)?;
            match unknown_names(&own, dirs, env, |it| *it == TYPED).pop() {
                Some(fault) => Err(StartError::usage(fault)),
                None => cli::set_config(&file, key, &value, check),
            }
        }
        ConfigCommand::Unset { key } => cli::unset_config(&file, key),
        ConfigCommand::Edit => {
            let runtime = current_thread()?;
            let open = || runtime.block_on(open_in_editor(file.clone(), None));
            cli::edit_config(&file, open, check)
        }
        // Users need it most when the file is broken.
        ConfigCommand::Path => Ok(cli::config_path(&file)),
    }
}

/// Errors about themes, models and tools that don't exist, in settings of these origins.
pub(super) fn unknown_names(
    layers: &Layers,
    dirs: &Dirs,
    env: &HashMap<String, String>,
    of: impl Fn(&Origin) -> bool,
) -> Vec<String> {
    let models = LazyCell::new(|| {
        let settings = Settings::resolve(layers).map_err(StartError::usage)?;
        let keys = keys::load(dirs, &settings, env, &plan::working_folder(None)?)?;
        let catalog = Arc::new(plan::catalog(&settings, dirs)?);
        Ok::<_, StartError>(plan::models(&settings, dirs, &catalog, &keys))
    });
    let themes = Themes::read(&dirs.themes());
    let theme = |name: &str| {
        if themes.names().any(|known| known == name) {
            return Ok(());
        }
        let near = nearest(name, themes.names());
        let near = near.map_or_else(String::new, |near| format!(": did you mean '{near}'?"));
        let all: Vec<&str> = themes.names().collect();
        Err(format!(
            "unknown theme '{name}'{near}\nThemes: {}",
            all.join(", ")
        ))
    };
    let model = |name: &str| {
        // A server on this machine may run later.
        let server = name.split(['/', ':']).next().and_then(LocalServer::from_id);
        if name.is_empty() || server.is_some() {
            return Ok(());
        }
        // An error in models.toml or auth.toml isn't one of this file.
        let Ok(models) = models.as_ref() else {
            return Ok(());
        };
        let named = models.resolve_with(name, || discover(models));
        named.map(|_| ())
    };
    let tool_set = |text: &str| {
        let tools = tools::builtin(&ToolSettings::default());
        Toolbox::select(tools, &text.parse()?).map(|_| ())
    };
    let mut faults = Vec::new();
    for (key, value, origin) in layers.entries() {
        let check: &dyn Fn(&str) -> Result<(), String> = match key.as_str() {
            _ if !of(origin) => continue,
            "ui.theme" if value.as_str() == Some("auto") => continue,
            "ui.theme" | "ui.theme_dark" | "ui.theme_light" => &theme,
            "models.default" | "models.fallback" | "models.favorites" => &model,
            alias if alias.starts_with("models.aliases.") => &model,
            "tools.set" => &tool_set,
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
