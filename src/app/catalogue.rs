//! The downloaded model catalogue. tiller fetches it on request from a URL of the user's choice,
//! checks it and stores it in the data folder. The newer of it and the built-in one wins.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::outcome::StartError;
use crate::llm::BuiltIn;
use crate::llm::address::AddressSource;
use crate::llm::catalog::fetched;
use crate::llm::http::{self, Http};
use crate::llm::read_small::read_small;
use crate::llm::replace_file::replace_file;

/// Time limit for the server.
const TIMEOUT: Duration = Duration::from_secs(30);
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// Returns the newer of the built-in catalogue and the one in `file`. The file is stored unchanged,
/// because another version of tiller may use more of it. An unreadable file is ignored.
pub fn newest(file: &Path) -> Arc<BuiltIn> {
    let built_in = BuiltIn::default();
    let Ok(text) = read_small(file) else {
        return Arc::new(built_in);
    };
    Arc::new(match fetched(&text, &built_in) {
        Ok((fetched, _)) if fetched.as_of() > built_in.as_of() => fetched,
        Ok(_) => built_in,
        Err(why) => {
            tracing::warn!("{}: {why}; the built-in models are used", file.display());
            built_in
        }
    })
}

/// Fetches the catalogue at `url` into `file`, unchanged on errors. Returns a message.
pub async fn refresh(url: &str, file: &Path) -> Result<String, StartError> {
    let failed = |why: String| {
        StartError::failed(format!(
            "can't refresh the models: {}: {why}. The list is unchanged",
            http::shown(url)
        ))
    };
    if !url.starts_with("https://") && !http::is_loopback(url) {
        return Err(StartError::usage(format!(
            "'{url}' isn't https: use an https URL, or one on this machine"
        )));
    }
    let text = fetch(url).await.map_err(&failed)?;
    let built_in = BuiltIn::default();
    let (fetched, skipped) = fetched(&text, &built_in).map_err(&failed)?;
    let count = fetched.model_ids().count();
    replace_file(file, &text, None)
        .map_err(|error| failed(format!("{}: {error}", file.display())))?;
    let as_of = fetched.as_of();
    let mut said = if built_in.as_of() > as_of {
        format!("{count} models as of {as_of}; the built-in list is newer and stays in use\n")
    } else {
        format!(
            "{count} models as of {as_of}, saved in {}\n",
            file.display()
        )
    };
    if skipped > 0 {
        let _ = writeln!(
            said,
            "Skipped {skipped} entries that are too new for this tiller or change where requests go; \
             update tiller to use them"
        );
    }
    Ok(said)
}

async fn fetch(url: &str) -> Result<String, String> {
    let http = Http::default();
    let client = http.client(url).map_err(|error| error.message)?;
    let source = AddressSource::default();
    let fault =
        |error: &reqwest::Error| http::transport_error(error, "", &source, Some(TIMEOUT)).message;
    let request = client.get(url).timeout(TIMEOUT);
    let mut response = request.send().await.map_err(|error| fault(&error))?;
    if !response.status().is_success() {
        return Err(format!("status {}", response.status()));
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| fault(&error))? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > MAX_BYTES {
            return Err(format!("more than {MAX_BYTES} bytes"));
        }
    }
    String::from_utf8(bytes).map_err(|_| "not UTF-8".to_owned())
}
