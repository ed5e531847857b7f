//! Loads all keys without blocking: reads two small files; runs key commands only when needed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::env_file;
use crate::app::config::Settings;
use crate::app::dirs::Dirs;
use crate::app::outcome::StartError;
use crate::llm::Keys;
use crate::llm::auth::{KeyFiles, Store};

pub(crate) fn load(
    dirs: &Dirs,
    settings: &Settings,
    env: &HashMap<String, String>,
    cwd: &Path,
) -> Result<Keys, StartError> {
    let auth_file = dirs.auth_file();
    let env_file = trusted_env_file(settings, dirs, cwd);
    let read = move || {
        let variables = |path: &PathBuf| Some((path.clone(), env_file::read(path)?));
        Ok(KeyFiles {
            store: Store::load(&auth_file)?,
            env_file: env_file.as_ref().and_then(variables),
        })
    };
    let keys: Keys = env.clone().into_iter().collect();
    keys.with_files(read).map_err(StartError::failed)
}

/// The `.env` of the working folder, if the user's settings allow it to hold keys. A downloaded
/// project must not choose whose account pays.
fn trusted_env_file(settings: &Settings, dirs: &Dirs, cwd: &Path) -> Option<PathBuf> {
    let trusted = settings.env_file_folders.iter().any(|folder| {
        let folder = match (folder.strip_prefix('~'), &dirs.home) {
            (Some(rest), Some(home)) => home.join(rest.trim_start_matches('/')),
            _ => PathBuf::from(folder),
        };
        // A relative path would mean a different folder wherever tiller starts.
        folder.is_absolute()
            && folder
                .canonicalize()
                .is_ok_and(|folder| cwd.starts_with(folder))
    });
    trusted.then(|| cwd.join(".env"))
}
