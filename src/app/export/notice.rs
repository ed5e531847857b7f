//! One line for an entry that is not a message.

use crate::agent::session::Body;
use crate::app::humanize::grouped;
use crate::llm::{AssistantMessage, StopReason};

pub(super) fn notice(body: &Body) -> String {
    match body {
        Body::ModelChange(change) => format!("Model: {}/{}", change.provider, change.model_id),
        Body::ThinkingLevelChange { thinking_level } => {
            format!("Thinking: {}", thinking_level.as_str())
        }
        Body::ContextEdit(edit) => match edit.replacement {
            Some(_) => String::from("An earlier message was shortened for the model"),
            None => String::from("An earlier message was removed for the model"),
        },
        Body::Compaction(compaction) => format!(
            "Everything above was compacted ({} tokens)",
            grouped(compaction.tokens_before)
        ),
        Body::BranchSummary(_) => String::from("Summary of the previous branch"),
        Body::Custom { data, .. } => {
            let error = data["errorMessage"].as_str().unwrap_or_default();
            match data["event"].as_str().unwrap_or_default() {
                "retry" => format!("Retried: {error}"),
                "error" => format!("Failed: {error}"),
                event => format!("{} {error}", event.replace('_', " ")),
            }
        }
        _ => String::new(),
    }
}

/// True if the entry says something that appears nowhere else.
pub(super) fn is_worth_telling(data: &serde_json::Value) -> bool {
    match data["event"].as_str() {
        Some("retry" | "error") => true,
        Some("compaction_complete") => data["errorMessage"].is_string(),
        _ => false,
    }
}

/// Why an answer stopped early, if it did.
pub(super) fn cut_short(message: &AssistantMessage) -> Option<&'static str> {
    match message.stop_reason {
        StopReason::Aborted => Some("Stopped by the user"),
        StopReason::Length => Some("Cut off at the output limit"),
        _ => None,
    }
}
