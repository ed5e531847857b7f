//! Where tiller stores its files. Only this module knows the XDG rules.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, AtFlags};
use nix::unistd::{AccessFlags, Uid, User, faccessat};

use super::outcome::StartError;

/// The folders that tiller reads and writes. Each is created on demand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dirs {
    /// `config.toml`, `models.toml`, `keymap.toml`, `auth.toml`.
    pub config: PathBuf,
    /// Sessions and prompt history.
    pub data: PathBuf,
    pub state: PathBuf,
    /// Folders for sockets, best first.
    pub sockets: Vec<PathBuf>,
    pub home: Option<PathBuf>,
}

impl Dirs {
    /// Reads `TILLER_CONFIG_DIR`, `TILLER_DATA_DIR`, the XDG variables and `HOME`. Without `HOME`
    /// it uses `account_home`, the home folder in the user database.
    pub fn from_env(
        env: &HashMap<String, String>,
        account_home: impl FnOnce() -> Option<PathBuf>,
    ) -> Result<Self, StartError> {
        let var = |name: &str| {
            env.get(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let home = var("HOME").or_else(account_home);
        // The XDG specification says to ignore relative paths.
        let xdg = |name: &str, below_home: &str| {
            var(name)
                .filter(|path| path.is_absolute())
                .map(|path| path.join("tiller"))
                .or_else(|| {
                    home.as_ref()
                        .map(|home| home.join(below_home).join("tiller"))
                })
        };
        let missing = |name: &str| {
            StartError::failed(format!(
                "no home folder: HOME isn't set and the user database has none. Set HOME, or set {name} to \
                 a folder"
            ))
        };
        let config = var("TILLER_CONFIG_DIR")
            .or_else(|| xdg("XDG_CONFIG_HOME", ".config"))
            .ok_or_else(|| missing("TILLER_CONFIG_DIR"))?;
        let data = var("TILLER_DATA_DIR")
            .or_else(|| xdg("XDG_DATA_HOME", ".local/share"))
            .ok_or_else(|| missing("TILLER_DATA_DIR"))?;
        let runtime = var("XDG_RUNTIME_DIR").filter(|path| path.is_absolute());
        // The last one is used if the paths of the others are too long for a socket.
        let user = Uid::effective();
        let temporary = std::env::temp_dir().join(format!("tiller-{user}"));
        let mut sockets: Vec<PathBuf> = runtime
            .map(|path| path.join("tiller"))
            .into_iter()
            .collect();
        sockets.extend([data.join("run"), temporary]);
        Ok(Self {
            sockets,
            config,
            data,
            state: xdg("XDG_STATE_HOME", ".local/state")
                .ok_or_else(|| missing("XDG_STATE_HOME"))?,
            home,
        })
    }

    /// Fails if `TILLER_CONFIG_DIR` names no folder. A mistyped one would drop all settings and rules.
    pub fn check_config(&self, env: &HashMap<String, String>) -> Result<(), StartError> {
        let is_named = env
            .get("TILLER_CONFIG_DIR")
            .is_some_and(|it| !it.is_empty());
        if !is_named || self.config.is_dir() {
            return Ok(());
        }
        let shown = self.config.display();
        Err(StartError::usage(format!(
            "TILLER_CONFIG_DIR names {shown}, which isn't a folder. Create it: mkdir -p {shown}"
        )))
    }

    /// Fails if no session can be stored, before a run costs anything.
    pub fn check_data(&self) -> Result<(), StartError> {
        let sessions = self.sessions();
        let Some((_, why)) = unwritable(&sessions) else {
            return Ok(());
        };
        Err(StartError::usage(format!(
            "can't write {}: {}. Add --no-session, or set TILLER_DATA_DIR to a folder that you can write",
            sessions.display(),
            why.desc()
        )))
    }

    /// The current user's home folder in the user database.
    pub fn account_home() -> Option<PathBuf> {
        let user = User::from_uid(Uid::current()).ok()??;
        Some(user.dir).filter(|home| home.is_absolute())
    }
}

/// The folder that keeps tiller from writing `folder`, and why. tiller creates a missing folder on demand,
/// in the nearest existing one.
pub fn unwritable(folder: &Path) -> Option<(&Path, Errno)> {
    let nearest = folder.ancestors().find(|path| path.exists());
    let nearest = nearest.unwrap_or(Path::new("/"));
    if !nearest.is_dir() {
        return Some((nearest, Errno::ENOTDIR));
    }
    let flags = AccessFlags::W_OK | AccessFlags::X_OK;
    let access = faccessat(AT_FDCWD, nearest, flags, AtFlags::AT_EACCESS);
    access.err().map(|why| (nearest, why))
}

/// Defines a function for each file and folder: its name, its parent and its file name.
macro_rules! paths {
    ($($(#[$doc:meta])? $name:ident = $folder:ident / $path:literal;)*) => {
        impl Dirs {
            $($(#[$doc])? pub fn $name(&self) -> PathBuf {
                self.$folder.join($path)
            })*
        }
    };
}

paths! {
    config_file = config / "config.toml";
    models_file = config / "models.toml";
    auth_file = config / "auth.toml";
    projects_file = config / "projects.toml";
    keymap_file = config / "keymap.toml";
    hooks_file = config / "hooks.json";
    mcp_file = config / "mcp.json";
    tools = config / "tools";
    themes = config / "themes";
    /// The model catalogue fetched last.
    catalogue_file = data / "models.toml";
    /// Unsent drafts, with a subfolder for each working folder.
    drafts = data / "drafts";
    history_file = data / "history.jsonl";
    sessions = data / "sessions";
    trash = data / ".trash";
    undo = data / "undo";
    trials = data / "try";
    /// Exports of sessions in repositories.
    exports = data / "exports";
    log = state / "log";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::outcome::Outcome;

    fn dirs(vars: &[(&str, &str)], account_home: Option<&str>) -> Result<Dirs, StartError> {
        let env = vars
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect();
        Dirs::from_env(&env, || account_home.map(PathBuf::from))
    }

    #[test]
    fn our_variables_beat_xdg_and_xdg_beats_home() {
        let got = dirs(
            &[
                ("HOME", "/h"),
                ("XDG_CONFIG_HOME", "/xc"),
                ("XDG_DATA_HOME", "relative"),
                ("TILLER_CONFIG_DIR", "/c"),
            ],
            Some("/other"),
        )
        .unwrap();
        assert_eq!(got.config, PathBuf::from("/c"));
        assert_eq!(got.data, PathBuf::from("/h/.local/share/tiller"));
        assert_eq!(got.state, PathBuf::from("/h/.local/state/tiller"));
    }

    #[test]
    fn a_named_config_folder_must_exist() {
        let folder = tempfile::tempdir().unwrap();
        let named = |path: &Path| {
            let path = path.to_str().unwrap().to_owned();
            let env = HashMap::from([("TILLER_CONFIG_DIR".to_owned(), path)]);
            let home = || Some(PathBuf::from("/nowhere"));
            Dirs::from_env(&env, home).unwrap().check_config(&env)
        };
        assert!(named(folder.path()).is_ok());
        let error = named(&folder.path().join("typo")).unwrap_err();
        assert_eq!(error.outcome, Outcome::Usage);
        assert!(
            error.message.contains("/typo, which isn't a folder"),
            "{error}"
        );
        // The usual folder may be missing.
        let usual = dirs(&[], Some("/nowhere")).unwrap();
        assert!(usual.check_config(&HashMap::new()).is_ok());
    }

    #[test]
    fn an_unwritable_data_folder_is_refused_with_the_variable() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        let of = |data: &Path| dirs(&[("TILLER_DATA_DIR", data.to_str().unwrap())], Some("/h"));
        assert_eq!(of(&folder.path().join("new")).unwrap().check_data(), Ok(()));
        let error = of(&file).unwrap().check_data().unwrap_err();
        assert_eq!(error.outcome, Outcome::Usage);
        let told = format!(
            "can't write {}/sessions: Not a directory. Add --no-session, or set TILLER_DATA_DIR",
            file.display()
        );
        assert!(error.message.starts_with(&told), "{error}");
    }

    #[test]
    fn without_home_the_user_database_is_asked() {
        for vars in [&[][..], &[("HOME", "")]] {
            let got = dirs(vars, Some("/account")).unwrap();
            assert_eq!(got.config, PathBuf::from("/account/.config/tiller"));
        }
    }

    #[test]
    fn without_a_home_the_error_names_the_way_out() {
        let error = dirs(&[], None).unwrap_err();
        assert!(error.message.contains("TILLER_CONFIG_DIR"), "{error}");
    }
}
