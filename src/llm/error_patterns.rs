//! Error patterns: maps a provider's words to a class of error.
//!
//! Providers share few status codes and no wording. When a vendor changes its wording, add a pattern
//! here.

use std::sync::{LazyLock, OnceLock};

use regex::{Regex, RegexSet, RegexSetBuilder};

use super::error::ErrorClass;

/// The class of an error with this status and these words. `own` must not quote the request.
pub fn class(status: Option<u16>, own: &str) -> ErrorClass {
    if matches!(status, Some(402)) {
        return ErrorClass::Quota;
    }
    // Google gives a wait even if the day's quota is used up or zero.
    if status == Some(429) && (own.contains("PerDay") || own.contains("limit: 0,")) {
        return ErrorClass::Quota;
    }
    let throttled = THROTTLED.is_match(own);
    // Google also says "quota" for a limit per minute, with a wait.
    if SPENT.is_match(own) || QUOTA.is_match(own) && !throttled && wait_in(own).is_none() {
        return ErrorClass::Quota;
    }
    if REQUEST_TOO_LARGE.is_match(own) {
        return ErrorClass::Allowance;
    }
    // OpenAI has stopped the task, and wants the user to review it before any model continues.
    // <https://developers.openai.com/api/docs/guides/safety-checks/misalignment-monitoring>
    if own.contains("misalignment_policy_violation") {
        return ErrorClass::Client;
    }
    if matches!(status, None | Some(400 | 403)) && REFUSED.is_match(own) {
        return ErrorClass::Refused;
    }
    if !throttled && !matches!(status, Some(401 | 403)) && OVERFLOW.is_match(own) {
        return ErrorClass::Overflow;
    }
    match status {
        Some(403) if NO_MODEL_ACCESS.is_match(own) || NO_SUCH_MODEL.is_match(own) => {
            ErrorClass::NoModel
        }
        Some(403) if FORBIDDEN_CONTENT.is_match(own) => ErrorClass::Client,
        Some(401 | 403) => ErrorClass::Auth,
        Some(400) if INVALID_KEY.is_match(own) => ErrorClass::Auth,
        Some(413) => ErrorClass::Overflow,
        Some(404) if UNKNOWN_MODEL.is_match(own) => ErrorClass::NoModel,
        Some(400 | 422) | None if NO_SUCH_MODEL.is_match(own) => ErrorClass::NoModel,
        Some(400) if THINKING.is_match(own) => ErrorClass::Thinking,
        Some(408 | 409 | 425 | 429 | 500..=599) => ErrorClass::Retryable,
        Some(_) => ErrorClass::Client,
        None if UNAUTHORIZED.is_match(own) => ErrorClass::Auth,
        None if TRANSIENT.is_match(own) => ErrorClass::Retryable,
        None => ErrorClass::Client,
    }
}

/// The wait named in an error's own words, in milliseconds.
pub fn wait_in(text: &str) -> Option<u64> {
    let found = WAIT.captures(text)?;
    let mut wait = 0.0;
    for part in WAIT_PART.captures_iter(&found[1]) {
        let number: f64 = part[1].parse().ok()?;
        wait += number
            * match part[2].to_ascii_lowercase().as_str() {
                "ms" | "milliseconds" => 1.0,
                "h" | "hour" | "hours" => 3_600_000.0,
                "m" | "min" | "minute" | "minutes" => 60_000.0,
                _ => 1000.0,
            };
    }
    wait.is_finite().then(|| wait.ceil() as u64)
}

/// Waiting won't help, even if the error mentions a rate.
static SPENT: Patterns = Patterns::new(&[
    "insufficient_quota",
    "enforced_spend_limit_reached",
    "credit_balance_exhausted",
    "(organization|project)_spend_limit_exceeded",
    "organization_usage_limit_exceeded",
]);

/// Waiting won't help.
static QUOTA: Patterns = Patterns::new(&[
    "insufficient quota",
    "insufficient[_ ](balance|funds|credits?)",
    "exceeded your current quota",
    "quota exceeded",
    "billing",
    "credit balance is too low",
    "out of (budget|credits)",
    // LiteLLM.
    "budget_exceeded",
    "budget has been exceeded",
    "exceeded_?budget",
    "over budget",
    "not enough credits",
    "requires more credits",
    "monthly (usage |spend(ing)? )?limit",
    "available balance",
    "reached your (specified )?(workspace )?(api )?usage limit",
    "exceeded_current_quota",
    "(spend|spending|hard) limit",
    "payment required",
]);

/// The provider refuses earlier thinking: its signature is unreadable or foreign.
static THINKING: Patterns = Patterns::new(&[
    r"invalid `(signature|data)` in `(redacted_)?thinking`",
    r"bound to a different conversation",
    r"thinking\.signature: field required",
    r"`(redacted_)?thinking` blocks? .*cannot be modified",
    r"invalid_encrypted_content",
]);

/// The prompt is too long, as each vendor says it.
static OVERFLOW: Patterns = Patterns::new(&[
    r"prompt (is )?too long",
    r"input is too long",
    r"request_too_large",
    r"exceeds? the context window",
    r"exceed(s|ed)? (the )?(model'?s )?(max(imum)? )?context (length|window|size|limit)",
    r"input token count.*exceeds the maximum",
    r"input token count is \d+ but",
    r"maximum prompt length is \d+",
    r"reduce the length of the (messages|prompt|input)",
    r"maximum context length (is|of) \d+",
    r"token count of \d+ exceeds the limit of \d+",
    r"prompt_tokens_exceeded",
    r"prompt exceeds max length",
    r"context window (is )?exceeded",
    r"maximum (allowed )?input length of [\d,]+",
    r"configured context size is",
    r"longer than the maximum model length",
    r"too many input tokens",
    r"context (the )?overflows",
    r"exceeds the available context size",
    r"greater than the context length",
    r"context window exceeds limit",
    r"exceeded model token limit",
    r"range of input length should be",
    r"context[_ ]length[_ ]exceeded",
    r"model_context_window_exceeded",
    r"too many tokens",
    r"token limit exceeded",
    r"too large for model with \d+ maximum context",
    r"longer than the model'?s context",
    r"input length and .?max_tokens.? exceed",
]);

/// One request exceeds the allowance of a whole minute. It looks like a rate limit, but no wait helps.
static REQUEST_TOO_LARGE: Patterns = Patterns::new(&[
    r"request too large for .*limit:? [\d,]+, requested:? [\d,]+",
    r"input or output tokens must be reduced",
]);

/// A content filter refuses the content, and always will: OpenAI, Azure, DeepSeek, xAI, Moonshot, Z.ai,
/// MiniMax, DashScope.
static REFUSED: Patterns = Patterns::new(&[
    "moderation",
    "flagged",
    "content[_ ](policy|management policy|filter)",
    r"usage (policy|policies|guidelines)",
    "(bio|cyber)_policy",
    "limited access to this content",
    "content exists risk",
    "considered high risk",
    "contentfilter",
    "new_sensitive",
    "data_?inspection",
]);

/// Looks like an overflow (`too many tokens per minute`) but passes with time.
static THROTTLED: Patterns = Patterns::new(&[
    "rate[_ -]?limit",
    "too many requests",
    "throttl",
    "per (minute|second|hour|day)",
]);

/// Passes with time, for errors without a status.
static TRANSIENT: Patterns = Patterns::new(&[
    "overloaded",
    "capacity",
    "rate[_ -]?limit",
    "too many requests",
    "time[d]?[ _-]?out",
    "unavailable",
    "internal[_ ](server[_ ])?error",
    "server[_ ]error",
    "api_error",
    "try again",
    "retry",
    "connection",
    r"\b(408|409|429|500|502|503|504|520|524|529)\b",
]);

/// A 403 that isn't about the key.
static FORBIDDEN_CONTENT: Patterns = Patterns::new(&[
    "unsupported_country",
    r"(country|region|territory|location)[\w, ]* (is |are )?not (supported|available|allowed)",
    r"not (supported|available|allowed) in your (country|region|territory|location)",
]);

/// A 403 for a valid key that can't use this model.
static NO_MODEL_ACCESS: Patterns = Patterns::new(&[
    "(does not|do not|don't) have access to (the |this )?model",
    "not (allowed|authorized|permitted) to (use|access|sample from) (the |this )?model",
]);

/// How Google refuses a key, with a status that doesn't say so.
static INVALID_KEY: Patterns = Patterns::new(&[
    "api_key_invalid",
    "api key (not valid|not found|expired|is invalid)",
]);

static UNAUTHORIZED: Patterns = Patterns::new(&[
    "authentication",
    "invalid (x-)?api[_ -]?key",
    "incorrect api key",
    "permission_error",
    "unauthorized",
    "forbidden",
]);

/// There is no such model. The words must say just that: a request for an existing model can be refused
/// for other reasons.
static NO_SUCH_MODEL: Patterns = Patterns::new(&[
    "model_not_found",
    r"not_found_error.*model: ",
    r"model \S+ (was |is )?(not found|does not exist|not exist|unknown)",
    r"(no such|unknown|invalid) model(:| id| name| \S+$)",
    "not a valid model",
    "no endpoints found for",
    "model_not_available",
]);

/// The same after a 404, where any mention of a model is enough.
static UNKNOWN_MODEL: Patterns = Patterns::new(&[
    "model.*(not found|does not exist|not exist|not supported|not available|unknown|invalid)",
    "(no such|unknown|invalid|unsupported) model",
    "not a valid model",
    "not_found_error.*model",
    "no endpoints found",
]);

static WAIT: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"(?ix)(?:try\ again | retry | retrydelay"?:?\s*"?) \s* (?:in|after)? \s*
        ( (?: [0-9]+ (?:\.[0-9]+)? \s* (?: ms | milliseconds? | hours? | h | minutes? | min | m | seconds? | s ) \s* )+ ) \b"#,
    )
});

/// One number and its unit in a [`WAIT`].
static WAIT_PART: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)([0-9]+(?:\.[0-9]+)?)\s*([a-z]+)"));

/// Compiles a pattern from the source of this program. Panics if the pattern is invalid.
pub fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("tests use every pattern")
}

/// Compiled on first use. Matches any of its patterns, ignoring case.
struct Patterns {
    patterns: &'static [&'static str],
    set: OnceLock<RegexSet>,
}

impl Patterns {
    const fn new(patterns: &'static [&'static str]) -> Self {
        let set = OnceLock::new();
        Self { patterns, set }
    }

    fn is_match(&self, text: &str) -> bool {
        let set = self.set.get_or_init(|| {
            let mut builder = RegexSetBuilder::new(self.patterns);
            let set = builder.case_insensitive(true).build();
            set.expect("tests use every pattern")
        });
        set.is_match(text)
    }
}
