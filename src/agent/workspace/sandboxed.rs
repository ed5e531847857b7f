//! The sandbox of commands that work in a workspace.

use super::places::Workspace;
use super::private::PrivateFolders;
use super::repositories::Repositories;
use crate::agent::process::sandbox::{Network, Sandbox};

impl Workspace {
    /// What a command that starts now is held to. `writes`: it may change the workspace and the
    /// caches, else only temporary files. Looks at what is there, see [`Self::for_commands`]; may block.
    pub fn sandbox(
        &self,
        repositories: &mut Repositories,
        writes: bool,
        network: Network,
    ) -> Sandbox {
        let mut places = self.for_commands(repositories);
        if writes {
            let caches = self.caches().iter().filter(|it| it.exists());
            places.writable.extend(caches.cloned());
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
