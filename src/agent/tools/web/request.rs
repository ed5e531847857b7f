//! Gets what a URL names, and connects to public addresses only.
//!
//! The addresses that a name has are checked where the connection is made, so a name that changes its addresses in
//! between can't lead to another. With a proxy, the proxy resolves the names.

use std::error::Error;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{ACCEPT, CONTENT_TYPE, LOCATION};
use reqwest::{Client, Proxy, Response, Url};

use super::address::is_public;
use tiller_llm::http::{page_client, proxy_for};

/// Most bytes that are read of a page, after decompression.
pub(super) const MAX_BODY: usize = 5 << 20;
/// The longest URL in bytes.
pub(super) const MAX_URL: usize = 8 * 1024;
/// Most redirects that are followed.
const MAX_REDIRECTS: usize = 10;
/// How long a whole fetch may take.
pub(super) const LIMIT: Duration = Duration::from_secs(30);
/// What tiller would like to get.
const WANTED: &str = "text/markdown, text/html;q=0.9, text/plain;q=0.8, */*;q=0.5";

/// Finds the addresses of a host.
pub(super) type Lookup = Arc<dyn Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync>;

/// What a server answered.
#[derive(Debug)]
pub(super) struct Page {
    pub url: Url,
    pub status: u16,
    /// The header, if there is one.
    pub content_type: String,
    pub body: Vec<u8>,
    /// There was more than [`MAX_BODY`].
    pub is_cut: bool,
}

/// How a fetch ended.
#[derive(Debug)]
pub(super) enum Fetched {
    Page(Page),
    /// The page is at another host now, which needs a permission of its own.
    Elsewhere(Url),
}

/// Parses a URL that can be fetched.
///
/// # Errors
/// What is wrong with it.
pub(super) fn parse(text: &str) -> Result<Url, String> {
    let url = Url::parse(text.trim()).map_err(|error| format!("not a valid URL: {error}"))?;
    check(url)
}

fn check(url: Url) -> Result<Url, String> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!(
            "web_fetch reads http and https only, not {}:",
            url.scheme()
        ));
    }
    if url.as_str().len() > MAX_URL {
        return Err(format!("the URL is longer than {MAX_URL} bytes"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("the URL has a user name or a password; leave them out".to_owned());
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err("the URL has no host".to_owned());
    }
    Ok(url)
}

/// The host in a URL: a name, or an address.
pub(super) fn host(url: &Url) -> &str {
    let host = url.host_str().unwrap_or_default();
    host.trim_matches(['[', ']']).trim_end_matches('.')
}

/// Whether a URL itself names this machine or a private address.
pub(super) fn is_local(url: &Url) -> bool {
    let host = host(url);
    let is_localhost = host == "localhost" || host.ends_with(".localhost");
    is_localhost || host.parse().is_ok_and(|address| !is_public(address))
}

/// Fetches `url`, and follows its redirects on the same host. With `private`, private addresses are fine too.
///
/// # Errors
/// Why there is no page.
pub(super) async fn fetch(mut url: Url, private: bool, lookup: &Lookup) -> Result<Fetched, String> {
    for _ in 0..=MAX_REDIRECTS {
        if !private && is_local(&url) {
            return Err(refused(&url));
        }
        let client = client(&url, private, lookup)?;
        let request = client.get(url.clone()).header(ACCEPT, WANTED);
        let answer = request.send().await.map_err(|error| why(&error, &url))?;
        let Some(next) = redirect(&url, &answer)? else {
            return Ok(Fetched::Page(read(url, answer).await?));
        };
        if host(&next) != host(&url) {
            return Ok(Fetched::Elsewhere(next));
        }
        url = next;
    }
    Err(format!("more than {MAX_REDIRECTS} redirects"))
}

fn refused(url: &Url) -> String {
    PrivateAddress(host(url).to_owned()).to_string()
}

/// Where an answer redirects to, if it does.
fn redirect(url: &Url, answer: &Response) -> Result<Option<Url>, String> {
    let location = answer.headers().get(LOCATION);
    let redirects = matches!(answer.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    let Some(location) = location.filter(|_| redirects) else {
        return Ok(None);
    };
    let target = String::from_utf8_lossy(location.as_bytes());
    let next = url.join(&target);
    let next = next.map_err(|error| format!("it redirects to an invalid URL: {error}"))?;
    check(next)
        .map(Some)
        .map_err(|why| format!("it redirects, but {why}"))
}

async fn read(url: Url, mut answer: Response) -> Result<Page, String> {
    let content_type = answer.headers().get(CONTENT_TYPE);
    let content_type = content_type.map(|it| String::from_utf8_lossy(it.as_bytes()).into_owned());
    let mut page = Page {
        status: answer.status().as_u16(),
        content_type: content_type.unwrap_or_default(),
        body: Vec::new(),
        is_cut: false,
        url,
    };
    while let Some(chunk) = (answer.chunk().await).map_err(|error| why(&error, &page.url))? {
        let room = MAX_BODY - page.body.len();
        page.body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() > room {
            page.is_cut = true;
            break;
        }
    }
    Ok(page)
}

/// A client for one request. Without a proxy, it connects to checked addresses only.
fn client(url: &Url, private: bool, lookup: &Lookup) -> Result<Client, String> {
    if let Some((variable, proxy)) = proxy_for(url.as_str()) {
        let proxy = Proxy::all(&proxy).map_err(|error| format!("{variable}: {error}"))?;
        return page_client(LIMIT, |builder| builder.no_proxy().proxy(proxy.clone()));
    }
    let checked = Arc::new(Checked {
        lookup: Arc::clone(lookup),
        private,
    });
    page_client(LIMIT, |builder| {
        builder.no_proxy().dns_resolver(Arc::clone(&checked))
    })
}

/// Finds addresses, and leaves out private ones.
struct Checked {
    lookup: Lookup,
    private: bool,
}

impl Resolve for Checked {
    fn resolve(&self, name: Name) -> Resolving {
        let (lookup, private) = (Arc::clone(&self.lookup), self.private);
        Box::pin(async move {
            let found = tokio::task::spawn_blocking(move || {
                let host = name.as_str();
                let found = lookup(host)?;
                let mut allowed = found.clone();
                allowed.retain(|address| private || is_public(*address));
                if allowed.is_empty() && !found.is_empty() {
                    return Err(PrivateAddress(host.to_owned()).into());
                }
                Ok::<_, Box<dyn Error + Send + Sync>>(allowed)
            });
            let found = found.await??.into_iter();
            let found = found.map(|address| SocketAddr::new(address, 0));
            Ok(Box::new(found) as Addrs)
        })
    }
}

/// A host is on this machine or in a private network.
#[derive(Debug)]
struct PrivateAddress(String);

impl fmt::Display for PrivateAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = &self.0;
        write!(
            f,
            "{host} is on this machine or in a private network. The user can allow it with a rule: \
             tool = \"web_fetch\", path = \"{host}\", network = true, action = \"allow\""
        )
    }
}

impl Error for PrivateAddress {}

/// The innermost cause of an error: the outer ones only say "error sending request".
fn why(error: &reqwest::Error, url: &Url) -> String {
    if error.is_timeout() {
        return format!("no complete answer within {} s", LIMIT.as_secs());
    }
    let mut cause: &dyn Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let host = host(url);
    if cause.is::<PrivateAddress>() {
        cause.to_string()
    } else {
        format!("no answer from {host}: {cause}")
    }
}

/// Asks the system.
pub(super) fn system_lookup() -> Lookup {
    Arc::new(|host| {
        let found = std::net::ToSocketAddrs::to_socket_addrs(&(host, 0))?;
        Ok(found.map(|address| address.ip()).collect())
    })
}
