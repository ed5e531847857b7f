//! What providers say when something is wrong, as tables: which words mean which class.
//!
//! They agree on few status codes and on no wording. Where a vendor finds new words, a line is added
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
    if !throttled && !matches!(status, Some(401 | 403)) && OVERFLOW.is_match(text) {
        return ErrorClass::Overflow;
    }
    match status {
        Some(401 | 403) => ErrorClass::Auth,
        Some(400) if WRONG_KEY.is_match(text) => ErrorClass::Auth,
        Some(413) => ErrorClass::Overflow,
        Some(404) if UNKNOWN_MODEL.is_match(text) => ErrorClass::NoModel,
        Some(400 | 422) | None if NO_SUCH_MODEL.is_match(text) => ErrorClass::NoModel,
        Some(408 | 409 | 425 | 429 | 500..=599) => ErrorClass::Retryable,
        Some(_) => ErrorClass::Client,
        None if REFUSED_KEY.is_match(text) => ErrorClass::Auth,
        None if PASSING.is_match(text) => ErrorClass::Retryable,
        None => ErrorClass::Client,
    }
}

/// The wait named in an error's own words, in milliseconds.
pub fn wait_in(text: &str) -> Option<u64> {
    let found = WAIT.as_ref()?.captures(text)?;
    let number: f64 = found[1].trim_end_matches('.').parse().ok()?;
    let factor = if found[2].to_ascii_lowercase().starts_with('m') {
        1.0
    } else {
        1000.0
    };
    number.is_finite().then(|| (number * factor).ceil() as u64)
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
        "payment required",
    ])
});

/// The prompt is too long, in the words of all the vendors.
static OVERFLOW: LazyLock<RegexSet> = LazyLock::new(|| {
    set(&[
        r"prompt (is )?too long",
        r"input is too long",
        r"request_too_large",
        r"exceeds? the context window",
        r"exceeds? (the )?(model's )?(maximum )?context (length|window|size)",
        r"input token count.*exceeds the maximum",
        r"input token count is \d+ but",
        r"maximum prompt length is \d+",
        r"reduce the length of the (messages|prompt|input)",
        r"maximum context length (is|of) \d+",
        r"exceeds the limit of \d+",
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
        r"longer than the model's context",
        r"input length and .?max_tokens.? exceed",
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
static PASSING: LazyLock<RegexSet> = LazyLock::new(|| {
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

/// Google's way to refuse a key, under a status that says nothing of it.
static WRONG_KEY: LazyLock<RegexSet> = LazyLock::new(|| {
    set(&[
        "api_key_invalid",
        "api key (not valid|not found|expired|is invalid)",
    ])
});

static REFUSED_KEY: LazyLock<RegexSet> = LazyLock::new(|| {
    set(&[
        "authentication",
        "invalid (x-)?api[_ -]?key",
        "incorrect api key",
        "permission_error",
        "unauthorized",
        "forbidden",
        "unsupported_country",
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
    Regex::new(r#"(?i)(?:try again|retry|retrydelay"?:?\s*"?)\s*(?:in|after)?\s*([0-9.]+)\s*(ms|milliseconds|s\b|seconds?)"#).ok()
});

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
        assert_eq!(wait_in("try again later"), None);
    }

    #[test]
    fn every_pattern_is_one() {
        for table in [
            &QUOTA,
            &OVERFLOW,
            &THROTTLED,
            &PASSING,
            &REFUSED_KEY,
            &WRONG_KEY,
            &UNKNOWN_MODEL,
            &NO_SUCH_MODEL,
        ] {
            assert!(table.len() > 1, "{table:?}");
        }
        assert!(WAIT.is_some());
    }
}
