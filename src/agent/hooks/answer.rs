//! What hooks decide: from the exit code and the output of each, one outcome for all.

use serde_json::Value;

use super::codex::{self, Dialect};
use super::command::Ran;
use super::hook::Hook;
use super::input::HookInput;
use super::point::HookPoint;
use crate::process::ExitStatus;

/// Longest text of a hook for the model, in characters.
const MAX_CHARS: usize = 10_000;

/// What a hook decides about a call, a prompt or an end, from weak to strong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Decision {
    Allow,
    Ask,
    Deny,
}

/// What all hooks of a point decide together.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// The strongest decision. Blocking a prompt, an end or a compaction is `Deny`.
    pub decision: Option<Decision>,
    /// Its reason: of several hooks with this decision, the one that ended last.
    pub reason: String,
    /// New arguments for the call, as hooks name them.
    pub arguments: Option<Value>,
    /// Whether a hook of the project wrote them.
    pub arguments_of_project: bool,
    /// What the model shall read as the call's output.
    pub output: Option<String>,
    /// For the model.
    pub context: Vec<String>,
    /// Set if the run ends after this, with the reason for the user.
    pub stop: Option<String>,
    /// Why the hook that was added last failed, if it did.
    pub failed: Option<String>,
    /// For the user: what hooks say, and which failed.
    pub notices: Vec<String>,
}

impl Outcome {
    /// The decision on the call with its present arguments. An `allow` doesn't cover arguments that a hook of the
    /// project wrote.
    pub fn decision_on_call(&self) -> Option<Decision> {
        let is_foreign = |it: &Decision| *it == Decision::Allow && self.arguments_of_project;
        self.decision.filter(|it| !is_foreign(it))
    }

    fn decide(&mut self, hook: &Hook, decision: Decision, reason: String) {
        // A script of the project may be the model's.
        if decision == Decision::Allow && hook.of_project {
            return;
        }
        let reason = shortened(reason);
        if self.decision.is_none_or(|decided| decided <= decision) {
            self.decision = Some(decision);
            self.reason = reason;
        }
    }

    fn tell(&mut self, text: String) {
        self.context.push(shortened(text));
    }

    /// Adds what one hook answered.
    pub(super) fn add(&mut self, hook: &Hook, input: &HookInput, ran: Result<Ran, String>) {
        let ran = match ran {
            Ok(ran) => ran,
            Err(why) => return self.fail(hook, input, &why),
        };
        let code = match ran.exit {
            ExitStatus::Exited(code) => code,
            ExitStatus::Killed(signal) => {
                return self.fail(hook, input, &format!("killed by signal {signal}"));
            }
            ExitStatus::NotStarted(why) => return self.fail(hook, input, &why),
            ExitStatus::Unknown(_) => return self.fail(hook, input, "it was killed"),
        };
        let is_codex = hook.dialect == Dialect::Codex;
        match (code, ran.stderr.as_str()) {
            (2, "") if is_codex => {
                let why = "exit code 2 needs a reason on standard error";
                return self.fail(hook, input, why);
            }
            (2, stderr) if is_codex => return self.block(hook, input, stderr.to_owned(), true),
            (2, stderr) => {
                let said = if stderr.is_empty() {
                    "No stderr output"
                } else {
                    stderr
                };
                let said = format!("[{}]: {said}", hook.name());
                return self.block(hook, input, said, true);
            }
            _ => {}
        }
        let stdout = if is_codex && code != 0 {
            ""
        } else {
            ran.stdout.trim()
        };
        match serde_json::from_str::<Value>(stdout) {
            Ok(answer @ Value::Object(_)) => {
                if let Err(why) = self.read(hook, input, &answer) {
                    self.fail(hook, input, &why);
                }
            }
            Err(error) if code == 0 && stdout.starts_with('{') && !input.point.reads_text() => {
                self.fail(
                    hook,
                    input,
                    &format!("its answer is not valid JSON: {error}"),
                );
            }
            _ if code == 0 => {
                if input.point.reads_text() && !stdout.is_empty() {
                    self.tell(match hook.dialect {
                        Dialect::Claude => format!("{} hook success: {stdout}", input.title()),
                        Dialect::Codex => stdout.to_owned(),
                    });
                }
            }
            _ => {
                let why = ran.stderr.lines().next().unwrap_or_default();
                let hint = match code {
                    126 => ". To make it executable: chmod +x FILE",
                    _ => "",
                };
                let why = format!("exit code {code} {why}");
                self.fail(hook, input, &format!("{}{hint}", why.trim_end()));
            }
        }
    }

    fn fail(&mut self, hook: &Hook, input: &HookInput, why: &str) {
        let title = input.title();
        let text = format!(
            "{title} hook failed, so it decides nothing: {}: {why}",
            hook.name()
        );
        self.notices.push(shortened(text));
        self.failed = Some(why.to_owned());
    }

    /// Applies a JSON answer. If one field is wrong, the whole answer is ignored.
    fn read(&mut self, hook: &Hook, input: &HookInput, answer: &Value) -> Result<(), String> {
        let is_codex = hook.dialect == Dialect::Codex;
        if let Some(why) = codex::fault(input.point, answer).filter(|_| is_codex) {
            return Err(why);
        }
        let own = &answer["hookSpecificOutput"];
        if !own.is_null() && own["hookEventName"] != input.point.name() {
            return Err(format!(
                "its answer needs \"hookEventName\": \"{}\"",
                input.point.name()
            ));
        }
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let decided = match (&answer["decision"], input.point) {
            (Value::Null, _) => None,
            (Value::String(word), _) if word == "block" => Some(Decision::Deny),
            (Value::String(word), _) if word == "approve" => Some(Decision::Allow),
            (other, _) => return Err(format!("decision {other} is not \"block\" or \"approve\"")),
        };
        let own_decision = own_decision(input, own)?;
        let replaced = &own["updatedToolOutput"];
        let output = if input.point == HookPoint::PostToolUse && !replaced.is_null() {
            Some(shortened(output_text(&input.names[0], replaced)?))
        } else {
            None
        };
        // No field was wrong, so all of them count.
        self.output = output.or(self.output.take());
        if answer["continue"] == false {
            let reason = text(&answer["stopReason"]).unwrap_or_default();
            if is_codex && input.point == HookPoint::PostToolUse {
                self.output = Some(shortened(reason));
            } else {
                self.stop = Some(reason);
            }
        }
        self.notices.extend(
            text(&answer["systemMessage"])
                .map(|said| shortened(format!("{} says: {said}", input.title()))),
        );
        if let Some(context) = text(&own["additionalContext"]).filter(|it| !it.is_empty()) {
            let title = match input.point {
                HookPoint::SessionStart => input.point.name().to_owned(),
                _ => input.title(),
            };
            self.tell(match hook.dialect {
                Dialect::Claude => format!("{title} hook additional context: {context}"),
                Dialect::Codex => context,
            });
        }
        match decided {
            Some(Decision::Deny) => {
                let reason = text(&answer["reason"]).filter(|it| !it.is_empty());
                let reason = reason.unwrap_or_else(|| denied(input));
                self.block(hook, input, reason, false);
            }
            Some(decision) if input.point == HookPoint::PreToolUse => {
                self.decide(hook, decision, text(&answer["reason"]).unwrap_or_default());
            }
            _ => {}
        }
        if own["decision"]["interrupt"] == true {
            let message = text(&own["decision"]["message"]);
            self.stop = Some(message.unwrap_or_default());
        }
        if let Some((decision, reason, arguments)) = own_decision {
            if let Some(decision) = decision {
                self.decide(hook, decision, reason);
            }
            // With the answer of a hook that may allow nothing, they would run without a question.
            let may_change = input.point == HookPoint::PreToolUse || !hook.of_project;
            if arguments.is_some() && may_change {
                self.arguments = arguments;
                self.arguments_of_project = hook.of_project;
            }
        }
        Ok(())
    }

    /// A hook says no, by its exit code or in words.
    fn block(&mut self, hook: &Hook, input: &HookInput, said: String, by_code: bool) {
        let title = input.title();
        match input.point {
            HookPoint::PreToolUse if by_code => {
                self.decide(hook, Decision::Deny, format!("{title} hook error: {said}"));
            }
            HookPoint::PostToolUse if hook.dialect == Dialect::Codex => {
                self.output = Some(shortened(said));
            }
            HookPoint::SessionStart if by_code => self.fail(hook, input, &said),
            HookPoint::PostToolUse | HookPoint::PostToolUseFailure | HookPoint::SessionStart => {
                self.tell(blocking_error(hook, input, &said));
            }
            HookPoint::PostToolBatch => self.stop = Some(shortened(said)),
            HookPoint::Stop => {
                self.decide(hook, Decision::Deny, String::new());
                self.tell(format!("Stop hook feedback:\n{said}"));
            }
            // The question stays open.
            HookPoint::PermissionRequest if by_code && hook.dialect == Dialect::Claude => {
                self.fail(hook, input, "exit code 2");
            }
            HookPoint::SessionEnd
            | HookPoint::StopFailure
            | HookPoint::Notification
            | HookPoint::PostCompact => {
                self.fail(hook, input, &said);
            }
            _ => self.decide(hook, Decision::Deny, said),
        }
    }
}

fn blocking_error(hook: &Hook, input: &HookInput, said: &str) -> String {
    let (title, name) = (input.title(), hook.name());
    format!("{title} hook blocking error from command: \"{name}\": {said}")
}

/// What a hook in the background says to the model, without the title of its point.
pub(super) fn late_texts(hook: &Hook, input: &HookInput, ran: &Ran) -> Vec<String> {
    if ran.exit == ExitStatus::Exited(2) {
        let text = blocking_error(hook, input, &ran.stderr);
        return hook
            .tells_block
            .then(|| shortened(text))
            .into_iter()
            .collect();
    }
    let answer: Value = serde_json::from_str(ran.stdout.trim()).unwrap_or_default();
    let own = &answer["hookSpecificOutput"];
    let is_meant = own["hookEventName"] == input.point.name();
    let context = is_meant.then_some(&own["additionalContext"]);
    let texts = [Some(&answer["systemMessage"]), context];
    let texts = texts.into_iter().flatten().filter_map(Value::as_str);
    let texts = texts.filter(|text| !text.is_empty());
    texts.map(|text| shortened(text.to_owned())).collect()
}

/// What `hookSpecificOutput` decides: the decision, its reason, new arguments.
type OwnDecision = (Option<Decision>, String, Option<Value>);

/// The decision, its reason and the new arguments in `hookSpecificOutput`.
fn own_decision(input: &HookInput, own: &Value) -> Result<Option<OwnDecision>, String> {
    let (word, reason, arguments) = match input.point {
        HookPoint::PreToolUse => (
            &own["permissionDecision"],
            &own["permissionDecisionReason"],
            &own["updatedInput"],
        ),
        HookPoint::PermissionRequest => {
            let decision = &own["decision"];
            (
                &decision["behavior"],
                &decision["message"],
                &decision["updatedInput"],
            )
        }
        _ => return Ok(None),
    };
    let decision = match word.as_str() {
        None if word.is_null() => None,
        Some("allow") => Some(Decision::Allow),
        Some("deny") => Some(Decision::Deny),
        Some("ask" | "defer") if input.point == HookPoint::PreToolUse => Some(Decision::Ask),
        _ => return Err(format!("its decision {word} is not known")),
    };
    let reason = reason.as_str().filter(|reason| !reason.is_empty());
    let reason = match (reason, decision) {
        (Some(reason), _) => reason.to_owned(),
        (None, Some(Decision::Deny)) => denied(input),
        (None, _) => String::new(),
    };
    let arguments = Some(arguments).filter(|it| it.is_object()).cloned();
    Ok(Some((decision, reason, arguments)))
}

fn denied(input: &HookInput) -> String {
    match input.point {
        HookPoint::PreToolUse => format!("Hook {} denied this tool", input.title()),
        _ => "Blocked by hook".to_owned(),
    }
}

/// The text of an output that a hook wrote for tool `name`. It has the form of the tool's own.
fn output_text(name: &str, output: &Value) -> Result<String, String> {
    let text = match output {
        Value::String(text) if name != "Bash" => Some(text.clone()),
        Value::Object(fields) if name == "Bash" => {
            let stream = |key| fields.get(key).and_then(Value::as_str);
            stream("stdout").map(|stdout| match stream("stderr") {
                Some(stderr) if !stderr.is_empty() => format!("{stdout}\n{stderr}"),
                _ => stdout.to_owned(),
            })
        }
        _ => None,
    };
    text.ok_or_else(|| format!("updatedToolOutput doesn't have the form of {name}'s output"))
}

fn shortened(text: String) -> String {
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}… (cut at {MAX_CHARS} characters)", &text[..end]),
        None => text,
    }
}
