//! Removes secrets from a call's output before the session, the screen or the model sees it.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use super::execution::CallOutcome;
use crate::tool::{Details, Effects};
use tiller_llm::Content;
use tiller_llm::auth::Redactor;

pub(super) fn redact(redactor: &Redactor, ended: &mut CallOutcome) {
    if redactor.is_empty() {
        return;
    }
    for block in &mut ended.content {
        if let Content::Text(text) = block
            && let Cow::Owned(clean) = redactor.redact_result(&text.text)
        {
            text.text = clean;
        }
    }
    ended.details = details(redactor, &ended.details);
}

/// Removes secrets from the details that the user sees.
pub(super) fn details(redactor: &Redactor, details: &Arc<Details>) -> Arc<Details> {
    if redactor.is_empty() {
        return Arc::clone(details);
    }
    let json = serde_json::to_string(&**details).unwrap_or_default();
    match redactor.redact_result(&json) {
        Cow::Borrowed(_) => Arc::clone(details),
        Cow::Owned(clean) => {
            // Details that no longer parse contained a secret, so they aren't shown.
            let value = serde_json::from_str(&clean).unwrap_or_default();
            Arc::new(Details::from_json(value))
        }
    }
}

/// Returns why a call must not write: it would replace a secret with its placeholder.
pub(super) fn refuse_marks(redactor: &Redactor, args: &Value, effects: &Effects) -> Option<String> {
    if effects.writes.is_empty() || redactor.is_empty() {
        return None;
    }
    let mark = redactor.mark_in(&args.to_string())?;
    Some(format!(
        "Nothing was written: the call contains {mark}, which stands for a secret that you can't see, so \
         the file would lose the secret. Change the other lines with a smaller edit, or ask the user."
    ))
}
