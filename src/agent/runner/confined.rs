//! A command that the sandbox seems to have kept from its work: the user is asked whether it runs again
//! with more, and the model is told why it failed.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::allowed::Allowed;
use super::env::RunEnv;
use super::execution::execute;
use super::link::{LateNotices, RunLink, Turn};
use super::outcome::CallOutcome;
use super::permissions::Permissions;
use crate::agent::event::{NoticeLevel, ToolStatus};
use crate::agent::permission::{Confinement, PermissionMode, suggest_wider};
use crate::agent::process::ExitStatus;
use crate::agent::process::sandbox::{Confined, Network, Sandbox, signs_of_confinement};
use crate::agent::question::{Answer, PermissionSubject, Subject};
use crate::agent::tool::Details;
use crate::llm::{Content, ToolCall};

/// How long a command whose processes have ended may still be counted as running.
const TIDYING: Duration = Duration::from_millis(50);

/// Runs a call that was allowed, and perhaps a second time.
pub(super) async fn run(
    link: &RunLink,
    env: &RunEnv,
    turn: &Turn,
    call: &ToolCall,
    allowed: Allowed,
) -> CallOutcome {
    let first = allowed.clone();
    let mut ended = watched(link, env, turn, call, first).await;
    let Some((confined, sandbox)) = kept_from(&allowed, &ended) else {
        return ended;
    };
    let (wider, confinement) = match confined {
        Confined::Network => {
            let network = Network::Host;
            let sandbox = Sandbox {
                network,
                ..(*sandbox).clone()
            };
            let confinement = Confinement::Sandboxed { network: true };
            (Some(Arc::new(sandbox)), confinement)
        }
        Confined::Files => (None, Confinement::Free),
    };
    let command = allowed.effects.command.as_deref().unwrap_or_default();
    let (may_ask, why, with) = words(confined, allowed.mode);
    if !may_ask {
        note(&mut ended, why);
        return ended;
    }
    let subject = Subject::Permission(PermissionSubject {
        reason: why.to_owned(),
        again: Some(with.to_owned()),
        details: Arc::clone(&allowed.preview),
        suggestions: suggest_wider(&call.name, command, confinement),
    });
    let answer = link
        .asker
        .ask(&call.id, &call.name, subject, &turn.interrupt);
    let refused = match answer.await {
        Some(Answer::Allow { .. }) => {
            let again = Allowed {
                sandbox: wider,
                ..allowed
            };
            if again.sandbox.is_some() {
                env.permissions.runs_again();
            }
            let mut ended = watched(link, env, turn, call, again).await;
            note(
                &mut ended,
                &format!("{why}; the user had it run again {with}, and this is what came of it"),
            );
            return ended;
        }
        Some(Answer::Refuse { reason: Some(text) } | Answer::Reply(text)) => {
            format!("{why}. The user did not let it run again {with}, and says: {text}")
        }
        Some(Answer::Refuse { reason: None }) => {
            format!("{why}. The user did not let it run again {with}")
        }
        None => why.to_owned(),
    };
    note(&mut ended, &refused);
    ended
}

/// Runs a call, and looks at what its command has made.
async fn watched(
    link: &RunLink,
    env: &RunEnv,
    turn: &Turn,
    call: &ToolCall,
    allowed: Allowed,
) -> CallOutcome {
    let (is_confined, only_reads) = (allowed.sandbox.is_some(), allowed.effects.only_reads());
    let writes = is_confined && allowed.mode != PermissionMode::Plan;
    let mut ended = execute(link, env, turn, call, allowed).await;
    if !is_confined && !only_reads {
        env.permissions.look_again().await;
    }
    if !writes {
        return ended;
    }
    // As a rule all has ended by now, and is only being tidied away. An abort waits for nothing.
    let tidying = timeout(TIDYING, link.processes.empty());
    let tidied = turn.interrupt.run_until_cancelled(tidying).await;
    let is_over = matches!(tidied, Some(Ok(())));
    // In a large project nobody waits for a look: the model reads on meanwhile.
    let looks = tidied.is_some() && !env.permissions.looks_take_time();
    if looks {
        for text in env.permissions.after_command(is_over).await {
            link.notice(NoticeLevel::Warning, text.clone()).await;
            note(&mut ended, &text);
        }
    }
    if !(looks && is_over) {
        let (processes, permissions) = (link.processes.clone(), env.permissions.clone());
        let notices = link.late_notices();
        tokio::spawn(async move {
            if !looks && !is_over {
                look_late(&permissions, &notices, false).await;
            }
            // A server in the background, or a command that is still being ended.
            processes.empty().await;
            look_late(&permissions, &notices, true).await;
        });
    }
    ended
}

/// Looks at what a command has made whose call has ended. Where the run has ended too, the next call
/// says what was found.
async fn look_late(permissions: &Permissions, notices: &LateNotices, is_over: bool) {
    let mut unsaid = Vec::new();
    for text in permissions.after_command(is_over).await {
        unsaid.extend(notices.warn(text).await.err());
    }
    permissions.say_later(unsaid);
}

/// What the command of a call that failed seems to have been kept from.
fn kept_from(allowed: &Allowed, ended: &CallOutcome) -> Option<(Confined, Arc<Sandbox>)> {
    let sandbox = allowed.sandbox.as_ref()?;
    let Details::Command(command) = &*ended.details else {
        return None;
    };
    if ended.status != ToolStatus::Error || command.timed_out {
        return None;
    }
    let exit = ExitStatus::Exited(command.exit_code?);
    let confined = signs_of_confinement(&command.output, &exit)?;
    // What it has already is not what it lacks.
    let had = confined == Confined::Network && sandbox.network == Network::Host;
    (!had).then(|| (confined, Arc::clone(sandbox)))
}

/// Whether it may be asked, why it failed, and what it would run with.
fn words(confined: Confined, mode: PermissionMode) -> (bool, &'static str, &'static str) {
    match confined {
        _ if mode == PermissionMode::Plan => (
            false,
            "plan mode: it ran in a sandbox without network that cannot write",
            "",
        ),
        Confined::Network => (
            true,
            "it failed in the sandbox, whose network is a loopback of its own",
            "with the network",
        ),
        Confined::Files => (
            true,
            "it failed in the sandbox, which keeps it to the project",
            "without the sandbox",
        ),
    }
}

/// Adds to what the model is told.
fn note(ended: &mut CallOutcome, text: &str) {
    ended.content.push(Content::text(format!("[{text}]")));
}
