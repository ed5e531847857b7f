//! All keys there are, without asking anybody who might take his time. Two small files are read;
//! the keyring and commands wait until a key is needed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::{env_file, keyring};
use crate::app::config::Settings;
use crate::app::dirs::Dirs;
use crate::app::outcome::StartError;
use crate::llm::Keys;
use crate::llm::auth::Store;

/// The keys of a run in `cwd`.
///
/// # Errors
/// The file of stored keys cannot be used, or others can read it.
pub(crate) fn gather(
    dirs: &Dirs,
    settings: &Settings,
    env: &HashMap<String, String>,
    cwd: &Path,
) -> Result<Keys, StartError> {
    let store = Store::load(&dirs.auth_file()).map_err(StartError::failed)?;
    let keys: Keys = env.clone().into_iter().collect();
    let mut keys = keys.with_store(store);
    if let Some(keyring) = keyring(env) {
        keys = keys.with_keyring(keyring);
    }
    Ok(match env_file(settings, dirs, cwd) {
        Some((path, variables)) => keys.with_env_file(&path, variables),
        None => keys,
    })
}

/// The `.env` of the working folder, if the user said that it may hold keys: a project that was
/// merely downloaded must not choose whose account is used.
fn env_file(
    settings: &Settings,
    dirs: &Dirs,
    cwd: &Path,
) -> Option<(PathBuf, HashMap<String, String>)> {
    let trusted = settings.env_file_folders.iter().any(|folder| {
        let folder = match (folder.strip_prefix('~'), &dirs.home) {
            (Some(rest), Some(home)) => home.join(rest.trim_start_matches('/')),
            _ => PathBuf::from(folder),
        };
        // A relative one would mean another folder wherever tiller starts.
        folder.is_absolute()
            && folder
                .canonicalize()
                .is_ok_and(|folder| cwd.starts_with(folder))
    });
    if !trusted {
        return None;
    }
    let path = cwd.join(".env");
    let variables = env_file::read(&path)?;
    Some((path, variables))
}
