//! Asks the user whether a call may run. Works out the change first so that the user sees all of it, and
//! then allows exactly that change. A call that would fail is refused without asking.

use std::sync::Arc;

use serde_json::Value;

use super::allowed::{Allowed, CallScope, Refusal};
use super::execution::reason;
use super::hooks;
use super::redaction;
use crate::event::AgentEvent;
use crate::hooks::HookInput;
use crate::permission::{ByHand, Confinement, Decision, Origin, Rule, Verdict, rules_to_toml};
use crate::question::{Answer, PermissionSubject, Subject};
use crate::tool::{Progress, Rehearsal, ToolError};

const NETWORK: Confinement = Confinement::Sandboxed { network: true };

/// Asks whether `allowed` may run; `decision` says why the user must be asked. Returns other arguments for
/// the call if a hook allows that call instead.
pub(super) async fn ask(
    scope: CallScope<'_>,
    decision: &Decision,
    allowed: &mut Allowed,
) -> Result<Option<Value>, Refusal> {
    let (link, turn, call) = (scope.link, scope.turn, scope.call);
    let mut why = decision.reason.clone();
    let mut agreed = None;
    let command = allowed.effects.command.as_deref();
    let by_hand = command.and_then(|command| decision.by_hand(command));
    loop {
        let rehearsal = rehearse(scope, allowed).await?;
        let fingerprint = rehearsal.as_ref().map(|rehearsal| rehearsal.fingerprint);
        if agreed == Some(fingerprint) {
            allowed.shown = fingerprint;
            return Ok(None);
        }
        if agreed.is_some() {
            why = format!("{}; the file changed after you allowed it", decision.reason);
        }
        if let Some(rehearsal) = rehearsal {
            if !rehearsal.changes {
                if decision.rule.is_none() && may_read(scope, allowed).await? {
                    allowed.shown = fingerprint;
                    return Ok(None);
                }
                why = format!("{}; it changes nothing", decision.reason);
            }
            let details = Arc::new(rehearsal.details);
            allowed.preview = redaction::details(scope.link.env.redactor.get(), &details);
            link.emit(AgentEvent::ToolUpdate {
                call_id: call.id.clone(),
                details: Arc::clone(&allowed.preview),
            })
            .await;
        }
        let subject = Subject::Permission(PermissionSubject {
            reason: why.clone(),
            again: None,
            details: Arc::clone(&allowed.preview),
            network: decision.verdict == Verdict::Ask(NETWORK),
            rule: decision.rule_text(),
            flagged: decision.flagged(),
            suggestions: decision.suggestions.clone(),
            by_hand: by_hand.clone(),
        });
        match answered(scope, subject, allowed).await {
            Some(Said::Change(args)) => return Ok(Some(args)),
            Some(Said::Answer(Answer::Allow { rules })) if rules.is_empty() => {
                agreed = Some(fingerprint);
            }
            // A new rule also allows other changes, so the fingerprint no longer matters.
            Some(Said::Answer(Answer::Allow { .. })) => return Ok(None),
            Some(Said::Answer(Answer::Refuse { reason: None })) => {
                return Err(String::from("Not permitted: the user denied this call.").into());
            }
            Some(Said::Answer(Answer::Refuse { reason: Some(text) } | Answer::Reply(text))) => {
                let text = format!("Not permitted: the user denied this call and says: {text}");
                return Err(text.into());
            }
            Some(Said::Deny(text)) => {
                return Err(format!("Not permitted: a hook denied this call: {text}").into());
            }
            None if turn.interrupt.is_cancelled() => return Err(Refusal::CutShort),
            None => {
                let text = nobody_to_ask(decision, by_hand.as_ref());
                return Err(Refusal::Because(text, decision.rule_text()));
            }
        }
    }
}

/// What is said to the question.
pub(super) enum Said {
    /// By the user, or by a hook for them.
    Answer(Answer),
    /// By a hook: allow the call, but with these arguments.
    Change(Value),
    /// By a hook: deny the call, for this reason.
    Deny(String),
}

/// Asks the user, and hooks beside. Returns the first answer, or `None` without anyone to ask.
async fn answered(scope: CallScope<'_>, subject: Subject, allowed: &Allowed) -> Option<Said> {
    let CallScope { link, turn, call } = scope;
    let withdrawn = turn.interrupt.child_token();
    let asked = link.asker.ask(&call.id, &call.name, subject, &withdrawn);
    let mut asked = std::pin::pin!(asked);
    let by_hook = async {
        let wanted = HookInput::notification("tiller needs your permission", "permission_prompt");
        link.env.tell_hooks(wanted);
        hooks::answer_for_user(scope, allowed).await
    };
    tokio::select! {
        biased;
        answer = &mut asked => answer.map(Said::Answer),
        said = by_hook => {
            withdrawn.cancel();
            asked.await;
            Some(said)
        }
    }
}

/// Works out what the call would change, if the tool can tell.
async fn rehearse(scope: CallScope<'_>, allowed: &Allowed) -> Result<Option<Rehearsal>, Refusal> {
    let (progress, _) = Progress::new(Arc::clone(&allowed.preview));
    let context = allowed.context(scope, progress);
    let (tool, args) = (Arc::clone(&allowed.tool), allowed.args.clone());
    // A separate task, so that a panic doesn't end the run.
    let task = tokio::spawn(async move { tool.rehearse(args, context).await });
    let result = scope.turn.unless_cut_short(task).await?;
    let failed = |error| ToolError::new(format!("Tool execution failed: {}", reason(error)));
    let error = match result.map_err(failed) {
        Ok(Ok(rehearsal)) => return Ok(rehearsal),
        Ok(Err(error)) | Err(error) => error,
    };
    // The error may describe a file that the model isn't allowed to read.
    if may_read(scope, allowed).await? {
        Err(Refusal::Failing(error))
    } else {
        Ok(None)
    }
}

/// Returns `true` if the model may read the files that the call would change without asking.
async fn may_read(scope: CallScope<'_>, allowed: &Allowed) -> Result<bool, Refusal> {
    let CallScope { link, turn, .. } = scope;
    let writes = &allowed.effects.writes;
    let reads = link
        .env
        .permissions
        .reads_freely(writes, &link.env.cwd, &link.processes);
    Ok(turn.unless_cut_short(reads).await??)
}

/// The refusal if there is no user to ask, and how the user can allow the call.
fn nobody_to_ask(decision: &Decision, by_hand: Option<&ByHand>) -> String {
    let why = format!(
        "Not permitted: {}. This run can't ask the user.",
        decision.reason
    );
    let own = |rule: &Arc<Rule>| rule.origin != Origin::BuiltIn;
    let suggestions = match by_hand {
        Some(ByHand::Rule(rule)) => std::slice::from_ref(&**rule),
        Some(ByHand::RunAlone(command)) => {
            return format!(
                "{why} A rule with sandbox = false needs a line with only that command, in plain words. \
                 Run it alone: {command}. The user can also run tiller without -p and allow the call there."
            );
        }
        None => &decision.suggestions,
    };
    match suggestions {
        [] if decision.rule.as_ref().is_some_and(own) => format!(
            "{why} The user can change that rule, or run tiller without -p and allow the call there."
        ),
        [] if decision.verdict == Verdict::Ask(NETWORK) => format!(
            "{why} The user can allow it with a rule with network = true in config.toml, or run tiller \
             without -p and allow the call there."
        ),
        [] => format!(
            "{why} tiller has no narrow rule to suggest. The user can write one, run tiller without -p and \
             allow the call there, or use --permission full."
        ),
        rules => format!(
            "{why} The user can allow it with a rule in config.toml:\n{}",
            rules_to_toml(rules).trim_end()
        ),
    }
}
