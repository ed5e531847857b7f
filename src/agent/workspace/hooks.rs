//! What git is told by its settings: a folder of hooks to use instead of its own, remotes.

use std::path::{Path, PathBuf};

use super::git_folders::{git_folders, read_small};
use super::git_settings::Settings;
use super::places::Workspace;

/// The folder that `core.hooksPath` names for the working tree at `tree`, where the repository, the
/// user or the machine sets it; files that these include are not followed.
pub(super) fn hooks_folder(tree: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let of_repository = git_folders(tree)?.common.join("config");
    let of_user = home.into_iter();
    let of_user =
        of_user.flat_map(|home| [".gitconfig", ".config/git/config"].map(|it| home.join(it)));
    let files = [of_repository].into_iter().chain(of_user);
    let mut files = files.chain([PathBuf::from("/etc/gitconfig")]);
    let named = files.find_map(|file| {
        let settings = Settings::read(&read_small(&file)?);
        settings.value("core.hookspath").map(str::to_owned)
    })?;
    Some(match (named.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => tree.join(named).components().collect(),
    })
}

impl Workspace {
    /// Whether every remote of the repository is a folder of this machine, or there is none: then git
    /// fetches from them without a network.
    pub fn has_local_remotes(&self) -> bool {
        let git = git_folders(&self.roots()[0]);
        let text = git.and_then(|git| read_small(&git.common.join("config")));
        let settings = Settings::read(&text.unwrap_or_default());
        settings.whole
            && settings
                .remotes()
                .all(|url| url.starts_with(['/', '.']) || url.starts_with("file://"))
    }
}
