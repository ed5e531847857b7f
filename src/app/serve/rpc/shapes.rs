//! The data of responses in pi's shapes.

use serde_json::{Value, json};

use crate::agent::{Phase, Queued};
use crate::agent::{QueueMode, RunState, Snapshot};
use crate::app::attachments::typed_text;
use crate::app::host::CommandEnd;
use crate::llm::{Api, Model};

/// pi's `Model`.
pub(super) fn model(model: &Model) -> Value {
    let prices = &model.prices;
    let input: &[&str] = if model.vision {
        &["text", "image"]
    } else {
        &["text"]
    };
    json!({
        "id": model.id,
        "name": model.name,
        "api": api(model.api),
        "provider": model.provider,
        "baseUrl": model.base_url,
        "reasoning": model.reasoning,
        "input": input,
        "cost": {
            "input": prices.input,
            "output": prices.output,
            "cacheRead": prices.cache_read,
            "cacheWrite": prices.cache_write,
        },
        "contextWindow": model.context_window,
        "maxTokens": model.max_output,
    })
}

/// pi's name of the API.
fn api(api: Api) -> &'static str {
    match api {
        Api::OpenAiChat => "openai-completions",
        Api::GoogleGenerateContent => "google-generative-ai",
        other => other.as_str(),
    }
}

/// pi's `RpcSessionState`, and tiller's own facts behind it.
pub(super) fn state(snapshot: &Snapshot, messages: usize) -> Value {
    let is_compacting = matches!(
        snapshot.state,
        RunState::Running {
            phase: Phase::Compacting
        }
    );
    let is_running = matches!(snapshot.state, RunState::Running { .. });
    let mut state = json!({
        "model": model(&snapshot.model),
        "thinkingLevel": snapshot.thinking,
        "isStreaming": is_running && !is_compacting,
        "isCompacting": is_compacting,
        "steeringMode": mode(snapshot.rules.steering_mode),
        "followUpMode": mode(snapshot.rules.follow_up_mode),
        "sessionId": snapshot.session.id,
        "autoCompactionEnabled": snapshot.rules.compaction.enabled,
        "messageCount": messages,
        "pendingMessageCount": snapshot.steering.len() + snapshot.follow_up.len(),
        "permissionMode": snapshot.permission.name(),
        "budget": {"usd": snapshot.budget.usd, "tokens": snapshot.budget.tokens},
        "readOnly": snapshot.session.read_only,
        "questions": snapshot.questions,
    });
    if let Some(path) = &snapshot.session.path {
        state["sessionFile"] = json!(path.to_string_lossy());
    }
    if let Some(name) = &snapshot.session.name {
        state["sessionName"] = json!(name);
    }
    state
}

fn mode(mode: QueueMode) -> &'static str {
    match mode {
        QueueMode::All => "all",
        QueueMode::One => "one-at-a-time",
    }
}

/// The texts of a queue.
pub(super) fn texts(queued: &[Queued]) -> Vec<String> {
    let texts = queued.iter().map(|message| typed_text(&message.content));
    texts.collect()
}

/// pi's `BashResult`.
pub(super) fn bash(end: &CommandEnd, cancelled: bool) -> Value {
    let details = &end.details;
    let mut result = json!({
        "output": details.output,
        "cancelled": cancelled,
        "truncated": details.truncated,
    });
    if let Some(code) = details.exit_code {
        result["exitCode"] = json!(code);
    }
    if let Some(path) = &details.full_output_path {
        result["fullOutputPath"] = json!(path);
    }
    if let (Some(why), None, false) = (&end.failure, details.exit_code, cancelled) {
        result["failure"] = json!(why);
    }
    result
}
