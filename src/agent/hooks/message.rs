//! What all hooks learn about the session, before what their point adds. The order is Claude Code's.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::input::HookInput;
use super::point::HookPoint;
use crate::permission::PermissionMode;
use crate::process::sandbox::Sandbox;

/// What all points tell about the session.
pub(crate) struct HookSession<'a> {
    pub id: &'a str,
    /// Its file, if it has one.
    pub file: Option<&'a Path>,
    pub cwd: &'a Path,
    pub mode: PermissionMode,
    /// For files with input.
    pub folder: &'a Path,
    /// What hooks of the project may access; `None` means everything. Or why they can't run.
    pub sandbox: Result<Option<Arc<Sandbox>>, String>,
}

/// The JSON for the hooks of `input`. `prompt` identifies the run.
pub(super) fn message(
    session: &HookSession<'_>,
    input: &HookInput,
    prompt: Option<&str>,
) -> Map<String, Value> {
    let file = session.file.map(|file| file.to_string_lossy());
    let mut message = Map::new();
    let mut add = |name: &str, value: Value| drop(message.insert(name.to_owned(), value));
    add("session_id", json!(session.id));
    add("transcript_path", json!(file.unwrap_or_default()));
    add("cwd", json!(session.cwd.to_string_lossy()));
    if let Some(prompt) = prompt {
        add("prompt_id", json!(prompt));
    }
    if has_mode(input.point) {
        add("permission_mode", json!(mode_name(session.mode)));
    }
    add("hook_event_name", json!(input.point.name()));
    for (name, value) in &input.fields {
        add(name, value.clone());
    }
    message
}

/// Whether the point's input has the permission mode.
const fn has_mode(point: HookPoint) -> bool {
    !matches!(
        point,
        HookPoint::SessionStart
            | HookPoint::SessionEnd
            | HookPoint::StopFailure
            | HookPoint::Notification
            | HookPoint::PreCompact
            | HookPoint::PostCompact
    )
}

/// What Claude Code calls the mode.
const fn mode_name(mode: PermissionMode) -> &'static str {
    match mode {
        PermissionMode::Plan => "plan",
        PermissionMode::Ask => "default",
        PermissionMode::Auto => "auto",
        PermissionMode::Full => "bypassPermissions",
    }
}

#[cfg(test)]
mod tests {
    use tiller_llm::{ErrorClass, LlmError};

    use super::*;

    /// As recorded from Claude Code 2.1.
    #[test]
    fn fields_come_in_the_order_that_scripts_print() {
        let session = HookSession {
            id: "s",
            file: None,
            cwd: Path::new("/w"),
            mode: PermissionMode::Ask,
            folder: Path::new("/w"),
            sandbox: Ok(None),
        };
        let expansion = HookInput::expansion("/hello bob\n\n[From hello.md]\n\nHi", session.cwd);
        let error = LlmError::new(ErrorClass::Client, "API Error");
        let args = json!({"command": "ls"});
        let call = ("bash", &args, "id", "made".to_owned());
        let in_run = "session_id transcript_path cwd prompt_id permission_mode hook_event_name";
        let without_mode = "session_id transcript_path cwd prompt_id hook_event_name";
        for (input, common, own) in [
            (
                expansion.unwrap(),
                in_run,
                "expansion_type command_name command_args command_source prompt",
            ),
            (
                HookInput::post_tool_batch([call].into_iter(), session.cwd),
                in_run,
                "tool_calls",
            ),
            (
                HookInput::stop_failure(&error, "API Error"),
                without_mode,
                "error last_assistant_message",
            ),
            (
                HookInput::notification("idle", "idle_prompt"),
                without_mode,
                "message notification_type",
            ),
        ] {
            let fields = message(&session, &input, Some("p"));
            let keys: Vec<&str> = fields.keys().map(String::as_str).collect();
            assert_eq!(keys.join(" "), format!("{common} {own}"));
        }
    }
}
