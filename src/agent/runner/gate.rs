//! The permission gate: decides which calls may run, from the effects that their tool declares. It
//! allows a call if the tool exists and is on offer, the arguments are valid, it doesn't change the
//! user's files while a trial is open, and the policy or the user allows it. Runs nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde_json::Value;
use tokio::task::spawn_blocking;

use super::allowed::{Allowed, CallScope, Refusal};
use super::ask::ask;
use super::hooks::{self, Hooked};
use super::redaction;
use crate::event::{NOT_PERMITTED, NoticeLevel};
use crate::hooks::Decision;
use crate::permission::{Confinement, PermissionMode, Verdict};
use crate::tool::{Details, Effects, Tool};
use crate::toolbox::Lookup;
use tiller_llm::ToolCall;

/// Characters of invalid arguments that are quoted back to the model.
const QUOTED: usize = 200;

/// Judges a call right before it starts. `details` is what the screen shows for it.
pub(super) async fn judge(
    scope: CallScope<'_>,
    details: &Arc<Details>,
) -> Result<Allowed, Refusal> {
    let CallScope { turn, call, .. } = scope;
    let name = &call.name;
    let tool = match turn.toolbox.find(name) {
        Lookup::Tool(tool) => Arc::clone(tool),
        Lookup::Blocked => {
            tracing::warn!("Tool blocked by policy: {name}");
            return Err(format!("Tool '{name}' not available").into());
        }
        Lookup::Unknown => return Err(format!("Tool '{name}' not found").into()),
    };
    let invalid = |why: String| format!("error: invalid input: {why}");
    let args = whole_arguments(call).map_err(invalid)?;
    let args = turn.toolbox.check(name, args).map_err(invalid)?;
    let mut hooked = hooks::before_call(scope, &*tool, args).await?;
    match judge_args(scope, &tool, &hooked, details).await? {
        Judgement::Allowed(allowed) => return Ok(*allowed),
        Judgement::Changed(args) => {
            // The hook has answered the question, but about a call that nothing has judged.
            hooks::take_arguments(scope, &*tool, &mut hooked, args).await?;
            hooked.decision = Some(Decision::Allow);
            hooked.may_answer = false;
        }
    }
    match judge_args(scope, &tool, &hooked, details).await? {
        Judgement::Allowed(allowed) => Ok(*allowed),
        Judgement::Changed(_) => Err(String::from("Not permitted: a hook changes the call").into()),
    }
}

enum Judgement {
    Allowed(Box<Allowed>),
    /// A hook would allow the call with these arguments.
    Changed(Value),
}

/// Judges a call of `tool` with the arguments that hooks left.
async fn judge_args(
    scope: CallScope<'_>,
    tool: &Arc<dyn Tool>,
    hooked: &Hooked,
    details: &Arc<Details>,
) -> Result<Judgement, Refusal> {
    let CallScope { link, turn, call } = scope;
    let name = &call.name;
    let (tool, args) = (Arc::clone(tool), hooked.args.clone());
    let effects = effects(&*tool, &args);
    let (trial, writes) = (link.env.trial.clone(), effects.writes.clone());
    let redactor = link.env.redactor.clone();
    let looked = spawn_blocking(move || {
        // The first use reads files.
        redactor.get();
        trial.map_or(Ok(()), |trial| trial.refuse(&writes))
    });
    let looked = turn.unless_cut_short(looked).await?;
    looked.map_err(|error| error.to_string())??;
    if let Some(text) = redaction::refuse_marks(link.env.redactor.get(), &args, &effects) {
        return Err(text.into());
    }
    let followed = link.env.permissions.policy.follow();
    if let Some((level, text)) = turn.unless_cut_short(followed).await? {
        link.notice(level, text).await;
    }
    let judged = link
        .env
        .permissions
        .judge(name, &effects, &link.env.cwd, &link.processes);
    let judged = turn.unless_cut_short(judged).await??;
    if let Some(text) = link.env.permissions.notice(&judged) {
        link.notice(NoticeLevel::Warning, text).await;
    }
    let mut decision = judged.decision.clone();
    // A project's hook must not open the network.
    let hooks_may_allow =
        effects.host.is_none() && judged.may_be_allowed_by_hook(effects.command.is_some());
    let (asks, confinement) = match decision.verdict {
        Verdict::Allow(confinement) if hooked.decision == Some(Decision::Ask) => {
            decision.verdict = Verdict::Ask(confinement);
            decision.reason = format!("a hook asks: {}", hooked.reason);
            (true, confinement)
        }
        Verdict::Allow(confinement) => (false, confinement),
        Verdict::Ask(confinement) => {
            if hooked.decision == Some(Decision::Ask) {
                decision.reason = format!("a hook asks: {}", hooked.reason);
            }
            (
                hooked.decision != Some(Decision::Allow) || !hooks_may_allow,
                confinement,
            )
        }
        Verdict::Deny => {
            let text = format!("{NOT_PERMITTED}{}.", judged.decision.reason);
            return Err(Refusal::Because(text, judged.decision.rule_text()));
        }
    };
    let confinement = match effects.command {
        Some(_) => confinement,
        None => Confinement::Free,
    };
    let mut allowed = Allowed {
        sandbox: None,
        running: None,
        ignored: judged.ignored.clone(),
        reach: judged.reach(),
        mode: judged.mode,
        preview: if hooked.changed {
            hooks::shown(scope, &*tool, &args)
        } else {
            Arc::clone(details)
        },
        context: hooked.context.clone(),
        hooks_may_allow,
        hooks_may_answer: hooked.may_answer,
        shown: None,
        tool,
        args,
        effects,
    };
    if let Some(host) = &mut allowed.effects.host {
        let rule = judged.decision.rule.as_ref();
        let is_full = judged.mode == PermissionMode::Full;
        host.may_be_private = is_full || rule.is_some_and(|it| it.allows_private(host));
    }
    if asks && let Some(args) = ask(scope, &decision, &mut allowed).await? {
        return Ok(Judgement::Changed(args));
    }
    if asks && let Some(host) = &mut allowed.effects.host {
        // The question named it.
        host.may_be_private |= host.is_local;
    }
    // Only after the answer, so that files the user creates meanwhile aren't attributed to this command.
    let sandbox =
        (link.env.permissions).sandbox(&judged, confinement, allowed.effects.program.as_ref());
    if let Some((sandbox, running)) = turn.unless_cut_short(sandbox).await?? {
        (allowed.sandbox, allowed.running) = (Some(sandbox), running);
    }
    Ok(Judgement::Allowed(Box::new(allowed)))
}

/// Returns the effects of a call of `tool`, or unknown effects if the tool panics.
pub(super) fn effects(tool: &dyn Tool, args: &Value) -> Effects {
    catch_unwind(AssertUnwindSafe(|| tool.effects(args))).unwrap_or_else(|_| Effects::unknown())
}

/// Returns the call's arguments, or an error if their text isn't a JSON object.
fn whole_arguments(call: &ToolCall) -> Result<Value, String> {
    let text = &call.partial_arguments;
    if text.trim().is_empty() {
        return Ok(call.arguments.clone());
    }
    let why = match serde_json::from_str(text) {
        Ok(value @ Value::Object(_)) => return Ok(value),
        Ok(_) => String::from("they must be a JSON object"),
        Err(error) => error.to_string(),
    };
    let mut quote: String = text.chars().take(QUOTED).collect();
    if quote.len() < text.len() {
        quote.push('…');
    }
    Err(format!("the arguments are not valid JSON ({why}): {quote}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn invalid_arguments_are_quoted_with_their_error() {
        let of = |text: &str| {
            whole_arguments(&ToolCall {
                arguments: json!({"a": 1}),
                partial_arguments: text.into(),
                ..ToolCall::default()
            })
        };
        assert_eq!(of(""), Ok(json!({"a": 1})));
        assert_eq!(of(r#"{"a":2}"#), Ok(json!({"a": 2})));
        for (text, why, quote) in [
            (r#"{"a": "#, "EOF while parsing", r#": {"a": "#),
            ("[1]", "they must be a JSON object", ": [1]"),
            (&"ä".repeat(10_000), "expected value", "ä…"),
        ] {
            let error = of(text).unwrap_err();
            assert!(error.contains(why) && error.ends_with(quote), "{error}");
            assert!(error.len() < 600);
        }
    }
}
