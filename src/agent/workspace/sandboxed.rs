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
        let places = self.for_commands(repositories);
        let mut writable = Vec::new();
        if writes {
            writable = places.writable;
            writable.extend(self.caches().iter().filter(|it| it.exists()).cloned());
        }
        let private = self.private();
        Sandbox {
            writable,
            read_only: places.read_only,
            hidden: places.hidden,
            readable: places.readable,
            forbidden: places.forbidden,
            visible: self.visible(),
            tmp: private.map(PrivateFolders::tmp),
            var_tmp: private.map(PrivateFolders::var_tmp),
            shm: private.map(PrivateFolders::shm),
            network,
            ..Sandbox::default()
        }
    }
}
