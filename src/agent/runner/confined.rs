//! Handles a command that the sandbox seems to have blocked: asks the user whether to rerun it with
//! more access, and tells the model why it failed.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::allowed::{Allowed, CallScope};
use super::dispatch::result_message;
use super::execution::{CallOutcome, execute};
use super::ignored::note_deleted;
use super::link::{LateNotices, RunMessage};
use super::permissions::Permissions;
use super::running_command::RunningCommand;
use crate::event::{AgentEvent, NoticeLevel, ToolStatus};
use crate::permission::{Confinement, PermissionMode, in_venv, suggest_own_tool, suggest_wider};
use crate::process::ExitStatus;
use crate::process::sandbox::{
    Confined, Network, Sandbox, files_git_left, protected_place, signs_of_confinement,
};
use crate::question::{Answer, PermissionSubject, Subject};
use crate::tool::Details;
use crate::tools::own::Declares;
use tiller_llm::Content;

/// How long a command may still be counted as running after its processes have ended.
const TIDYING: Duration = Duration::from_millis(50);

/// Lines shown after the one that a question quotes. A folded call shows a few lines.
const AFTER_WORDS: usize = 2;

/// What users see below a command that couldn't write in plan mode.
const PLAN_MODE: &str = "plan mode: the project is read-only · Shift+Tab changes the mode";

/// Why a tool of the user couldn't write.
const ONLY_READS: &str = "the project is read-only for it, because its manifest has effects = \"reads\"; the user can \
    change that to \"writes\"";

/// Runs an allowed call, and reruns it if the sandbox blocked it and the user agrees.
pub(super) async fn run(scope: CallScope<'_>, allowed: Allowed) -> CallOutcome {
    let CallScope { link, turn, call } = scope;
    let first = allowed.clone();
    let mut ended = watched(scope, first).await;
    let Some((confined, shown, sandbox)) = kept_from(&allowed, &ended) else {
        return ended;
    };
    if confined == Confined::Files
        && let Some(place) = protected(&ended, &sandbox, &link.env.cwd)
    {
        note(
            &mut ended,
            &format!("its output contains “{shown}”; {place} is protected"),
        );
        return ended;
    }
    let program = allowed.effects.program.as_ref();
    if confined == Confined::Files && program.is_some_and(|it| it.declares == Declares::Reads) {
        note(
            &mut ended,
            &format!("its output contains “{shown}”; {ONLY_READS}"),
        );
        return ended;
    }
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
    let (may_ask, because, with) = words(confined, allowed.mode);
    let mut why = format!("its output contains “{shown}”; {because}");
    if confined == Confined::Files
        && let Some(instead) = in_venv(command)
    {
        why = format!("{why}. A virtual environment works in the sandbox: {instead}");
    }
    if !may_ask {
        if confined == Confined::Files {
            show(&mut ended, PLAN_MODE);
        }
        note(&mut ended, &why);
        return ended;
    }
    if wider.is_none() {
        let unusual =
            (link.env.permissions).unusual(&allowed.effects, &link.env.cwd, &link.processes);
        for text in turn.unless_cut_short(unusual).await.unwrap_or_default() {
            why = format!("{why}; {text}");
        }
    }
    // Stores the result now, in case the program ends before the user answers.
    let mut so_far = result_message(call, &ended);
    so_far.content.push(bracketed(&why));
    link.report(RunMessage::RanOnce(Box::new(so_far))).await;
    link.emit(AgentEvent::ToolUpdate {
        call_id: call.id.clone(),
        details: evidence(&ended.details, shown),
    })
    .await;
    let suggestions = match &allowed.effects.program {
        // Outside the sandbox it would run what the model can change.
        Some(_) if wider.is_none() => Vec::new(),
        Some(_) => vec![suggest_own_tool(&call.name, confinement)],
        None => suggest_wider(&call.name, command, confinement),
    };
    let subject = Subject::Permission(PermissionSubject {
        reason: why.clone(),
        again: Some(with.to_owned()),
        details: Arc::clone(&allowed.preview),
        network: confined == Confined::Network,
        rule: None,
        flagged: Vec::new(),
        suggestions,
        by_hand: None,
    });
    let answer = link
        .asker
        .ask(&call.id, &call.name, subject, &turn.interrupt);
    let refused = match answer.await {
        Some(Answer::Allow { .. }) => {
            let running = match &wider {
                Some(_) => {
                    let again = link.env.permissions.runs_again();
                    turn.unless_cut_short(again).await.ok().flatten()
                }
                None => None,
            };
            let again = Allowed {
                sandbox: wider,
                running,
                ..allowed
            };
            let mut ended = watched(scope, again).await;
            note(
                &mut ended,
                &format!("{why}. The user let it rerun {with}; this is the result"),
            );
            return ended;
        }
        Some(Answer::Refuse { reason: Some(text) } | Answer::Reply(text)) => {
            let said = format!("Not rerun {with}. The model gets your answer: {text}");
            link.notice(NoticeLevel::Info, said).await;
            format!("{why}. The user declined to rerun it {with}, and says: {text}")
        }
        Some(Answer::Refuse { reason: None }) => {
            format!("{why}. The user declined to rerun it {with}")
        }
        None => why,
    };
    note(&mut ended, &refused);
    ended
}

async fn watched(scope: CallScope<'_>, allowed: Allowed) -> CallOutcome {
    let CallScope { link, turn, .. } = scope;
    let (is_confined, only_reads) = (allowed.sandbox.is_some(), allowed.effects.only_reads());
    let (running, ignored) = (allowed.running.clone(), allowed.ignored.clone());
    let is_outside = !is_confined && allowed.effects.command.is_some();
    if is_outside && allowed.mode != PermissionMode::Full {
        // Includes files that appeared while the user was deciding.
        let moved = turn.unless_cut_short(link.env.permissions.before_outside());
        for text in moved.await.unwrap_or_default() {
            link.notice(NoticeLevel::Warning, text).await;
        }
    }
    let mut ended = execute(scope, allowed).await;
    note_deleted(scope, ignored).await;
    if is_confined && let Some(text) = left_by_git(&ended) {
        link.notice(NoticeLevel::Warning, text.clone()).await;
        note(&mut ended, &text);
    }
    // The model reads them in the output. They may be the user's.
    if let Details::Command(command) = &*ended.details {
        for text in &command.moved {
            link.notice(NoticeLevel::Warning, text.clone()).await;
        }
    }
    if !is_confined && !only_reads {
        let _ = turn
            .unless_cut_short(link.env.permissions.look_again())
            .await;
    }
    let Some(running) = running else {
        return ended;
    };
    // Usually everything has ended by now and only needs tidying. An abort doesn't wait.
    let tidying = timeout(TIDYING, link.processes.empty());
    let tidied = turn.interrupt.run_until_cancelled(tidying).await;
    let is_over = matches!(tidied, Some(Ok(())));
    // In a large project a look takes too long, so the model reads on meanwhile.
    let looks = tidied.is_some() && !link.env.permissions.looks_take_time();
    let (processes, permissions) = (link.processes.clone(), link.env.permissions.clone());
    let notices = link.late_notices();
    // A separate task, so that its findings are reported later if the turn is cut short.
    let mut looking = tokio::spawn({
        let (permissions, running) = (permissions.clone(), Arc::clone(&running));
        async move {
            if looks {
                permissions.after_command(running, is_over).await
            } else {
                Vec::new()
            }
        }
    });
    let looked = turn.unless_cut_short(&mut looking).await;
    let is_cut_short = looked.is_err();
    for text in looked.unwrap_or(Ok(Vec::new())).unwrap_or_default() {
        link.notice(NoticeLevel::Warning, text.clone()).await;
        note(&mut ended, &text);
    }
    if is_cut_short || !(looks && is_over) {
        tokio::spawn(async move {
            if is_cut_short {
                say_late(&permissions, &notices, looking.await.unwrap_or_default()).await;
            }
            if !looks && !is_over {
                look_late(&permissions, &notices, Arc::clone(&running), false).await;
            }
            // A server in the background, or a command that is still being ended.
            processes.empty().await;
            look_late(&permissions, &notices, running, true).await;
        });
    }
    ended
}

/// Looks at what a command left after its call ended. The next call may have to report it.
async fn look_late(
    permissions: &Permissions,
    notices: &LateNotices,
    running: Arc<RunningCommand>,
    is_over: bool,
) {
    let found = permissions.after_command(running, is_over).await;
    say_late(permissions, notices, found).await;
}

async fn say_late(permissions: &Permissions, notices: &LateNotices, texts: Vec<String>) {
    let mut unsaid = Vec::new();
    for text in texts {
        unsaid.extend(notices.warn(text).await.err());
    }
    permissions.say_later(unsaid).await;
}

/// Warns that git reported success but couldn't update some files. The next commit would revert them.
fn left_by_git(ended: &CallOutcome) -> Option<String> {
    let Details::Command(command) = &*ended.details else {
        return None;
    };
    let paths = files_git_left(&command.output);
    (ended.status == ToolStatus::Ok && !paths.is_empty()).then(|| {
        format!(
            "git could not update {}: in the sandbox, files that other programs run automatically are \
             read-only. Before the next commit, run `git restore` for it alone; the user can allow that \
             outside the sandbox",
            paths.join(", ")
        )
    })
}

/// Returns what the sandbox seems to have blocked in a failed call.
fn kept_from(
    allowed: &Allowed,
    ended: &CallOutcome,
) -> Option<(Confined, &'static str, Arc<Sandbox>)> {
    let sandbox = allowed.sandbox.as_ref()?;
    let Details::Command(command) = &*ended.details else {
        return None;
    };
    if ended.status != ToolStatus::Error || command.timed_out {
        return None;
    }
    let exit = ExitStatus::Exited(command.exit_code?);
    let (confined, words) = signs_of_confinement(&command.output, &exit)?;
    // It already had the network, so that wasn't missing.
    let had = confined == Confined::Network && sandbox.network == Network::Host;
    (!had).then(|| (confined, words, Arc::clone(sandbox)))
}

/// The protected place that blocked the command. The user closed it to the model, so tiller doesn't
/// offer to open it.
fn protected(ended: &CallOutcome, sandbox: &Sandbox, cwd: &Path) -> Option<String> {
    let Details::Command(command) = &*ended.details else {
        return None;
    };
    let place = protected_place(&command.output, sandbox, cwd)?;
    let shown = place.strip_prefix(cwd).unwrap_or(place);
    Some(shown.display().to_string())
}

/// Returns whether the user may be asked, why the command failed, and what it would rerun with.
fn words(confined: Confined, mode: PermissionMode) -> (bool, &'static str, &'static str) {
    match confined {
        _ if mode == PermissionMode::Plan => (
            false,
            "plan mode's sandbox, which is read-only and has no network, may have blocked it; the user can \
             leave plan mode (Shift+Tab)",
            "",
        ),
        Confined::Network => (
            true,
            "the sandbox, which has no network except localhost, may have blocked it",
            "with the network",
        ),
        Confined::Files => (
            true,
            "the sandbox, which can write only in the project, may have blocked it",
            "without the sandbox",
        ),
    }
}

/// What the screen shows while the question is open: the output up to the lines around `words`, which the
/// question quotes.
fn evidence(details: &Arc<Details>, words: &str) -> Arc<Details> {
    let mut details = Arc::clone(details);
    if let Details::Command(command) = Arc::make_mut(&mut details) {
        let lines: Vec<&str> = command.output.lines().collect();
        let quoted = lines
            .iter()
            .rposition(|line| line.to_lowercase().contains(words));
        let end = quoted.map_or(lines.len(), |at| lines.len().min(at + 1 + AFTER_WORDS));
        if end < lines.len() {
            command.total_lines = end as u64;
            command.output = lines[..end].join("\n");
        }
    }
    details
}

fn note(ended: &mut CallOutcome, text: &str) {
    ended.content.push(bracketed(text));
}

/// Adds a line to the output that the user sees, and the model doesn't.
fn show(ended: &mut CallOutcome, line: &str) {
    if let Details::Command(command) = Arc::make_mut(&mut ended.details) {
        let output = command.output.trim_end();
        command.output = format!("{output}\n{line}");
    }
}

fn bracketed(text: &str) -> Content {
    Content::text(format!("[{text}]"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::CommandDetails;

    #[test]
    fn the_line_that_a_question_quotes_is_among_the_last() {
        let check = |output: &str, expected: &str| {
            let details = Arc::new(Details::Command(CommandDetails {
                output: output.to_owned(),
                ..CommandDetails::default()
            }));
            let shown = evidence(&details, "could not resolve");
            let Details::Command(shown) = &*shown else {
                panic!("{shown:?}");
            };
            assert_eq!(shown.output, expected);
        };
        check(
            "a\ncurl: Could not resolve host",
            "a\ncurl: Could not resolve host",
        );
        check(
            "a\nCould not resolve x\nb\nc\nd\ne\nf",
            "a\nCould not resolve x\nb\nc",
        );
        check("a\nb", "a\nb");
    }
}
