//! The one HTTP client, built on first use, and the errors of connecting.
//!
//! Reading the system's certificates costs milliseconds, so nothing here happens before the first frame.
//! Knows no API.

use std::collections::HashSet;
use std::error::Error;
use std::fmt::Write;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use reqwest::{Certificate, Client, ClientBuilder, Response, Url, redirect};

use super::address::AddressSource;
use super::error::{ErrorClass, LlmError};
use super::os_error::plain;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a remote server can stay silent by default, before its headers or in the middle of a stream.
pub const IDLE_TIMEOUT: Duration = Duration::from_mins(5);
/// Most bytes to read of an error's body.
const MAX_ERROR_BYTES: usize = 64 * 1024;
/// How long to wait for the rest of an error's body.
const ERROR_BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// A client, built on first use. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Http {
    clients: Arc<Clients>,
    /// The timeout for all servers, if set.
    idle: Option<Duration>,
}

/// One client for remote servers, which may need a proxy, and one for this machine, which doesn't.
#[derive(Debug, Default)]
struct Clients {
    remote: OnceLock<Result<Client, String>>,
    loopback: OnceLock<Result<Client, String>>,
    /// The hosts that have answered.
    answered: Mutex<HashSet<String>>,
}

impl Http {
    /// A client that lets a server stay silent for `idle`.
    pub fn with_idle_timeout(idle: Duration) -> Self {
        Self {
            clients: Arc::default(),
            idle: Some(idle),
        }
    }

    /// The client for `url`, built on first use. Addresses of this machine never go through a proxy,
    /// which would look for them on its own machine.
    pub fn client(&self, url: &str) -> Result<&Client, LlmError> {
        if url.starts_with("https:") {
            check_cert_file()?;
        }
        let built = if is_loopback(url) {
            let loopback = || build(self.idle_timeout(url), ClientBuilder::no_proxy);
            self.clients.loopback.get_or_init(loopback)
        } else {
            let remote = || build(self.idle_timeout(url), |builder| builder);
            self.clients.remote.get_or_init(remote)
        };
        built.as_ref().map_err(|error| {
            LlmError::new(ErrorClass::Client, format!("cannot set up HTTP: {error}"))
        })
    }

    /// Records that the host of `url` has answered.
    pub fn record_answer(&self, url: &str) {
        let answered = self.clients.answered.lock();
        let mut answered = answered.unwrap_or_else(PoisonError::into_inner);
        answered.extend(host_of(url));
    }

    /// Whether the host of `url` has answered before.
    pub fn has_answered(&self, url: &str) -> bool {
        let answered = self.clients.answered.lock();
        let answered = answered.unwrap_or_else(PoisonError::into_inner);
        host_of(url).is_some_and(|host| answered.contains(&host))
    }

    /// How long the server at `url` can stay silent; `None` for no limit. A local model can take very
    /// long to read a prompt.
    pub fn idle_timeout(&self, url: &str) -> Option<Duration> {
        self.idle.or((!is_loopback(url)).then_some(IDLE_TIMEOUT))
    }
}

/// A client for web pages, which lets a server stay silent for `limit`; `route` says how it connects.
pub fn page_client(
    limit: Duration,
    route: impl Fn(ClientBuilder) -> ClientBuilder,
) -> Result<Client, String> {
    build(Some(limit), route)
}

/// Whether `url` is an address of this machine: `localhost` or a loopback address.
pub fn is_loopback(url: &str) -> bool {
    let Ok(url) = Url::parse(url.trim()) else {
        return false;
    };
    let host = url.host_str().unwrap_or_default().trim_end_matches('.');
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse::<IpAddr>() {
        Ok(IpAddr::V6(address)) => address.to_canonical().is_loopback(),
        Ok(address) => address.is_loopback(),
        // `Url` has lowercased it.
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

fn build(
    idle: Option<Duration>,
    route: impl Fn(ClientBuilder) -> ClientBuilder,
) -> Result<Client, String> {
    // Fails only if another thread has already set it, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = || {
        let builder = route(Client::builder());
        let builder = match idle {
            Some(idle) => builder.read_timeout(idle),
            None => builder,
        };
        builder
            .tls_certs_merge(extra_certificates())
            .user_agent(concat!("tiller/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT)
            .pool_idle_timeout(Duration::from_secs(90))
            .tcp_keepalive(Duration::from_secs(30))
            .http2_adaptive_window(true)
            // A redirect would turn the POST into a GET; the error names its target.
            .redirect(redirect::Policy::none())
    };
    builder().build().or_else(|error| {
        // This system has no certificates, and reqwest then refuses even plain http: use our own.
        tracing::info!("using built-in certificates: {}", root_cause(&error));
        let roots = webpki_root_certs::TLS_SERVER_ROOT_CERTS;
        let roots = roots
            .iter()
            .filter_map(|der| Certificate::from_der(der).ok());
        builder()
            .tls_certs_only(roots)
            .build()
            .map_err(|error| root_cause(&error))
    })
}

/// Certificates to add to the system's, from the variable that Node and Claude Code use.
fn extra_certificates() -> Vec<Certificate> {
    let Some(file) = std::env::var_os("NODE_EXTRA_CA_CERTS").filter(|it| !it.is_empty()) else {
        return Vec::new();
    };
    let read = std::fs::read(&file).map_err(|error| error.to_string());
    let certificates =
        read.and_then(|pem| Certificate::from_pem_bundle(&pem).map_err(|error| root_cause(&error)));
    certificates.unwrap_or_else(|why| {
        tracing::warn!("NODE_EXTRA_CA_CERTS={}: {why}", file.display());
        Vec::new()
    })
}

/// Reports an unreadable certificate file: otherwise all servers would seem untrusted.
fn check_cert_file() -> Result<(), LlmError> {
    let Some(file) = std::env::var_os("SSL_CERT_FILE").filter(|it| !it.is_empty()) else {
        return Ok(());
    };
    std::fs::metadata(&file).map(|_| ()).map_err(|error| {
        let what = format!("SSL_CERT_FILE={}: {error}", file.display());
        LlmError::new(ErrorClass::Client, what)
            .with_hint("Set it to a PEM file of certificates, or unset it")
    })
}

/// Advice about a certificate that was rejected because of `cause`.
fn certificate_hint(cause: &str, source: &AddressSource) -> String {
    if cause.contains("CaUsedAsEndEntity") {
        "The server uses the certificate of an authority as its own. Make a server certificate: \
         openssl req -x509 -addext basicConstraints=critical,CA:FALSE -addext subjectAltName=DNS:HOST ..., then export \
         SSL_CERT_FILE=/path/to/it.pem"
            .to_owned()
    } else if cause.contains("UnknownIssuer") {
        "If a proxy or the server has its own certificates: export NODE_EXTRA_CA_CERTS=/path/to/its-ca.pem \
         (SSL_CERT_FILE to trust only these)"
            .to_owned()
    } else {
        source.check_certificate()
    }
}

/// The hint for a lost connection or a broken answer.
pub const TRY_AGAIN: &str = "Send it again in a moment";

/// The error for a missing or broken response from `target` (an address without secrets).
pub fn transport_error(
    error: &reqwest::Error,
    target: &str,
    source: &AddressSource,
    idle: Option<Duration>,
) -> LlmError {
    let cause = root_cause(error);
    if cause.to_lowercase().contains("certificate") {
        return LlmError::new(
            ErrorClass::Client,
            format!("no secure connection to {target}: {cause}"),
        )
        .with_hint(certificate_hint(&cause, source));
    }
    if error.is_builder() {
        return LlmError::new(ErrorClass::Client, format!("invalid URL {target}: {cause}"))
            .with_hint(source.write_url());
    }
    if let Some((variable, proxy)) = proxy_for(target).filter(|_| error.is_connect()) {
        let proxy = shown(&proxy);
        let what =
            format!("cannot reach {target} through the proxy {proxy}: {cause} (see {variable})");
        return LlmError::new(ErrorClass::Retryable, what).with_hint(format!(
            "Check the proxy in {variable}, or name hosts that need none in NO_PROXY"
        ));
    }
    // How rustls reports an answer without TLS.
    if cause.contains("InvalidContentType") {
        let what = format!("no secure connection to {target}: this port doesn't speak TLS");
        return LlmError::new(ErrorClass::Client, what).with_hint(source.without_tls());
    }
    if error.is_connect() && is_loopback(target) && is_refused(error) {
        // Waiting starts no server.
        let what = format!("nothing listens on {target}");
        return LlmError {
            retry_is_futile: true,
            ..LlmError::new(ErrorClass::Retryable, what).with_hint(source.start_it())
        };
    }
    if let (true, Some(host)) = (is_unknown_host(error), host_of(target)) {
        // Mostly a typo, or offline.
        let what = format!("cannot find the host {host} of {target}");
        return LlmError {
            retry_is_futile: true,
            ..LlmError::new(ErrorClass::Retryable, what).with_hint(source.check_host())
        };
    }
    let hint = if error.is_connect() && is_loopback(target) {
        source.start_it()
    } else if error.is_connect() {
        source.check_network()
    } else if error.is_timeout() {
        "Send it again, or raise models.idle_timeout in config.toml".to_owned()
    } else {
        TRY_AGAIN.to_owned()
    };
    let what = if error.is_connect() && error.is_timeout() {
        format!(
            "no connection to {target} within {} s",
            CONNECT_TIMEOUT.as_secs()
        )
    } else if error.is_connect() {
        format!("cannot reach {target}: {cause}")
    } else if error.is_timeout() {
        let seconds = idle.unwrap_or_default().as_secs_f32();
        format!("{target} sent nothing for {seconds} s")
    } else if error.is_request() {
        format!("no answer from {target}: {cause}")
    } else {
        format!("lost the connection to {target}: {cause}")
    };
    LlmError::new(ErrorClass::Retryable, what).with_hint(hint)
}

/// The variable with the proxy for `url`, and the proxy.
pub fn proxy_for(url: &str) -> Option<(&'static str, String)> {
    let set = |name: &&str| std::env::var(name).is_ok_and(|value| !value.trim().is_empty());
    let names = if url.starts_with("https:") {
        ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"]
    } else {
        ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"]
    };
    let host = host_of(url)?;
    let without = ["NO_PROXY", "no_proxy"].iter().find(|name| set(name));
    let without = without.and_then(|name| std::env::var(name).ok());
    let is_direct = |entry: &str| {
        let entry = entry.trim().trim_start_matches('.');
        entry == "*" || !entry.is_empty() && (host == entry || host.ends_with(&format!(".{entry}")))
    };
    if is_loopback(url) || without.is_some_and(|it| it.split(',').any(is_direct)) {
        return None;
    }
    let name = names.into_iter().find(set)?;
    Some((name, std::env::var(name).ok()?))
}

/// The network addresses of the server at `url`.
pub fn addresses(url: &str) -> Result<Vec<SocketAddr>, String> {
    let parsed = Url::parse(url.trim()).map_err(|error| error.to_string())?;
    parsed
        .socket_addrs(|| None)
        .map_err(|error| error.to_string())
}

/// The body of a failed response, or as much of it as arrives: at most 64 KiB.
pub async fn error_body(mut response: Response) -> Vec<u8> {
    let mut body = Vec::new();
    let read = async {
        while let Ok(Some(chunk)) = response.chunk().await {
            let room = MAX_ERROR_BYTES - body.len();
            body.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if body.len() == MAX_ERROR_BYTES {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(ERROR_BODY_TIMEOUT, read).await;
    body
}

/// Most characters of a provider's explanation to put in an error.
const EXPLANATION_CHARS: usize = 300;

/// Percent-encodes `text`, except letters, digits and these bytes.
pub(super) fn percent_encoded(text: &str, plain: &[u8]) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || plain.contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// A provider's explanation, shortened to one line.
pub fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().take(EXPLANATION_CHARS).collect()
}

/// The innermost cause; the outer ones only say "error sending request".
fn root_cause(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    plain(cause)
}

/// What systems say of a name that doesn't exist: glibc (two), musl and macOS. Offline, they say that the
/// failure is temporary.
const UNKNOWN_HOST: [&str; 4] = [
    "Name or service not known",
    "No address associated with hostname",
    "Name does not resolve",
    "nodename nor servname provided",
];

/// Whether DNS doesn't know the host.
pub fn is_unknown_host(error: &reqwest::Error) -> bool {
    let cause = root_cause(error);
    error.is_connect() && UNKNOWN_HOST.iter().any(|said| cause.contains(said))
}

fn host_of(url: &str) -> Option<String> {
    Some(Url::parse(url).ok()?.host_str()?.to_owned())
}

fn is_refused(error: &reqwest::Error) -> bool {
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_of = cause.downcast_ref::<io::Error>();
        if cause_of.is_some_and(|it| it.kind() == io::ErrorKind::ConnectionRefused) {
            return true;
        }
        next = cause.source();
    }
    false
}

/// Appends `path` to `base`, which may end in a slash, a version segment or the path itself.
pub fn join(base: &str, path: &str) -> String {
    let base = base.trim().trim_end_matches('/');
    if base.ends_with(path) {
        return base.to_owned();
    }
    let mut base = base.to_owned();
    // `/v1/v1` in a base is as common a slip as `/v1` in base and path.
    while let Some((rest, last)) = base.rsplit_once('/') {
        let twice = rest.ends_with(&format!("/{last}"));
        let in_path = path.starts_with(&format!("/{last}/"));
        let version = last.len() > 1
            && last.starts_with('v')
            && last[1..2].chars().all(|c| c.is_ascii_digit());
        if version && (twice || in_path) {
            base.truncate(rest.len());
        } else {
            break;
        }
    }
    base + path
}

/// `url` without user, password, query and fragment, for messages.
pub fn shown(url: &str) -> String {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let url = &url[..end];
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let host_end = rest.find('/').unwrap_or(rest.len());
            let host = rest[..host_end].rsplit('@').next().unwrap_or_default();
            format!("{scheme}://{host}{}", &rest[host_end..])
        }
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_answers_on_all_its_addresses() {
        let http = Http::default();
        http.clone().record_answer("https://lab.example/v1/chat");
        for (url, expected) in [
            ("https://lab.example/v1/models", true),
            ("https://other.example/v1/chat", false),
            ("nothing", false),
        ] {
            assert_eq!(http.has_answered(url), expected, "{url}");
        }
    }
}
