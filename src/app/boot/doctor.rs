//! `tiller doctor`: collects what to check. Reports an invalid file and uses defaults instead, so
//! that the other checks still run.

use std::collections::HashMap;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::Arc;

use super::config::unknown_names;
use super::runtime::current_thread;
use super::screen;
use super::sub_command::discover;
use crate::agent::process::Processes;
use crate::app::config::{Layers, Origin, Settings};
use crate::app::dirs::Dirs;
use crate::app::doctor::{self, Report, Section};
use crate::app::hook_files::HookFiles;
use crate::app::mcp_files::McpFiles;
use crate::app::outcome::{Outcome, StartError};
use crate::app::tool_files::ToolFiles;
use crate::app::trust::{Trust, has_foreign_permissions};
use crate::app::{keys, out, plan};
use crate::llm::{Catalog, CatalogOptions, Keys};

pub(super) fn doctor(
    dirs: &Dirs,
    env: &HashMap<String, String>,
    json: bool,
) -> Result<Outcome, StartError> {
    let cwd = plan::working_folder(None)?;
    let home = dirs.home.as_deref();
    let trust = Trust::load(&dirs.projects_file(), &cwd);
    let layers = plan::layers(dirs, trust.as_ref().ok(), &[]);
    let settings = match &layers {
        Ok(layers) => Settings::resolve(layers),
        Err(error) => Err(error.message.clone()),
    };
    let (settings, mut settings_faults) = or_default(settings, defaults)?;
    if let Ok(layers) = &layers {
        let unknown = unknown_names(layers, dirs, env, |it| matches!(it, Origin::User(_)));
        let faults = [&layers.left_out[..], &unknown].concat();
        if !faults.is_empty() {
            settings_faults = faults;
        }
    }
    let (keys, keys_faults) = or_default(
        keys::load(dirs, &settings, env, &cwd).map_err(|error| error.message),
        || Ok(Keys::default()),
    )?;
    let (catalog, models_faults) = or_default(
        plan::catalog(&settings, dirs).map_err(|error| error.message),
        // A file that doesn't exist.
        || Catalog::open(Path::new(""), CatalogOptions::default()),
    )?;
    let catalog = Arc::new(catalog);
    let models = plan::models(&settings, dirs, &catalog, &keys);
    let found = discover(&models);
    let default = match settings.model.as_str() {
        "" => Ok(plan::default_model(
            &settings, &models, &catalog, &keys, &found,
        )),
        name => {
            let named = models.resolve_with(name, || Arc::clone(&found));
            let named = named.map(|(model, _)| Some(model.full_id()));
            named.map_err(|why| {
                format!("models.default: {}", why.lines().next().unwrap_or_default())
            })
        }
    };
    let wrong_keys = screen::wrong_keys(&dirs.keymap_file());
    let trust_faults = trust
        .as_ref()
        .map_or_else(|error| vec![error.message.clone()], |_| Vec::new());
    let (mut hook_faults, mut server_faults) = (Vec::new(), Vec::new());
    let mut foreign = Vec::new();
    for listed in HookFiles::new(dirs, &cwd).read() {
        if listed.path == dirs.hooks_file() {
            hook_faults = listed.file.faults;
        } else {
            foreign.extend(doctor::not_used(&listed.path, &listed.file.faults));
        }
    }
    for listed in ToolFiles::new(dirs, &cwd).read(trust.as_ref().is_ok_and(Trust::is_trusted)) {
        foreign.extend(doctor::not_used(&listed.path, &listed.found.faults));
    }
    for listed in McpFiles::new(dirs, &cwd, false, env, &[]).read() {
        if listed.path == dirs.mcp_file() {
            server_faults = listed.file.faults;
        } else {
            foreign.extend(doctor::not_used(&listed.path, &listed.file.faults));
        }
    }
    if dirs.home.as_deref().is_some_and(has_foreign_permissions) {
        foreign.push(doctor::unread_permissions());
    }
    let mut files = [
        doctor::problems("config.toml", &dirs.config_file(), &settings_faults),
        doctor::problems("models.toml", &dirs.models_file(), &models_faults),
        doctor::problems("keymap.toml", &dirs.keymap_file(), &wrong_keys),
        doctor::problems("projects.toml", &dirs.projects_file(), &trust_faults),
        doctor::problems("auth.toml", &dirs.auth_file(), &keys_faults),
        doctor::problems("hooks.json", &dirs.hooks_file(), &hook_faults),
        doctor::problems("mcp.json", &dirs.mcp_file(), &server_faults),
        foreign,
    ]
    .concat();
    if let Some(fault) = layers
        .as_ref()
        .ok()
        .and_then(|layers| layers.project_fault.clone())
    {
        files.push(doctor::left_out("project", &fault));
    }
    files.extend(
        settings
            .places
            .missing()
            .iter()
            .map(|why| doctor::doubtful(why)),
    );
    let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    let processes = Processes::new();
    let runtime = current_thread()?;
    let report = Report {
        sections: vec![
            runtime.block_on(doctor::system(&processes, env)),
            doctor::sandbox(&processes, &cwd, home),
            doctor::terminal(env, is_terminal),
            doctor::keys(&catalog, &keys, &models, default),
            doctor::folders(dirs, dirs.check_config(env)),
            Section {
                title: "Settings",
                checks: files,
            },
            doctor::project(&cwd, home, trust.as_ref().ok()),
        ],
    };
    runtime.shutdown_background();
    let text = if json {
        format!("{:#}\n", report.json())
    } else {
        report.text()
    };
    Ok(match out::print(&text) {
        Outcome::Done if !report.is_good() => Outcome::Failed,
        printed => printed,
    })
}

/// Returns the value, or a default and the errors.
fn or_default<T>(
    read: Result<T, String>,
    default: impl FnOnce() -> Result<T, String>,
) -> Result<(T, Vec<String>), StartError> {
    match read {
        Ok(read) => Ok((read, Vec::new())),
        Err(fault) => Ok((default().map_err(StartError::failed)?, vec![fault])),
    }
}

fn defaults() -> Result<Settings, String> {
    Settings::resolve(&Layers::defaults())
}
