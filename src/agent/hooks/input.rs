//! What a hook learns at each point, as JSON. The order of the fields is Claude Code's.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::claude_names::{tool_input, tool_names, tool_response};
use super::point::HookPoint;

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
            Some(name) => format!("{}:{name}", self.point.name()),
            None => self.point.name().to_owned(),
        }
    }
}
