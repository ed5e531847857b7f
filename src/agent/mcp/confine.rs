//! The sandbox for servers of a project: that of the model's commands, which can change what such a server runs.

use std::any::Any;
use std::path::Path;

use futures_util::future::BoxFuture;

use crate::process::Processes;
use crate::process::sandbox::Sandbox;

/// Finds the sandbox of a server.
pub(crate) trait Confine: Send + Sync {
    /// The rights that servers have now.
    fn rights(&self) -> Rights;

    /// The sandbox for a server that starts now, with this command line in this folder. One with variables of
    /// its own (`has_env`) never has the network: they may change what the command does.
    ///
    /// # Errors
    /// Returns why it must not start.
    fn confine<'a>(
        &'a self,
        command: &'a str,
        has_env: bool,
        cwd: &'a Path,
        processes: &'a Processes,
    ) -> BoxFuture<'a, Result<Confined, String>>;
}

/// The rights of servers. If they change, a server starts again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rights {
    /// Identifies the session and its working folder.
    pub session: usize,
    pub scope: Scope,
}

/// What servers may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Anything, like commands in full mode.
    Everything,
    /// The project.
    Project,
    /// Nothing, as in plan mode.
    Nothing,
}

/// How a server runs.
#[derive(Default)]
pub(crate) struct Confined {
    /// `None` outside the sandbox, as in full mode.
    pub sandbox: Option<Sandbox>,
    pub network: bool,
    /// Dropped once the server and all its processes have ended.
    pub guard: Option<Box<dyn Any + Send>>,
}
