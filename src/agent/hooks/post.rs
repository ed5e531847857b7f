//! Runs a hook of type `http`: posts its input, and reads JSON from the answer.

use std::collections::HashMap;
use std::time::Instant;

use regex::{Captures, Regex};
use serde_json::Value;
use tokio::time::timeout;

use super::command::{MAX_BYTES, Ran, too_slow};
use super::hook::{Hook, HookPost};
use crate::process::ExitStatus;
use tiller_llm::http::Http;
use tiller_llm::post::post_json;

/// Posts `input`. The answer counts like the output of a command that worked.
///
/// # Errors
/// Returns why there is no such answer.
pub(super) async fn run(
    http: &Http,
    (hook, post): (&Hook, &HookPost),
    input: &str,
    variables: &HashMap<String, String>,
) -> Result<Ran, String> {
    let started = Instant::now();
    let variable = |name: &str| variables.get(name).cloned();
    let headers = post.headers.iter();
    let headers: Vec<(String, String)> = headers
        .map(|(name, value)| (name.clone(), filled(value, &post.variables, variable)))
        .collect();
    let posted = post_json(http, &post.url, &headers, input.to_owned(), MAX_BYTES);
    let posted = timeout(hook.timeout, posted).await;
    let posted = posted.map_err(|_| too_slow(hook.timeout))??;
    if !(200..300).contains(&posted.status) {
        return Err(format!("it answered with HTTP status {}", posted.status));
    }
    let body = String::from_utf8_lossy(&posted.body).trim().to_owned();
    let is_object = |text| serde_json::from_str(text).is_ok_and(|it: Value| it.is_object());
    if !body.is_empty() && !is_object(&body) {
        return Err("its answer is no JSON object".to_owned());
    }
    Ok(Ran {
        exit: ExitStatus::Exited(0),
        stdout: body,
        stderr: String::new(),
        ms: started.elapsed().as_millis() as u64,
    })
}

/// `value` with the values of the variables that it may use. Others are empty.
fn filled(
    value: &str,
    allowed: &[String],
    variable: impl Fn(&str) -> Option<String>,
) -> String {
    let Ok(reference) = Regex::new(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))") else {
        return value.to_owned();
    };
    let fill = |found: &Captures<'_>| {
        let name = found.get(1).or_else(|| found.get(2));
        let name = name.map_or("", |name| name.as_str());
        let may = allowed.iter().any(|it| it == name);
        let value = may.then(|| variable(name)).flatten();
        value.unwrap_or_default()
    };
    reference.replace_all(value, fill).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_use_only_the_variables_that_the_hook_names() {
        let allowed = ["TOKEN".to_owned(), "UNSET".to_owned()];
        let variable = |name: &str| (name != "UNSET").then(|| format!("<{name}>"));
        for (value, expected) in [
            ("Bearer $TOKEN", "Bearer <TOKEN>"),
            ("${TOKEN}$TOKEN", "<TOKEN><TOKEN>"),
            ("$TOKENS-$UNSET-${HOME}", "--"),
            ("5 $ and $1", "5 $ and $1"),
        ] {
            assert_eq!(filled(value, &allowed, variable), expected);
        }
    }
}
