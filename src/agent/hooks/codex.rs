//! What differs for hooks that were written for Codex: the JSON they get, and the answers that count.

use serde_json::{Map, Value, json};

use super::input::HookInput;
use super::point::HookPoint;

/// Keys that an answer can have. Any other makes Codex ignore the answer.
const KEYS: [&str; 7] = [
    "continue",
    "stopReason",
    "suppressOutput",
    "systemMessage",
    "decision",
    "reason",
    "hookSpecificOutput",
];

/// The agent whose rules a hook follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Dialect {
    #[default]
    Claude,
    Codex,
}

/// The keys of `hookSpecificOutput` at `point`.
fn own_keys(point: HookPoint) -> &'static [&'static str] {
    match point {
        HookPoint::PreToolUse => &[
            "permissionDecision",
            "permissionDecisionReason",
            "updatedInput",
            "additionalContext",
        ],
        HookPoint::PermissionRequest => &["decision"],
        HookPoint::PostToolUse => &["additionalContext", "updatedMCPToolOutput"],
        _ => &["additionalContext"],
    }
}

/// Returns why Codex ignores the answer, if it does.
pub(super) fn fault(point: HookPoint, answer: &Value) -> Option<String> {
    let unknown = |value: &Value, known: &[&str]| {
        let mut keys = value.as_object().into_iter().flat_map(Map::keys);
        let unknown = keys.find(|key| !known.contains(&key.as_str()));
        unknown.map(|key| format!("Codex doesn't know \"{key}\" in an answer"))
    };
    let own = &answer["hookSpecificOutput"];
    let own_keys = [own_keys(point), &["hookEventName"]].concat();
    let faulty = |value: &Value, place: &str| format!("Codex doesn't support {place} {value} here");
    unknown(answer, &KEYS)
        .or_else(|| unknown(own, &own_keys))
        .or_else(|| match point {
            HookPoint::PreToolUse if answer["continue"] == false => {
                Some(faulty(&answer["continue"], "continue"))
            }
            HookPoint::PreToolUse if answer["decision"] == "approve" => {
                Some(faulty(&answer["decision"], "decision"))
            }
            HookPoint::PreToolUse => {
                let decision = &own["permissionDecision"];
                let is_known = decision.is_null() || decision == "allow" || decision == "deny";
                (!is_known).then(|| faulty(decision, "permissionDecision"))
            }
            HookPoint::PermissionRequest => {
                let changed = &own["decision"]["updatedInput"];
                (!changed.is_null()).then(|| faulty(changed, "updatedInput"))
            }
            _ => None,
        })
}

/// The JSON for a hook of Codex, from that for others.
pub(super) fn message(message: &Map<String, Value>, input: &HookInput, model: &str) -> String {
    let point = input.point;
    let mut fields = Map::new();
    for (name, value) in message {
        match name.as_str() {
            "prompt_id" if !matches!(point, HookPoint::SessionStart | HookPoint::SessionEnd) => {
                fields.insert("turn_id".to_owned(), value.clone());
            }
            "prompt_id" | "permission_suggestions" | "background_tasks" | "session_crons" => {}
            "tool_response" if value["stdout"].is_string() => {
                fields.insert(name.clone(), value["stdout"].clone());
            }
            _ => drop(fields.insert(name.clone(), value.clone())),
        }
        if name == "hook_event_name" && point != HookPoint::SessionEnd {
            fields.insert("model".to_owned(), json!(model));
        }
    }
    Value::Object(fields).to_string()
}
