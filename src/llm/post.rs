//! Sends one JSON text to an address of the user's, and reads the answer.

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};

use super::address::AddressSource;
use super::http::{Http, shown, transport_error};

/// The answer of a server.
#[derive(Debug)]
pub struct Posted {
    /// Its HTTP status.
    pub status: u16,
    /// Its body.
    pub body: Vec<u8>,
}

/// Posts `json` to `url` with `headers`. Reads at most `max_bytes` of the answer.
///
/// # Errors
/// Returns why there is no whole answer.
pub async fn post_json(
    http: &Http,
    url: &str,
    headers: &[(String, String)],
    json: String,
    max_bytes: usize,
) -> Result<Posted, String> {
    let source = AddressSource::default();
    let failed = |error: &reqwest::Error| {
        transport_error(error, &shown(url), &source, http.idle_timeout(url)).message
    };
    let client = http.client(url).map_err(|error| error.message)?;
    let request = client.post(url).headers(header_map(headers)?).body(json);
    let mut response = request.send().await.map_err(|error| failed(&error))?;
    let status = response.status().as_u16();
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| failed(&error))? {
        if body.len() + chunk.len() > max_bytes {
            return Err(format!("it answered with more than {max_bytes} bytes"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Posted { status, body })
}

fn header_map(headers: &[(String, String)]) -> Result<HeaderMap, String> {
    let json = HeaderValue::from_static("application/json");
    let mut map = HeaderMap::from_iter([(CONTENT_TYPE, json.clone()), (ACCEPT, json)]);
    for (name, value) in headers {
        // The value may be a secret.
        let invalid = || format!("the header {name} has characters that HTTP forbids");
        let key = HeaderName::try_from(name).map_err(|_| invalid())?;
        map.insert(key, HeaderValue::try_from(value).map_err(|_| invalid())?);
    }
    Ok(map)
}
