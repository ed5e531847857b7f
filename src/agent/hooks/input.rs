//! What a hook learns at each point, as JSON. The order of the fields is Claude Code's.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::claude_names::{tool_input, tool_names, tool_response};
use super::point::HookPoint;
use crate::git::project_root;
use tiller_llm::{ErrorClass, LlmError};

/// Separates the line of a slash command as typed from the text of its file, whose path follows.
pub const FROM_FILE: &str = "\n\n[From ";

/// What happens at a point, for its hooks.
#[derive(Clone, Debug)]
pub(crate) struct HookInput {
    pub(super) point: HookPoint,
    /// What a matcher looks at, or nothing; the first names it in answers.
    pub(super) names: Vec<String>,
    /// The fields after those that all points have.
    pub(super) fields: Map<String, Value>,
}

impl HookInput {
    fn new(point: HookPoint, names: &[&str], fields: Value) -> Self {
        let Value::Object(fields) = fields else {
            unreachable!("fields are an object");
        };
        Self {
            point,
            names: names.iter().map(|&name| name.to_owned()).collect(),
            fields,
        }
    }

    fn of_tool(point: HookPoint, name: &str, args: &Value, cwd: &Path) -> Self {
        let names = tool_names(name);
        let fields = json!({"tool_name": names[0], "tool_input": tool_input(name, args, cwd)});
        Self::new(point, &names, fields)
    }

    /// Tool `name` is about to be called.
    pub fn pre_tool_use(name: &str, args: &Value, (cwd, call_id): (&Path, &str)) -> Self {
        let mut input = Self::of_tool(HookPoint::PreToolUse, name, args, cwd);
        input
            .fields
            .insert("tool_use_id".to_owned(), json!(call_id));
        input
    }

    /// The user is about to be asked whether tool `name` may run.
    pub fn permission_request(name: &str, args: &Value, cwd: &Path) -> Self {
        let mut input = Self::of_tool(HookPoint::PermissionRequest, name, args, cwd);
        (input.fields).insert("permission_suggestions".to_owned(), json!([]));
        input
    }

    /// Tool `name` has ended with `text` for the model.
    pub fn post_tool_use(
        name: &str,
        args: &Value,
        (cwd, call_id): (&Path, &str),
        text: &str,
        is_error: bool,
        duration_ms: u64,
    ) -> Self {
        let point = if is_error {
            HookPoint::PostToolUseFailure
        } else {
            HookPoint::PostToolUse
        };
        let mut input = Self::of_tool(point, name, args, cwd);
        let fields = &mut input.fields;
        if is_error {
            fields.insert("tool_use_id".to_owned(), json!(call_id));
            fields.insert("error".to_owned(), json!(text));
            fields.insert("is_interrupt".to_owned(), json!(false));
        } else {
            fields.insert("tool_response".to_owned(), tool_response(name, text));
            fields.insert("tool_use_id".to_owned(), json!(call_id));
        }
        fields.insert("duration_ms".to_owned(), json!(duration_ms));
        input
    }

    /// The user sends `prompt`.
    pub fn prompt(prompt: &str) -> Self {
        let fields = json!({"prompt": prompt});
        Self::new(HookPoint::UserPromptSubmit, &[], fields)
    }

    /// The user sends a slash command of their own that expands to `prompt`. `None` for any other prompt.
    pub fn expansion(prompt: &str, cwd: &Path) -> Option<Self> {
        let (before, file) = prompt.split_once(FROM_FILE)?;
        // Piped input may come first.
        let at = before.rfind("\n\n/").map_or(0, |at| at + 2);
        let typed = &before[at..];
        let command = typed.strip_prefix('/')?;
        let name = command.split_whitespace().next()?;
        let file = cwd.join(file.split_once(']')?.0);
        let source = if file.starts_with(project_root(cwd)) {
            "projectSettings"
        } else {
            "userSettings"
        };
        let fields = json!({
            "expansion_type": "slash_command",
            "command_name": name,
            "command_args": command[name.len()..].trim(),
            "command_source": source,
            "prompt": typed,
        });
        Some(Self::new(HookPoint::UserPromptExpansion, &[name], fields))
    }

    /// All calls of an answer have ended: for each, tool, arguments, id and result.
    pub fn post_tool_batch<'a>(
        calls: impl Iterator<Item = (&'a str, &'a Value, &'a str, String)>,
        cwd: &Path,
    ) -> Self {
        let calls = calls.map(|(name, args, id, text)| {
            json!({
                "tool_name": tool_names(name)[0],
                "tool_input": tool_input(name, args, cwd),
                "tool_use_id": id,
                "tool_response": text,
            })
        });
        let fields = json!({"tool_calls": calls.collect::<Vec<_>>()});
        Self::new(HookPoint::PostToolBatch, &[], fields)
    }

    /// A session begins: `startup`, `resume`, `clear` or `compact`.
    pub fn session_start(source: &str, model: &str) -> Self {
        let mut fields = json!({"source": source});
        if matches!(source, "startup" | "compact") {
            fields["model"] = json!(model);
        }
        Self::new(HookPoint::SessionStart, &[source], fields)
    }

    /// The model has answered with `text`. `again`: a hook has made it continue before.
    pub fn stop(text: &str, again: bool) -> Self {
        let fields = json!({
            "stop_hook_active": again,
            "last_assistant_message": text,
            "background_tasks": [],
            "session_crons": [],
        });
        Self::new(HookPoint::Stop, &[], fields)
    }

    /// The run ends with this error of the model, shown as `message`.
    pub fn stop_failure(error: &LlmError, message: &str) -> Self {
        let kind = kind(error);
        let fields = json!({"error": kind, "last_assistant_message": message});
        Self::new(HookPoint::StopFailure, &[kind], fields)
    }

    /// The conversation is about to be compacted: `manual` or `auto`.
    pub fn pre_compact(trigger: &str, focus: Option<&str>) -> Self {
        let fields = json!({"trigger": trigger, "custom_instructions": focus});
        Self::new(HookPoint::PreCompact, &[trigger], fields)
    }

    /// The conversation was compacted into `summary`.
    pub fn post_compact(trigger: &str, summary: &str) -> Self {
        let fields = json!({"trigger": trigger, "compact_summary": summary});
        Self::new(HookPoint::PostCompact, &[trigger], fields)
    }

    /// The user is wanted; `kind` is `permission_prompt` or `idle_prompt`.
    pub fn notification(message: &str, kind: &str) -> Self {
        let fields = json!({"message": message, "notification_type": kind});
        Self::new(HookPoint::Notification, &[kind], fields)
    }

    /// The session ends.
    pub fn session_end(reason: &str) -> Self {
        let fields = json!({"reason": reason});
        Self::new(HookPoint::SessionEnd, &[reason], fields)
    }

    /// Where this is.
    pub const fn point(&self) -> HookPoint {
        self.point
    }

    /// Whether a hook may end the run here.
    pub const fn may_end_run(&self) -> bool {
        !matches!(
            self.point,
            HookPoint::SessionStart | HookPoint::PreCompact | HookPoint::PostCompact
        )
    }

    /// The point and what it's about, as in `PreToolUse:Bash`.
    pub(super) fn title(&self) -> String {
        match self.names.first() {
            Some(_) if self.point == HookPoint::UserPromptExpansion => self.point.name().to_owned(),
            Some(name) => format!("{}:{name}", self.point.name()),
            None => self.point.name().to_owned(),
        }
    }
}

/// What hooks call the error.
fn kind(error: &LlmError) -> &'static str {
    match (error.class, error.status) {
        (_, Some(429)) => "rate_limit",
        (ErrorClass::Retryable, _) => "server_error",
        (ErrorClass::Auth, _) => "authentication_failed",
        (ErrorClass::Quota, _) => "billing_error",
        (ErrorClass::NoModel, _) => "model_not_found",
        _ => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expanded_prompt_names_its_command() {
        let cwd = tempfile::tempdir().unwrap();
        let file = cwd.path().join("fix.md").display().to_string();
        for (prompt, expected) in [
            (
                "/fix 12 now\n\n[From .claude/commands/fix.md]\n\nFix 12",
                "fix|12 now|projectSettings|/fix 12 now",
            ),
            (
                "piped\n\n/fix\n\n[From fix.md]\n\nFix",
                "fix||projectSettings|/fix",
            ),
            (
                "/web:fix\n\n[From /elsewhere/fix.md]\n\nFix",
                "web:fix||userSettings|/web:fix",
            ),
            (
                &format!("/fix a\nb\n\n[From {file}]\n\nFix"),
                "fix|a\nb|projectSettings|/fix a\nb",
            ),
            ("Look at [From fix.md]", ""),
            ("Look\n\n[From fix.md]", ""),
        ] {
            let input = HookInput::expansion(prompt, cwd.path());
            let fields = input.map(|it| {
                let keys = ["command_name", "command_args", "command_source", "prompt"];
                keys.map(|key| it.fields[key].as_str().unwrap().to_owned())
                    .join("|")
            });
            assert_eq!(fields.unwrap_or_default(), expected, "{prompt}");
        }
    }
}
