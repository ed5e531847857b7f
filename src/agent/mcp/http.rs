//! A server behind a URL (Streamable HTTP): each message is a POST, and answers are JSON or an event stream.
//! It follows no redirect to another host, so the user's headers go nowhere else.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Method, Response, StatusCode, Url};
use serde_json::Value;
use tokio::select;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use super::connection::{Failure, MAX_MESSAGE, Outgoing, STOPPED, Shared};
use super::spec::Endpoint;
use tiller_llm::address::AddressSource;
use tiller_llm::http::{Http, error_body, one_line, shown, transport_error};
use tiller_llm::sse::SseParser;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const EVENT_STREAM: &str = "text/event-stream";
/// Most redirects of a request.
const MAX_REDIRECTS: usize = 3;
/// How long the server may take to accept a notification.
const TELL_LIMIT: Duration = Duration::from_secs(10);
/// How long to read on after an answer, so that its connection can be used again.
const DRAIN: Duration = Duration::from_secs(2);
/// How long the end of the session may take.
const LEAVE_LIMIT: Duration = Duration::from_secs(1);
/// Pauses before the stream of notifications is opened again.
const PAUSES: [u64; 4] = [1, 5, 20, 60];

/// The server.
pub(super) struct Remote {
    url: Url,
    headers: HeaderMap,
    http: Http,
    session: OnceLock<HeaderValue>,
}

impl Remote {
    /// The server at `endpoint`.
    ///
    /// # Errors
    /// Returns what is wrong with its entry.
    pub fn new(endpoint: &Endpoint, http: &Http) -> Result<Self, String> {
        let url = Url::parse(endpoint.url.trim()).ok();
        let url = url.filter(|url| ["http", "https"].contains(&url.scheme()));
        let mut headers = HeaderMap::new();
        for (name, value) in &endpoint.headers {
            let key: Option<HeaderName> = name.trim().parse().ok();
            let value = HeaderValue::from_str(value.expose()).ok();
            let Some((key, mut value)) = key.zip(value) else {
                return Err(format!(
                    "the header {name} has characters that headers can't contain"
                ));
            };
            value.set_sensitive(true);
            headers.insert(key, value);
        }
        Ok(Self {
            url: url.ok_or("its url doesn't begin with https:// or http://")?,
            headers,
            http: http.clone(),
            session: OnceLock::new(),
        })
    }

    /// Carries messages until `end` is cancelled.
    pub async fn serve(
        self,
        shared: Arc<Shared>,
        mut to_send: mpsc::Receiver<Outgoing>,
        end: CancellationToken,
    ) {
        let remote = Arc::new(self);
        select! {
            biased;
            () = end.cancelled() => {}
            () = Arc::clone(&remote).carry(&shared, &mut to_send) => {}
        }
        shared.close(Failure::Gone(STOPPED.to_owned()));
        remote.leave(&shared).await;
    }

    /// Sends each message. Dropping the future ends all requests.
    async fn carry(self: Arc<Self>, shared: &Arc<Shared>, to_send: &mut mpsc::Receiver<Outgoing>) {
        let mut tasks = JoinSet::new();
        let mut listens = false;
        loop {
            let message = select! {
                biased;
                Some(_) = tasks.join_next() => continue,
                message = to_send.recv() => message,
            };
            let Some(message) = message else { return };
            if message.id.is_some() {
                tasks.spawn(Arc::clone(&self).ask(Arc::clone(shared), message));
                continue;
            }
            // In order: the server must know that the session has begun before the next request.
            let _ = timeout(TELL_LIMIT, self.post(shared, &message)).await;
            if !listens {
                listens = true;
                tasks.spawn(Arc::clone(&self).listen(Arc::clone(shared)));
            }
        }
    }

    async fn ask(self: Arc<Self>, shared: Arc<Shared>, message: Outgoing) {
        let failure = select! {
            () = message.dropped.cancelled() => return,
            posted = self.post(&shared, &message) => match posted {
                Ok(()) => Failure::Unanswered("it ended its answer without a result".to_owned()),
                Err(failure) => failure,
            },
        };
        if matches!(failure, Failure::Expired) {
            shared.expire();
        }
        if let Some(id) = message.id {
            shared.answer(id, Err(failure));
        }
    }

    /// Sends a message, and receives all that the server answers.
    async fn post(&self, shared: &Shared, message: &Outgoing) -> Result<(), Failure> {
        let sent = self.send(Method::POST, shared, Some(&message.text)).await;
        let mut response = sent.map_err(Failure::Unanswered)?;
        if !response.status().is_success() {
            return Err(self.refusal(shared, response).await);
        }
        if let Some(session) = response.headers().get(SESSION) {
            let _ = self.session.set(session.clone());
        }
        let Some(id) = message.id else {
            return Ok(());
        };
        let kind = content_type(&response);
        if kind == EVENT_STREAM {
            return self.read_events(shared, response, Some(id)).await;
        }
        if !kind.contains("json") {
            let kind = if kind.is_empty() { "nothing" } else { &kind };
            return Err(Failure::Unanswered(format!(
                "it answered with {kind} instead of JSON. Check its url"
            )));
        }
        let mut body = Vec::new();
        while let Some(bytes) = response.chunk().await.map_err(|error| self.lost(&error))? {
            if body.len() + bytes.len() > MAX_MESSAGE {
                return Err(too_large());
            }
            body.extend_from_slice(&bytes);
        }
        shared.receive(&body);
        Ok(())
    }

    /// Receives the messages of an event stream. One that answers a request ends soon after the answer.
    async fn read_events(
        &self,
        shared: &Shared,
        mut response: Response,
        id: Option<u64>,
    ) -> Result<(), Failure> {
        let mut parser = SseParser::with_limit(MAX_MESSAGE);
        let mut until = None;
        loop {
            if id.is_some_and(|id| !shared.waits_for(id)) {
                until.get_or_insert_with(|| Instant::now() + DRAIN);
            }
            let chunk = match until {
                None => response.chunk().await.map_err(|error| self.lost(&error))?,
                Some(until) => {
                    let chunk = timeout_at(until, response.chunk()).await;
                    chunk.ok().and_then(Result::ok).flatten()
                }
            };
            let Some(bytes) = chunk else { break };
            let receive = |text: String| shared.receive(text.as_bytes());
            let taken = parser.push(&bytes, |event| receive(event.data));
            taken.map_err(|_| too_large())?;
        }
        if let Some(event) = parser.finish() {
            shared.receive(event.data.as_bytes());
        }
        Ok(())
    }

    /// Receives notifications while the connection lasts, if the server offers a stream of them.
    async fn listen(self: Arc<Self>, shared: Arc<Shared>) {
        let mut pauses = PAUSES.into_iter();
        let mut has_listened = false;
        let mut pause = 0;
        loop {
            match self.send(Method::GET, &shared, None).await {
                Ok(response)
                    if response.status().is_success()
                        && content_type(&response) == EVENT_STREAM =>
                {
                    has_listened = true;
                    let _ = self.read_events(&shared, response, None).await;
                }
                Err(_) if has_listened => {}
                _ => return,
            }
            pause = pauses.next().unwrap_or(pause);
            sleep(Duration::from_secs(pause)).await;
        }
    }

    /// Ends the session, if there is one.
    async fn leave(&self, shared: &Shared) {
        if self.session.get().is_some() {
            let _ = timeout(LEAVE_LIMIT, self.send(Method::DELETE, shared, None)).await;
        }
    }

    /// Sends a request. Returns the answer of the server, which may be a refusal.
    async fn send(
        &self,
        method: Method,
        shared: &Shared,
        text: Option<&str>,
    ) -> Result<Response, String> {
        let mut url = self.url.clone();
        for _ in 0..=MAX_REDIRECTS {
            let client = self.http.client(url.as_str()).map_err(|it| it.message)?;
            let accept = match method {
                Method::POST => "application/json, text/event-stream",
                _ => EVENT_STREAM,
            };
            let mut headers = self.headers.clone();
            headers.insert(ACCEPT, HeaderValue::from_static(accept));
            let version = shared
                .version()
                .and_then(|it| HeaderValue::from_str(it).ok());
            headers.extend(version.map(|it| (VERSION, it)));
            headers.extend(self.session.get().map(|it| (SESSION, it.clone())));
            let mut request = client.request(method.clone(), url.clone());
            if let Some(text) = text {
                headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
                request = request.body(text.to_owned());
            }
            let sent = request.headers(headers).send().await;
            let response = sent.map_err(|error| self.failure(&error))?;
            match redirect(&response, &url)? {
                Some(to) => url = to,
                None => return Ok(response),
            }
        }
        Err("its url redirects too often. Check it".to_owned())
    }

    /// What an answer says that isn't a success.
    async fn refusal(&self, shared: &Shared, response: Response) -> Failure {
        let status = response.status();
        let number = status.as_u16();
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return Failure::Unanswered(if self.headers.is_empty() {
                format!(
                    "it refuses access ({number}). Write \"headers\" into its entry in mcp.json, such as \
                     \"Authorization\": \"Bearer ${{TOKEN}}\". tiller can't log in with a browser"
                )
            } else {
                format!("it refuses access ({number}). Check the headers of its entry in mcp.json")
            });
        }
        let is_page = content_type(&response).contains("html");
        let body = error_body(response).await;
        let json: Value = serde_json::from_slice(&body).unwrap_or_default();
        let said = json["error"]["message"].as_str();
        let said = said.map_or_else(|| String::from_utf8_lossy(&body), Into::into);
        if self.session.get().is_some() {
            if status == StatusCode::NOT_FOUND {
                return Failure::Expired;
            }
            // It may have done something: only the next request begins another session.
            if status == StatusCode::BAD_REQUEST && said.to_lowercase().contains("session") {
                shared.expire();
            }
        }
        let mut text = format!("it answered with status {number}");
        if !is_page && !said.trim().is_empty() {
            text = format!("{text}: {}", one_line(&said));
        }
        if shared.version().is_none() && matches!(number, 400 | 404 | 405) {
            text.push_str(
                ". Check its url, which often ends in /mcp; tiller can't use the older SSE transport",
            );
        }
        Failure::Unanswered(text)
    }

    fn lost(&self, error: &reqwest::Error) -> Failure {
        Failure::Unanswered(self.failure(error))
    }

    fn failure(&self, error: &reqwest::Error) -> String {
        let url = self.url.as_str();
        let idle = self.http.idle_timeout(url);
        let failed = transport_error(error, &shown(url), &AddressSource::BuiltIn, idle);
        match failed.hint.filter(|_| error.is_connect()) {
            Some(hint) => format!("{}. {hint}", failed.message),
            None => failed.message,
        }
    }
}

fn too_large() -> Failure {
    Failure::Unanswered(format!(
        "it sent more than {} MB in one message",
        MAX_MESSAGE >> 20
    ))
}

fn content_type(response: &Response) -> String {
    let kind = response.headers().get(CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default();
    kind.trim().to_ascii_lowercase()
}

/// Where the server at `url` redirects to, on the same host.
fn redirect(response: &Response, url: &Url) -> Result<Option<Url>, String> {
    let status = response.status();
    let to = response.headers().get(LOCATION);
    let to = to.and_then(|to| url.join(to.to_str().ok()?).ok());
    let Some(to) = to.filter(|_| status.is_redirection()) else {
        return Ok(None);
    };
    let keeps_method = matches!(
        status,
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
    );
    if keeps_method && to.origin() == url.origin() {
        return Ok(Some(to));
    }
    let to = shown(to.as_str());
    Err(format!(
        "it redirects to {to}. If you trust that address, write it as its url"
    ))
}
