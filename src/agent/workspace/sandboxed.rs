//! The sandbox of commands that work in a workspace.

use std::path::PathBuf;

use super::places::Workspace;
use super::private::PrivateFolders;
use super::repositories::Repositories;
use crate::agent::process::sandbox::{Network, Sandbox};

impl Workspace {
    /// What a command that starts now is held to. `writes`: it may change the workspace and `caches`,
    /// else only temporary files. Looks at what is there, see [`Self::for_commands`]; may block.
    pub fn sandbox(
        &self,
        repositories: &mut Repositories,
        writes: bool,
        network: Network,
        caches: &[PathBuf],
    ) -> Sandbox {
        let mut places = self.for_commands(repositories);
        if writes {
            let caches = caches.iter().filter_map(|cache| cache.canonicalize().ok());
            places.writable.extend(caches);
        } else {
            places.writable.clear();
        }
        let private = self.private();
        Sandbox {
            visible: self.visible(),
            tmp: private.map(PrivateFolders::tmp),
            var_tmp: private.map(PrivateFolders::var_tmp),
            shm: private.map(PrivateFolders::shm),
            network,
            ..places
        }
    }
}
