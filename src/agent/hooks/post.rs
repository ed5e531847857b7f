//! Runs a hook of type `http`: posts its input, and reads JSON from the answer.

use std::collections::HashMap;
use std::time::Instant;

use serde_json::Value;
use tokio::time::timeout;

use super::command::{MAX_BYTES, Ran, too_slow};
use super::hook::{Hook, HookPost};
use super::variables::filled;
use crate::process::ExitStatus;
use tiller_llm::http::Http;
use tiller_llm::post::post_json;

/// Posts `input` and treats the response like the output of a command that exited with 0.
///
/// # Errors
/// Returns why there is no usable response.
pub(super) async fn run(
    http: &Http,
    (hook, post): (&Hook, &HookPost),
    input: &str,
    variables: &HashMap<String, String>,
) -> Result<Ran, String> {
    let started = Instant::now();
    let headers = headers(post, variables);
    let posted = post_json(http, &post.url, &headers, input.to_owned(), MAX_BYTES);
    let posted = timeout(hook.timeout, posted).await;
    let posted = posted.map_err(|_| too_slow(hook.timeout))??;
    if !(200..300).contains(&posted.status) {
        return Err(format!("it answered with HTTP status {}", posted.status));
    }
    let body = String::from_utf8_lossy(&posted.body).trim().to_owned();
    let is_object = |text| serde_json::from_str(text).is_ok_and(|it: Value| it.is_object());
    if !body.is_empty() && !is_object(&body) {
        return Err("its answer isn't a JSON object".to_owned());
    }
    Ok(Ran {
        exit: ExitStatus::Exited(0),
        stdout: body,
        stderr: String::new(),
        ms: started.elapsed().as_millis() as u64,
    })
}

/// The headers, with the values of the variables that the hook names. Others are empty.
fn headers(post: &HookPost, variables: &HashMap<String, String>) -> Vec<(String, String)> {
    let variable = |name: &str| {
        let may = post.variables.iter().any(|it| it == name);
        may.then(|| variables.get(name).cloned()).flatten()
    };
    let headers = post.headers.iter();
    headers
        .map(|(name, value)| (name.clone(), filled(value, variable)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_use_only_the_variables_that_the_hook_names() {
        let variables = ["TOKEN", "HOME", "TOKENS"];
        let variables = variables.map(|name| (name.to_owned(), format!("<{name}>")));
        for (value, expected) in [
            ("Bearer $TOKEN", "Bearer <TOKEN>"),
            ("${TOKEN}$TOKEN", "<TOKEN><TOKEN>"),
            ("$TOKENS-$UNSET-${HOME}", "--"),
            ("5 $ and $1", "5 $ and $1"),
        ] {
            let post = HookPost {
                url: String::new(),
                headers: vec![("A".to_owned(), value.to_owned())],
                variables: vec!["TOKEN".to_owned(), "UNSET".to_owned()],
            };
            let filled = headers(&post, &HashMap::from(variables.clone()));
            assert_eq!(filled[0].1, expected);
        }
    }
}
