//! How a run gets the tools that aren't built in, before its first request: those of the user, and those of MCP
//! servers, which it starts beside everything else. Later changes wait for the next run.

use std::any::Any;
use std::path::Path;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::runtime::Handle;

use super::link::{RunLink, RunMessage};
use super::permissions::Permissions;
use super::running_command::RunningCommand;
use crate::event::NoticeLevel;
use crate::mcp::{Confine, Confined, Rights, Scope};
use crate::permission::{Confinement, PermissionMode, Verdict};
use crate::process::Processes;
use crate::process::sandbox::Sandbox;
use crate::tool::Effects;

impl RunLink {
    /// Starts the servers that are new, and waits for none.
    pub(super) async fn begin_mcp(&self) {
        self.env.confine_servers();
        self.unless_cancelled(self.env.mcp.begin()).await;
    }

    /// Reports the tools of the user if they have changed.
    pub(super) async fn take_own_tools(&self) {
        let changed = self.unless_cancelled(self.env.own_tools.changed()).await;
        let Some(Some((tools, notices))) = changed else {
            return;
        };
        for (level, text) in notices {
            if self.env.tells_first(&text) {
                self.notice(level, text).await;
            }
        }
        self.report(RunMessage::OwnTools(tools)).await;
    }

    /// Waits a little for servers that start, and reports the tools of those that run.
    pub(super) async fn take_mcp_tools(&self) {
        self.unless_cancelled(self.env.mcp.settled()).await;
        for text in self.env.mcp.notices() {
            if self.env.tells_first(&text) {
                self.notice(NoticeLevel::Warning, text).await;
            }
        }
        self.report(RunMessage::McpTools(self.env.mcp.tools()))
            .await;
    }
}

/// The sandbox for servers of a project: that of a command of the model with their command line.
pub(crate) struct ServerSandbox {
    pub permissions: Permissions,
}

impl Confine for ServerSandbox {
    fn rights(&self) -> Rights {
        Rights {
            session: self.permissions.identity(),
            scope: match self.permissions.policy.get().mode {
                PermissionMode::Full => Scope::Everything,
                PermissionMode::Plan => Scope::Nothing,
                PermissionMode::Auto | PermissionMode::Ask => Scope::Project,
            },
        }
    }

    fn confine<'a>(
        &'a self,
        command: &'a str,
        has_env: bool,
        cwd: &'a Path,
        processes: &'a Processes,
    ) -> BoxFuture<'a, Result<Confined, String>> {
        Box::pin(async move {
            if self.rights().scope == Scope::Everything {
                return Ok(Confined::default());
            }
            let permissions = &self.permissions;
            let effects = Effects {
                command: Some(command.to_owned()),
                ..Effects::default()
            };
            let judged = permissions.judge("bash", &effects, cwd, processes);
            let judged = judged.await?;
            if let Some(why) = &judged.no_sandbox {
                return Err(format!(
                    "servers of a project need the sandbox, which doesn't work here: {why}"
                ));
            }
            let denies = judged.decision.verdict == Verdict::Deny;
            if let (true, Some(rule)) = (denies, judged.decision.rule_text()) {
                return Err(format!("your rule denies its command: {rule}"));
            }
            // Never outside the sandbox: the model can change what a rule allows there.
            let network = !has_env
                && matches!(
                    judged.decision.verdict,
                    Verdict::Allow(Confinement::Sandboxed { network: true } | Confinement::Free)
                );
            let confinement = Confinement::Sandboxed { network };
            let started = permissions.sandbox(&judged, confinement, None).await?;
            let (sandbox, running) = started.ok_or("it has no sandbox")?;
            let guard = running.map(|running| {
                permissions.count_server(true);
                let guard = ServerGuard {
                    permissions: permissions.clone(),
                    running: Some(running),
                };
                Box::new(guard) as Box<dyn Any + Send>
            });
            Ok(Confined {
                sandbox: Some(Sandbox::clone(&sandbox)),
                network,
                guard,
            })
        })
    }
}

/// Looks at what a server has left once it has ended.
struct ServerGuard {
    permissions: Permissions,
    running: Option<Arc<RunningCommand>>,
}

impl Drop for ServerGuard {
    fn drop(&mut self) {
        self.permissions.count_server(false);
        let (permissions, running) = (self.permissions.clone(), self.running.take());
        if let (Some(running), Ok(runtime)) = (running, Handle::try_current()) {
            runtime.spawn(async move {
                let found = permissions.after_command(running, true).await;
                permissions.say_later(found).await;
            });
        }
    }
}
