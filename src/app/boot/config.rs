//! `tiller config`, and the names that settings can use.

use std::cell::LazyCell;
use std::collections::HashMap;
use std::io::{self, IsTerminal as _};
use std::sync::Arc;

use super::runtime::current_thread;
use super::screen;
use super::sub_command::{discover, layers, layers_in};
use crate::app::args::{ConfigCommand, of_value};
use crate::app::cli;
use crate::app::config::{Layers, Origin, Settings, schema, typed_value};
use crate::app::dirs::Dirs;
use crate::app::outcome::{Outcome, StartError};
use crate::app::setting_names::SettingNames;
use crate::app::tool_files::own_tool_names;
use crate::app::trust::Trust;
use crate::app::{external_editor, keys, out, plan};

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
            keys,
            origin,
            trust,
            config,
        } => {
            let layers = if *trust {
                let cwd = plan::working_folder(None)?;
                let trusted = Trust::load(&dirs.projects_file(), &cwd)?.with_verdict(true);
                layers_in(dirs, Some(&trusted), config)?
            } else {
                layers(dirs, config)?
            };
            cli::show_config(&layers, keys, *origin)
        }
        ConfigCommand::Set { key, value } => {
            let value = typed_value(key, value).map_err(|fault| {
                let of_others =
                    of_value("--permission", value).filter(|_| key == "permission.mode");
                let of_others = of_others.map(|it| it.replace("--permission", key));
                StartError::usage(of_others.unwrap_or(fault))
            })?;
            let mut own = Layers::defaults();
            let _ = own.add_user_file(&file);
            let saved = with_names(&own, dirs, env, |names| names.save(&file, key, &value));
            saved.map_err(StartError::usage)?;
            let is_set = cli::config_is_set(&file, key, &value, check);
            if let Some(warning) = cli::setting_warning(key, &value) {
                out::eprint_line(&format!("tiller: {warning}"));
            }
            Ok(is_set)
        }
        ConfigCommand::Unset { key } => cli::unset_config(&file, key),
        ConfigCommand::Edit => {
            let has_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
            if let (Some(editor), false) = (external_editor::on_terminal(), has_terminal) {
                return Err(StartError::usage(format!(
                    "no terminal for {editor}. Edit the file yourself: {}",
                    file.display()
                )));
            }
            let runtime = current_thread()?;
            let open = || runtime.block_on(external_editor::open(file.clone(), None));
            cli::edit_config(&file, open, check)
        }
        ConfigCommand::Schema => Ok(out::print(&format!("{:#}\n", schema()))),
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
    with_names(layers, dirs, env, |names| names.unknown(layers, of))
}

/// Calls `then` with the names that settings can use. Reads the models only if it asks about one.
fn with_names<T>(
    layers: &Layers,
    dirs: &Dirs,
    env: &HashMap<String, String>,
    then: impl FnOnce(&SettingNames<'_>) -> T,
) -> T {
    let models = LazyCell::new(|| {
        let settings = Settings::resolve(layers).map_err(StartError::usage)?;
        let keys = keys::load(dirs, &settings, env, &plan::working_folder(None)?)?;
        let catalog = Arc::new(plan::catalog(&settings, dirs)?);
        Ok::<_, StartError>(plan::models(&settings, dirs, &catalog, &keys))
    });
    // An error in models.toml or auth.toml isn't one of this file.
    let model = |name: &str| match models.as_ref() {
        Ok(models) => models.resolve_with(name, || discover(models)).map(|_| ()),
        Err(_) => Ok(()),
    };
    let names = SettingNames {
        themes: &screen::theme_names(&dirs.themes()),
        tools: &own_tool_names(dirs),
        model: &model,
    };
    then(&names)
}
