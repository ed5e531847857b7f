//! Asks the local servers, all at once and each with a time limit. A server that is missing, slow or
//! gives an invalid reply has no models; that isn't an error.

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::join_all;
use futures_util::stream;
use reqwest::{Certificate, Client, RequestBuilder, redirect};
use serde_json::json;
use tokio::time::{Instant, timeout_at};

use super::replies::{self, LocalModel};
use super::server::{Address, LocalServer, ServerAddrs};
use crate::model::Model;
use crate::window::WindowSource;
use crate::window_check;

/// Time limit for local servers when the user is waiting.
pub const DISCOVERY_TIMEOUT: Duration = Duration::from_millis(50);
/// Time limit for Ollama to list what it has loaded.
const LOADED_TIMEOUT: Duration = Duration::from_secs(1);
/// Most bytes to read of a reply.
const MAX_BYTES: usize = 4 * 1024 * 1024;
/// How many models to ask one Ollama about at once.
const AT_ONCE: usize = 8;

/// A server that answered.
#[derive(Clone, Debug, PartialEq)]
pub struct DiscoveredServer {
    /// Which.
    pub server: LocalServer,
    /// Where.
    pub address: Address,
    /// Its models.
    pub models: Vec<LocalModel>,
}

/// The servers that answer within `timeout`, each with its models.
pub async fn discover(addrs: &ServerAddrs, timeout: Duration) -> Vec<DiscoveredServer> {
    let deadline = Instant::now() + timeout;
    let Ok(client) = client() else {
        return Vec::new();
    };
    let asked = addrs.iter().map(|(server, address)| {
        let ask = Ask {
            client: client.clone(),
            base: address.url(),
            deadline,
        };
        async move {
            let models = match server {
                LocalServer::Ollama => ollama(&ask, address, addrs.ollama_window).await,
                LocalServer::LlamaCpp => {
                    let (models, props) = tokio::join!(ask.get("/v1/models"), ask.get("/props"));
                    replies::llama_cpp(&models?, &props.unwrap_or_default(), address)
                }
                LocalServer::LmStudio => {
                    replies::lm_studio(&ask.get("/api/v0/models").await?, address)
                }
            };
            Some(DiscoveredServer {
                server,
                address: address.clone(),
                models: models?,
            })
        }
    });
    join_all(asked).await.into_iter().flatten().collect()
}

/// The default model: one in memory with a large enough window, else one that can use tools.
pub fn best(found: &[DiscoveredServer]) -> Option<&Model> {
    let all = found.iter().flat_map(|found| &found.models);
    let rank = |local: &&LocalModel| {
        let cramped = window_check::check_min(&local.model, window_check::MIN_CONTEXT).is_some();
        (cramped, !local.loaded, !local.model.tools)
    };
    // The first of equals.
    all.min_by_key(rank).map(|local| &local.model)
}

/// The window that Ollama loaded `model` with, if `model` has only an estimate and is in memory now.
pub async fn loaded_window(model: Model) -> Option<u64> {
    if model.window_source != WindowSource::Estimate {
        return None;
    }
    let ask = Ask {
        client: client().ok()?,
        base: model.base_url.trim_end_matches("/v1").to_owned(),
        deadline: Instant::now() + LOADED_TIMEOUT,
    };
    let running = replies::ollama_running(&ask.get("/api/ps").await?);
    let tagged = format!("{}:latest", model.id);
    let window = running.get(&model.id).or_else(|| running.get(&tagged));
    window.copied().filter(|tokens| *tokens > 0)
}

/// Whether anything listens at one of `addrs`. A closed port on this machine says so at once, so this
/// costs nothing without a server.
pub fn is_listening(addrs: &ServerAddrs) -> bool {
    addrs.iter().any(|(_, address)| answers(address))
}

/// Whether anything listens at `address`.
pub(super) fn answers(address: &Address) -> bool {
    let Ok(addresses) = address.to_string().to_socket_addrs() else {
        return false;
    };
    let open = |at: &SocketAddr| TcpStream::connect_timeout(at, DISCOVERY_TIMEOUT).is_ok();
    addresses.take(2).any(|at| open(&at))
}

async fn ollama(
    ask: &Ask,
    address: &Address,
    default_window: Option<u64>,
) -> Option<Vec<LocalModel>> {
    let (tags, running) = tokio::join!(ask.get("/api/tags"), ask.get("/api/ps"));
    let models = replies::ollama_tags(&tags?, address)?;
    let running: BTreeMap<String, u64> = replies::ollama_running(&running.unwrap_or_default());
    let shown = stream::iter(models).map(|local| show(ask, local, &running, default_window));
    let shown: Vec<Option<LocalModel>> = shown.buffered(AT_ONCE).collect().await;
    Some(shown.into_iter().flatten().collect())
}

/// Ollama's facts about one of its models, or `None` if it isn't a chat model.
async fn show(
    ask: &Ask,
    mut local: LocalModel,
    running: &BTreeMap<String, u64>,
    default_window: Option<u64>,
) -> Option<LocalModel> {
    let request = ask.client.post(format!("{}/api/show", ask.base));
    let body = json!({ "model": local.model.id }).to_string();
    if let Some(reply) = ask.send(request.body(body)).await
        && !replies::ollama_show(&reply, &mut local.model, default_window)
    {
        return None;
    }
    if let Some(window) = running.get(&local.model.id) {
        local.loaded = true;
        if *window > 0 {
            local.model.context_window = *window;
            local.model.window_source = WindowSource::Model;
        }
    }
    Some(local)
}

/// A client for plain requests to this machine. It skips certificates and proxy settings, which would
/// take longer than the requests.
fn client() -> reqwest::Result<Client> {
    // Fails only if another thread was faster, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // reqwest needs at least one root certificate.
    let root = webpki_root_certs::TLS_SERVER_ROOT_CERTS.first();
    let root = root.and_then(|der| Certificate::from_der(der).ok());
    Client::builder()
        .no_proxy()
        .redirect(redirect::Policy::none())
        .tls_certs_only(root)
        .build()
}

/// Asks one server, until its time is up.
struct Ask {
    client: Client,
    base: String,
    deadline: Instant,
}

impl Ask {
    async fn get(&self, path: &str) -> Option<Vec<u8>> {
        self.send(self.client.get(format!("{}{path}", self.base)))
            .await
    }

    /// The body of a successful answer, if it arrives in time.
    async fn send(&self, request: RequestBuilder) -> Option<Vec<u8>> {
        let read = async {
            let mut response = request.send().await.ok()?;
            if !response.status().is_success() {
                return None;
            }
            let mut body = Vec::new();
            while let Some(chunk) = response.chunk().await.ok()? {
                body.extend_from_slice(&chunk);
                if body.len() > MAX_BYTES {
                    return None;
                }
            }
            Some(body)
        };
        timeout_at(self.deadline, read).await.ok().flatten()
    }
}
