//! Systems other than Linux: `sandbox-exec` if available (macOS), else nothing.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use super::profile;
use super::shared::{Namespaces, Share};
use super::spec::Sandbox;
use super::support::Support;

/// This process stays unconfined; `sandbox-exec` starts the shell.
pub(in crate::process) struct Entered {
    pub made: Option<Namespaces>,
}

/// Which process continues; here there is only one.
pub(in crate::process) enum Side {
    Inside,
    #[allow(dead_code, reason = "on Linux")]
    Outside(nix::unistd::Pid),
}

pub(in crate::process) fn enter(_: &Sandbox, _: Share) -> Result<Entered, String> {
    Ok(Entered { made: None })
}

impl Entered {
    pub fn by_bwrap(_: &Sandbox) -> Self {
        Self { made: None }
    }

    #[allow(clippy::unused_self, clippy::unnecessary_wraps, reason = "as on Linux")]
    pub fn split(&self) -> Result<Side, String> {
        Ok(Side::Inside)
    }

    pub fn confine(self, sandbox: &Sandbox) -> Result<(), String> {
        let missing = Support::none("").missing(sandbox);
        if cfg!(target_os = "macos") || missing.is_empty() || sandbox.best_effort {
            return Ok(());
        }
        Err("tiller has no sandbox for this system.".to_owned())
    }
}

/// There is none.
pub(in crate::process) fn bubblewrap_arguments(
    _: &Sandbox,
    _: bool,
    _: &Path,
    _: &Path,
) -> io::Result<Vec<OsString>> {
    Ok(Vec::new())
}

pub(super) fn trial(_: bool, answer: impl FnOnce(&Support) -> io::Result<()>) -> io::Result<()> {
    answer(&support())
}

fn support() -> Support {
    let tried = Command::new(profile::PROGRAM)
        .args(["-p", &profile(&Sandbox::default()), "/usr/bin/true"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let works = match tried {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("sandbox-exec ended with {status}")),
        Err(error) => Err(format!("can't run sandbox-exec: {error}")),
    };
    Support {
        profile: works,
        ..Support::none("only on Linux")
    }
}
