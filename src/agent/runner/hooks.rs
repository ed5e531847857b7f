//! How a run uses hooks: what it tells them, and what it does with their answers.

use std::sync::Arc;

use serde_json::Value;

use super::allowed::{Allowed, CallScope, Refusal};
use super::ask::Said;
use super::dispatch::as_run;
use super::execution::CallOutcome;
use super::link::{Opening, RunLink, RunMessage, Turn};
use super::redaction;
use crate::event::{AgentEvent, NoticeLevel, ToolStatus};
use crate::hooks::{Decision, HookInput, HookPoint, Outcome, from_input};
use crate::question::Answer;
use crate::tool::{Details, Tool};
use tiller_llm::message::content_text;
use tiller_llm::{Content, Message, Model, ToolCall};

/// Most times in a row that hooks may make the model continue after its answer.
const MAX_CONTINUATIONS: usize = 8;

/// What hooks decided about a call before it was judged.
pub(super) struct Hooked {
    /// The arguments, checked.
    pub args: Value,
    /// `true` if a hook has changed them.
    pub changed: bool,
    pub decision: Option<Decision>,
    pub reason: String,
    /// For the model, with the call's result.
    pub context: Vec<String>,
    /// Whether hooks may answer the user's question about it.
    pub may_answer: bool,
}

/// What hooks said about a prompt.
pub(crate) enum PromptVerdict {
    /// It isn't sent, for this reason.
    Blocked(String),
    /// It is sent, with these texts for the model.
    Sent(Vec<String>),
}

impl RunLink {
    /// Runs the hooks for `input`, shows the user what they say, and removes secrets.
    async fn fire(&self, input: HookInput) -> Outcome {
        let input_ends_run = input.may_end_run();
        let is_of_call = input.point() == HookPoint::PreToolUse;
        let mut outcome = self.env.fire_hooks(input).await;
        let redactor = self.env.redactor.get();
        let redact = |text: &mut String| *text = redactor.redact(text).into_owned();
        outcome.context.iter_mut().for_each(redact);
        outcome.output.iter_mut().for_each(redact);
        redact(&mut outcome.reason);
        for mut text in std::mem::take(&mut outcome.notices) {
            redact(&mut text);
            self.notice(NoticeLevel::Warning, text).await;
        }
        // A call that doesn't run doesn't end the run.
        let refuses_call = is_of_call && outcome.decision == Some(Decision::Deny);
        if input_ends_run && !refuses_call {
            self.env.hooks.stop_after_turn(outcome.stop.take());
        }
        outcome
    }

    /// Tells hooks that all calls of an answer have ended, and the model what they say.
    pub(super) async fn after_calls(
        &self,
        turn: &Turn,
        calls: &[ToolCall],
        results: &[Arc<Message>],
    ) {
        if calls.is_empty() || !self.env.hooks.has(HookPoint::PostToolBatch) {
            return;
        }
        let calls: Vec<_> = calls.iter().map(|call| as_run(turn, call)).collect();
        let texts = results.iter().map(|result| match &**result {
            Message::ToolResult(result) => content_text(&result.content),
            _ => String::new(),
        });
        let ended = (calls.iter().zip(texts))
            .map(|(call, text)| (&*call.name, &call.arguments, &*call.id, text));
        let input = HookInput::post_tool_batch(ended, &self.env.cwd);
        let outcome = self.unless_cancelled(self.fire(input)).await;
        if let Some(text) = outcome.and_then(|it| joined(it.context)) {
            self.report(RunMessage::FromHooks(text)).await;
        }
    }

    /// Reads the hooks that have changed, and tells those who wait for it that the session begins.
    pub(super) async fn begin_hooks(&self, opening: &Opening) {
        self.follow_hooks().await;
        let hooks = &self.env.hooks;
        hooks.note_model(&opening.model.id);
        if let (true, after_another) = hooks.begins(&self.env.conversation_id) {
            let source = match (opening.messages.is_empty(), after_another) {
                (true, false) => "startup",
                (true, true) => "clear",
                (false, _) => "resume",
            };
            self.session_start(source, &opening.model).await;
        }
        hooks.begin_run();
        if let Some(text) = joined(hooks.take_late(&self.env.conversation_id)) {
            let text = self.env.redactor.get().redact(&text).into_owned();
            self.report(RunMessage::FromHooks(text)).await;
        }
    }

    /// Reads the hooks that have changed.
    async fn follow_hooks(&self) {
        for text in self.env.hooks.follow().await {
            if self.env.tells_first(&text) {
                self.notice(NoticeLevel::Warning, text).await;
            }
        }
    }

    /// Tells hooks that the session begins, and the model what they say.
    pub(super) async fn session_start(&self, source: &str, model: &Model) {
        if !self.env.hooks.has(HookPoint::SessionStart) {
            return;
        }
        let fired = self.fire(HookInput::session_start(source, &model.id));
        if let Some(text) = (self.unless_cancelled(fired).await).and_then(|it| joined(it.context)) {
            self.report(RunMessage::FromHooks(text)).await;
        }
    }

    /// Lets hooks judge the prompts that the next turn would send. Returns `true` if none is left of
    /// those that waited.
    pub(super) async fn check_prompts(&self) -> bool {
        self.follow_hooks().await;
        let hooks = &self.env.hooks;
        let checks =
            hooks.has(HookPoint::UserPromptSubmit) || hooks.has(HookPoint::UserPromptExpansion);
        let checked = self.env.hooks.note_checks(checks);
        if !checks {
            if checked {
                self.report(RunMessage::ForgetChecks).await;
            }
            return false;
        }
        let mut blocked = false;
        loop {
            let prompts = self.ask(RunMessage::Prompts).await.unwrap_or_default();
            if prompts.is_empty() {
                let left = self.ask(RunMessage::PromptsLeft).await.unwrap_or(0);
                return blocked && left == 0;
            }
            for (id, text) in prompts {
                let Some(verdict) = self.unless_cancelled(self.check_prompt(&text)).await else {
                    return false;
                };
                blocked |= matches!(verdict, PromptVerdict::Blocked(_));
                self.report(RunMessage::PromptChecked(id, verdict)).await;
            }
        }
    }

    /// Lets hooks judge a prompt, first the command that stands for it.
    async fn check_prompt(&self, text: &str) -> PromptVerdict {
        let expansion = HookInput::expansion(text, &self.env.cwd);
        let mut context = Vec::new();
        for input in expansion.into_iter().chain([HookInput::prompt(text)]) {
            let outcome = self.fire(input).await;
            // For a prompt, "stop" means that nothing is sent.
            match (outcome.decision, self.env.hooks.stops()) {
                (Some(Decision::Deny), _) => return PromptVerdict::Blocked(outcome.reason),
                (_, Some(why)) => return PromptVerdict::Blocked(why),
                _ => context.extend(outcome.context),
            }
        }
        PromptVerdict::Sent(context)
    }

    /// Lets hooks look at the model's last answer. Returns `true` if it shall continue. `before` counts
    /// how often that happened in a row.
    pub(super) async fn stop_hooks(&self, answer: &Message, before: &mut usize) -> bool {
        if !self.env.hooks.has(HookPoint::Stop) {
            return false;
        }
        let fired = self.fire(HookInput::stop(&answer.text(), *before > 0));
        let Some(outcome) = self.unless_cancelled(fired).await else {
            return false;
        };
        let stops = self.stopped_by_hook().await;
        let Some(text) = joined(outcome.context).filter(|_| !stops) else {
            return false;
        };
        if *before == MAX_CONTINUATIONS {
            let text = format!(
                "Stop hooks made the model continue {MAX_CONTINUATIONS} times in a row; it stops now"
            );
            self.notice(NoticeLevel::Warning, text).await;
            return false;
        }
        *before += 1;
        self.report(RunMessage::FromHooks(text)).await;
        true
    }

    /// Returns `true` if a hook ends the run after this turn. Tells the user why.
    pub(super) async fn stopped_by_hook(&self) -> bool {
        let Some(why) = self.env.hooks.stops() else {
            return false;
        };
        self.env.hooks.note_stopped();
        let text = format!("A hook stopped the run: {why}");
        let text = text.trim_end_matches([':', ' ']);
        self.notice(NoticeLevel::Warning, text).await;
        true
    }

    /// Asks hooks before a compaction. Returns what to keep in mind, or why it shall not happen.
    pub(super) async fn pre_compact(
        &self,
        trigger: &str,
        focus: Option<&str>,
    ) -> Result<Option<String>, String> {
        let outcome = self.fire(HookInput::pre_compact(trigger, focus)).await;
        if outcome.decision == Some(Decision::Deny) {
            return Err(outcome.reason);
        }
        let prefix = format!("PreCompact:{trigger} hook success: ");
        let texts = outcome.context.into_iter();
        Ok(joined(texts.map(|it| it.replace(&prefix, "")).collect()))
    }

    /// Tells hooks that the conversation was compacted.
    pub(super) async fn post_compact(&self, trigger: &str, summary: &str, model: &Model) {
        self.fire(HookInput::post_compact(trigger, summary)).await;
        self.session_start("compact", model).await;
    }
}

fn joined(texts: Vec<String>) -> Option<String> {
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// Lets hooks look at a valid call with `args`.
pub(super) async fn before_call(
    scope: CallScope<'_>,
    tool: &dyn Tool,
    args: Value,
) -> Result<Hooked, Refusal> {
    let CallScope { link, turn, call } = scope;
    let mut hooked = Hooked {
        args,
        changed: false,
        decision: None,
        reason: String::new(),
        context: Vec::new(),
        may_answer: true,
    };
    if !link.env.hooks.has(HookPoint::PreToolUse) {
        return Ok(hooked);
    }
    let input = HookInput::pre_tool_use(&call.name, &hooked.args, (&link.env.cwd, &call.id));
    let outcome = turn.unless_cut_short(link.fire(input)).await?;
    if outcome.decision == Some(Decision::Deny) {
        let mut texts = vec![outcome.reason];
        texts.extend(outcome.context);
        return Err(texts.join("\n\n").into());
    }
    hooked.decision = outcome.decision_on_call();
    if let Some(changed) = outcome.arguments {
        take_arguments(scope, tool, &mut hooked, from_input(&call.name, &changed)).await?;
    }
    hooked.reason = outcome.reason;
    hooked.context.extend(outcome.context);
    Ok(hooked)
}

/// Replaces the call's arguments, and shows that.
pub(super) async fn take_arguments(
    scope: CallScope<'_>,
    tool: &dyn Tool,
    hooked: &mut Hooked,
    args: Value,
) -> Result<(), Refusal> {
    let CallScope { link, turn, call } = scope;
    hooked.args = turn
        .toolbox
        .check(&call.name, args)
        .map_err(|why| format!("A hook changed the arguments, and they are invalid now: {why}"))?;
    hooked.changed = true;
    let text = format!("A hook changed the arguments to {}", hooked.args);
    let text = link.env.redactor.get().redact(&text).into_owned();
    hooked.context.push(text);
    link.emit(AgentEvent::ToolUpdate {
        call_id: call.id.clone(),
        details: shown(scope, tool, &hooked.args),
    })
    .await;
    Ok(())
}

/// What the screen shows for a call with `args`.
pub(super) fn shown(scope: CallScope<'_>, tool: &dyn Tool, args: &Value) -> Arc<Details> {
    let shown = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| tool.preview(args)));
    let shown = Arc::new(shown.unwrap_or_else(|_| Details::from_json(args.clone())));
    redaction::details(scope.link.env.redactor.get(), &shown)
}

/// Adds what hooks say after a call to its result. Returns `true` if there are hooks, which may have changed
/// files.
pub(super) async fn after_call(
    scope: CallScope<'_>,
    args: &Value,
    ended: &mut CallOutcome,
) -> bool {
    let CallScope { link, turn, call } = scope;
    let is_error = match ended.status {
        ToolStatus::Ok => false,
        ToolStatus::Error => true,
        ToolStatus::Skipped | ToolStatus::Cancelled => return false,
    };
    let point = if is_error {
        HookPoint::PostToolUseFailure
    } else {
        HookPoint::PostToolUse
    };
    if !link.env.hooks.has(point) {
        return false;
    }
    let text = content_text(&ended.content);
    let took = ended.duration_ms.unwrap_or_default();
    let at = (&*link.env.cwd, &*call.id);
    let input = HookInput::post_tool_use(&call.name, args, at, &text, is_error, took);
    if let Ok(outcome) = turn.unless_cut_short(link.fire(input)).await {
        if let Some(output) = outcome.output {
            ended
                .content
                .retain(|content| !matches!(content, Content::Text(_)));
            ended.content.insert(0, Content::text(output));
        }
        ended
            .content
            .extend(outcome.context.into_iter().map(Content::text));
    }
    true
}

/// What hooks answer to the question whether a call may run, or never.
pub(super) async fn answer_for_user(scope: CallScope<'_>, allowed: &Allowed) -> Said {
    let CallScope { link, call, .. } = scope;
    if !allowed.hooks_may_answer || !link.env.hooks.has(HookPoint::PermissionRequest) {
        return std::future::pending().await;
    }
    let input = HookInput::permission_request(&call.name, &allowed.args, &link.env.cwd);
    let outcome = link.fire(input).await;
    let changed = outcome.arguments.map(|args| from_input(&call.name, &args));
    match (outcome.decision, changed) {
        (Some(Decision::Allow), Some(args)) if args != allowed.args => Said::Change(args),
        (Some(Decision::Allow), _) if allowed.hooks_may_allow => {
            Said::Answer(Answer::Allow { rules: Vec::new() })
        }
        (Some(Decision::Deny), _) => Said::Deny(outcome.reason),
        _ => std::future::pending().await,
    }
}
