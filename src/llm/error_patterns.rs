//! Error patterns: which words of a provider mean which class of error.
//!
//! Providers share few status codes and no wording. When a vendor changes its wording, add a pattern
//! here.

use std::sync::LazyLock;

use regex::{Regex, RegexSet};

use super::error::ErrorClass;

/// What an error with this status, if any, and these words calls for.
pub fn class(status: Option<u16>, text: &str) -> ErrorClass {
    if matches!(status, Some(402)) {
        return ErrorClass::Quota;
    }
    // Google names when to come back also where the day's share is used up, or there is none.
    if status == Some(429) && (text.contains("PerDay") || text.contains("limit: 0,")) {
        return ErrorClass::Quota;
    }
    let throttled = THROTTLED.is_match(text);
    // Google says "quota" for a limit per minute and adds when to come back.
    if QUOTA.is_match(text)
        && (text.contains("insufficient_quota") || (!throttled && wait_in(text).is_none()))
    {
        return ErrorClass::Quota;
    }
    if REQUEST_TOO_LARGE.is_match(text) {
        return ErrorClass::Overflow;
    }
    if !throttled && !matches!(status, Some(401 | 403)) && OVERFLOW.is_match(text) {
        return ErrorClass::Overflow;
    }
    match status {
        Some(403) if NO_MODEL_ACCESS.is_match(text) || NO_SUCH_MODEL.is_match(text) => {
            ErrorClass::NoModel
        }
        Some(403) if FORBIDDEN_CONTENT.is_match(text) => ErrorClass::Client,
        Some(401 | 403) => ErrorClass::Auth,
        Some(400) if INVALID_KEY.is_match(text) => ErrorClass::Auth,
        Some(413) => ErrorClass::Overflow,
        Some(404) if UNKNOWN_MODEL.is_match(text) => ErrorClass::NoModel,
        Some(400 | 422) | None if NO_SUCH_MODEL.is_match(text) => ErrorClass::NoModel,
        Some(400) if THINKING.is_match(text) => ErrorClass::Thinking,
        Some(408 | 409 | 425 | 429 | 500..=599) => ErrorClass::Retryable,
        Some(_) => ErrorClass::Client,
        None if UNAUTHORIZED.is_match(text) => ErrorClass::Auth,
        None if TRANSIENT.is_match(text) => ErrorClass::Retryable,
        None => ErrorClass::Client,
    }
}

/// The wait named in an error's own words, in milliseconds.
pub fn wait_in(text: &str) -> Option<u64> {
    let found = WAIT.as_ref()?.captures(text)?;
    let mut wait = 0.0;
    for part in WAIT_PART.as_ref()?.captures_iter(&found[1]) {
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

/// Waiting does not help.
static QUOTA: LazyLock<RegexSet> = LazyLock::new(|| {
    set(&[
        "insufficient[_ ]quota",
        "insufficient[_ ](balance|funds|credits?)",
        "exceeded your current quota",
        "quota exceeded",
        "billing",
        "credit balance is too low",
        "out of (budget|credits)",
        "not enough credits",
        "requires more credits",
        "monthly (usage |spend(ing)? )?limit",
        "available balance",
        "reached your (specified )?(api )?usage limit",
        "exceeded_current_quota",
        "(spend|spending|hard) limit",
        "payment required",
    ])
});

/// Thinking of earlier answers is refused: its signature does not fit the request, or cannot be read.
static THINKING: LazyLock<RegexSet> = LazyLock::new(|| {
    set(&[
        r"invalid `(signature|data)` in `(redacted_)?thinking`",
        r"bound to a different conversation",
        r"thinking\.signature: field required",
        r"`(redacted_)?thinking` blocks? .*cannot be modified",
        r"invalid_encrypted_content",
    ])
});

/// The prompt is too long, in the words of all the vendors.
static OVERFLOW: LazyLock<RegexSet> = LazyLock::new(|| {
    set(&[
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
    ])
});

/// More than a whole minute's allowance in one request: told as a limit of the rate, and no wait helps.
static REQUEST_TOO_LARGE: LazyLock<RegexSet> = LazyLock::new(|| {
    set(&[
        r"request too large for .*limit:? \d+, requested:? \d+",
        r"input or output tokens must be reduced",
    ])
});

/// Looks like an overflow (`too many tokens per minute`) but passes with time.
static THROTTLED: LazyLock<RegexSet> = LazyLock::new(|| {
    set(&[
        "rate[_ -]?limit",
        "too many requests",
        "throttl",
        "per (minute|second|hour|day)",
    ])
});

/// Passes with time, where no status says so.
static TRANSIENT: LazyLock<RegexSet> = LazyLock::new(|| {
    set(&[
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
    ])
});

/// A 403 that has nothing to do with the key.
static FORBIDDEN_CONTENT: LazyLock<RegexSet> = LazyLock::new(|| {
    set(&[
        "moderation",
        "flagged",
        "content[_ ]policy",
        "unsupported_country",
        r"(country|region|territory|location)[\w, ]* (is |are )?not (supported|available|allowed)",
        r"not (supported|available|allowed) in your (country|region|territory|location)",
    ])
});

/// A 403 of a key that is valid, but not for this model.
static NO_MODEL_ACCESS: LazyLock<RegexSet> = LazyLock::new(|| {
    set(&[
        "(does not|do not|don't) have access to (the |this )?model",
        "not (allowed|authorized|permitted) to (use|access|sample from) (the |this )?model",
    ])
});

/// Google's way to refuse a key, under a status that says nothing of it.
static INVALID_KEY: LazyLock<RegexSet> = LazyLock::new(|| {
    set(&[
        "api_key_invalid",
        "api key (not valid|not found|expired|is invalid)",
    ])
});

static UNAUTHORIZED: LazyLock<RegexSet> = LazyLock::new(|| {
    set(&[
        "authentication",
        "invalid (x-)?api[_ -]?key",
        "incorrect api key",
        "permission_error",
        "unauthorized",
        "forbidden",
    ])
});

/// There is no such model, in words that say nothing else: a request may be refused for what it asks
/// of a model that is there.
static NO_SUCH_MODEL: LazyLock<RegexSet> = LazyLock::new(|| {
    set(&[
        "model_not_found",
        r"not_found_error.*model: ",
        r"model \S+ (was |is )?(not found|does not exist|not exist|unknown)",
        r"(no such|unknown|invalid) model(:| id| name| \S+$)",
        "not a valid model",
        "no endpoints found for",
        "model_not_available",
    ])
});

/// The same where nothing was found: any word about a model will do.
static UNKNOWN_MODEL: LazyLock<RegexSet> = LazyLock::new(|| {
    set(&[
        "model.*(not found|does not exist|not exist|not supported|not available|unknown|invalid)",
        "(no such|unknown|invalid|unsupported) model",
        "not a valid model",
        "not_found_error.*model",
        "no endpoints found",
    ])
});

static WAIT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?ix)(?:try\ again | retry | retrydelay"?:?\s*"?) \s* (?:in|after)? \s*
        ( (?: [0-9]+ (?:\.[0-9]+)? \s* (?: ms | milliseconds? | hours? | h | minutes? | min | m | seconds? | s ) \s* )+ ) \b"#,
    )
    .ok()
});

/// One number and its unit in a [`WAIT`].
static WAIT_PART: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)([0-9]+(?:\.[0-9]+)?)\s*([a-z]+)").ok());

fn set(patterns: &[&str]) -> RegexSet {
    let patterns = patterns.iter().map(|pattern| format!("(?i){pattern}"));
    RegexSet::new(patterns).unwrap_or_else(|_| RegexSet::empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_read_out_of_words() {
        assert_eq!(wait_in("Please try again in 1.2s."), Some(1200));
        assert_eq!(wait_in("Please retry in 30 seconds"), Some(30_000));
        assert_eq!(wait_in("try again in 320ms"), Some(320));
        assert_eq!(wait_in(r#""retryDelay": "34s""#), Some(34_000));
        assert_eq!(wait_in("Please try again in 7m12s."), Some(432_000));
        assert_eq!(wait_in("Please try again in 1m30.5s"), Some(90_500));
        assert_eq!(wait_in("try again in 2h0m1s"), Some(7_201_000));
        assert_eq!(wait_in("retry after 5 minutes"), Some(300_000));
        assert_eq!(wait_in("try again in 5 models"), None);
        assert_eq!(wait_in("try again later"), None);
    }

    // G4, F12: the words of each vendor, as they come.
    #[test]
    fn an_overflow_is_known_in_every_vendors_words() {
        for said in [
            // Anthropic
            "prompt is too long: 213462 tokens > 200000 maximum",
            r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
            "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
            // OpenAI, both APIs
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
            r#"{"error":{"message":"x","type":"invalid_request_error","code":"context_length_exceeded"}}"#,
            "Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 40000. The input or output tokens must be reduced in order to run successfully.",
            // Gemini
            "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
            // xAI
            "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
            // Groq, Cerebras
            "Please reduce the length of the messages or completion. Current length is 8206 while limit is 8192",
            "Request too large for model `llama-3.1-8b` on tokens per minute (TPM): Limit 6000, Requested 9000, please reduce your message size and try again.",
            // OpenRouter
            "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens",
            "Input length 131393 exceeds the maximum allowed input length of 131040 tokens.",
            // Together, Fireworks, DeepSeek
            "The input (150000 tokens) is longer than the model's context length (131072 tokens).",
            "The prompt is too long: 200000, model maximum context length: 131071",
            "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens",
            // Mistral
            "Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
            // Moonshot, MiniMax, Z.ai, DashScope
            "Invalid request: Your request exceeded model token limit: 131072 (requested: 139000)",
            "invalid params, context window exceeds limit (2013)",
            r#"{"error":{"code":"1261","message":"Prompt too long"}}"#,
            r#"{"error":{"code":"1261","message":"Prompt exceeds max length"}}"#,
            "Range of input length should be [1, 98304]",
            // Copilot
            r#"{"error":{"message":"prompt token count of 150000 exceeds the limit of 128000","code":"model_max_prompt_tokens_exceeded"}}"#,
            // Bedrock
            "Input is too long for requested model.",
            "Too many input tokens. Max input tokens: 128000, request input token count: 200000",
            // llama.cpp, Ollama, LM Studio, vLLM, LiteLLM, DS4
            "the request exceeds the available context size, try increasing it",
            "the input length exceeds the context length",
            "prompt too long; exceeded max context length by 4242 tokens",
            "The number of tokens to keep from the initial prompt is greater than the context length",
            "Trying to keep the first 12000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens",
            "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
            "Input length (265330) exceeds model's maximum context length (262144).",
            "litellm.ContextWindowExceededError: Context Window exceeded for given call.",
            "Prompt has 40000 tokens, but the configured context size is 32768 tokens",
            "model_context_window_exceeded",
        ] {
            for status in [Some(400), None] {
                assert_eq!(
                    class(status, said),
                    ErrorClass::Overflow,
                    "{status:?} {said}"
                );
            }
        }
        for status in [400, 413, 422, 500] {
            let told = "the request exceeds the available context size";
            assert_eq!(class(Some(status), told), ErrorClass::Overflow, "{status}");
        }
    }

    #[test]
    fn what_only_sounds_like_an_overflow_is_none() {
        use ErrorClass::*;
        for (status, said, expected) in [
            (
                Some(429),
                "ThrottlingException: Too many tokens, please wait before trying again.",
                Retryable,
            ),
            (
                Some(429),
                "Rate limit reached for tokens per minute: too many tokens",
                Retryable,
            ),
            (
                Some(429),
                "Number of request tokens has exceeded your daily rate limit",
                Retryable,
            ),
            (
                Some(400),
                "max_tokens: 300000 > 128000, which is the maximum allowed number of output tokens",
                Client,
            ),
            (
                Some(400),
                "the number of tools, 200, exceeds the limit of 128",
                Client,
            ),
            (
                Some(400),
                "You have reached your specified API usage limits. You will regain access on 2027-01-01.",
                Quota,
            ),
            (
                Some(429),
                r#"{"error":{"type":"exceeded_current_quota_error","message":"x"}}"#,
                Quota,
            ),
            (Some(403), "prompt is too long", Auth),
        ] {
            assert_eq!(class(status, said), expected, "{status:?} {said}");
        }
    }

    // F5: only a model that is not there has a stand-in; a request that is wrong has none.
    #[test]
    fn a_missing_model_is_told_from_a_wrong_request() {
        use ErrorClass::*;
        for (status, said, expected) in [
            (
                Some(404),
                r#"{"error":{"type":"not_found_error","message":"model: claude-nope"}}"#,
                NoModel,
            ),
            (
                Some(404),
                "The model `gpt-9` does not exist or you do not have access to it.",
                NoModel,
            ),
            (
                Some(404),
                r#"{"error":{"code":404,"message":"models/gemini-9 is not found for API version v1beta"}}"#,
                NoModel,
            ),
            (Some(404), "404 page not found", Client),
            (Some(400), "openai/gpt-9 is not a valid model ID", NoModel),
            (
                Some(400),
                r#"{"error":{"code":"model_not_found","message":"x"}}"#,
                NoModel,
            ),
            (Some(400), "Invalid model: mistral-nope", NoModel),
            (
                None,
                r#"model "nope" not found, try pulling it first"#,
                NoModel,
            ),
            (Some(400), "this model does not support image input", Client),
            (
                Some(400),
                "reasoning_effort is not supported with this model",
                Client,
            ),
            (Some(400), "invalid model output schema", Client),
        ] {
            assert_eq!(class(status, said), expected, "{status:?} {said}");
        }
    }

    #[test]
    fn every_pattern_is_one() {
        for table in [
            &QUOTA,
            &OVERFLOW,
            &THROTTLED,
            &REQUEST_TOO_LARGE,
            &TRANSIENT,
            &UNAUTHORIZED,
            &INVALID_KEY,
            &FORBIDDEN_CONTENT,
            &NO_MODEL_ACCESS,
            &UNKNOWN_MODEL,
            &NO_SUCH_MODEL,
        ] {
            assert!(table.len() > 1, "{table:?}");
        }
        assert!(WAIT.is_some() && WAIT_PART.is_some());
    }
}
