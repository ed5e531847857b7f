//! What a session would do with a command, without running it.

use std::path::PathBuf;

use super::live_policy::LivePolicy;
use super::permissions::Permissions;
use crate::options::PermissionOptions;
use crate::permission::{Confinement, Decision, PermissionMode, Verdict};
use crate::process::Processes;
use crate::tool::Effects;
use crate::workspace::{Access, Zone};

/// What a session would do with a command.
#[derive(Clone, Debug)]
pub struct JudgedCommand {
    /// The mode that the decision applies in.
    pub mode: PermissionMode,
    /// The decision.
    pub decision: Decision,
    /// The protected places that the command names, which the sandbox hides from it.
    pub hidden: Vec<PathBuf>,
    /// Why no sandbox works on this machine; `None` if one does.
    pub no_sandbox: Option<String>,
}

/// Returns what a session with these options would do with a command.
pub async fn judge_command(
    options: &PermissionOptions,
    command: &str,
    processes: &Processes,
) -> Result<JudgedCommand, String> {
    let policy = LivePolicy::new(options.policy.clone(), None);
    let effects = Effects {
        command: Some(command.to_owned()),
        ..Effects::default()
    };
    let permissions = Permissions::new(options, Vec::new(), policy);
    let judged = permissions.judge("bash", &effects, &options.places.cwd, processes);
    let judged = judged.await?;
    let mut hidden = Vec::new();
    if let Verdict::Allow(Confinement::Sandboxed { .. })
    | Verdict::Ask(Confinement::Sandboxed { .. }) = judged.decision.verdict
    {
        let is_between = |c: char| c.is_whitespace() || "<>|&;()='\"`".contains(c);
        for word in command.split(is_between).filter(|word| !word.is_empty()) {
            let places = judged
                .workspace
                .locate(&options.places.cwd, word, Access::Read);
            let closed = places
                .into_iter()
                .flatten()
                .filter(|it| it.zone == Zone::Protected);
            hidden.extend(closed.map(|it| it.real));
        }
    }
    hidden.dedup();
    Ok(JudgedCommand {
        mode: judged.mode,
        decision: judged.decision,
        hidden,
        no_sandbox: judged.no_sandbox,
    })
}
