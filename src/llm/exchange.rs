//! One streamed request: sends it, cuts the answer into events, lets an API's decoder read them.
//!
//! All failures end up as the stream's last event. Knows no API: each brings an
//! `Endpoint`, a body and a [`Decoder`].

use std::borrow::Cow;
use std::collections::VecDeque;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use reqwest::Response;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use serde_json::Value;

use super::auth::Secret;
use super::classify::{self, ErrorContext};
use super::error::{ErrorClass, LlmError};
use super::event::StreamEvent;
use super::http::{self, Http};
use super::sse::{SseEvent, SseParser};

/// What is sent.
pub(crate) struct HttpRequest {
    pub endpoint: Endpoint,
    pub key: Option<Secret>,
    /// JSON.
    pub body: Vec<u8>,
    /// What errors are about.
    pub context: ErrorContext,
}

/// Where an API takes requests, and how.
pub(crate) struct Endpoint {
    pub url: String,
    /// Headers beside those of the key, content type and accept.
    pub headers: Vec<(&'static str, String)>,
    pub key_header: KeyHeader,
}

impl Endpoint {
    /// The endpoint of an API in the manner of OpenAI.
    pub fn bearer(url: String) -> Self {
        Self {
            url,
            headers: Vec::new(),
            key_header: KeyHeader::BEARER,
        }
    }
}

/// The header for the key, and what stands before the key in it.
#[derive(Clone, Copy)]
pub(crate) struct KeyHeader(pub &'static str, pub &'static str);

impl KeyHeader {
    pub const BEARER: Self = Self("authorization", "Bearer ");

    /// The header's value; none if `key` holds characters that no header can hold.
    pub fn value(self, key: &Secret) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(&format!("{}{}", self.1, key.expose())).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

/// Reads one API's events.
pub trait Decoder: Send + Sync + 'static {
    /// Takes the JSON of one event called `name`; says whether the response is complete with it.
    /// Errors of the provider never get here.
    fn decode(&mut self, name: &str, json: &Value, out: &mut Vec<StreamEvent>) -> Decoded;

    /// Takes the end marker `[DONE]`. Some gateways send it on APIs that have none.
    fn done_marker(&mut self, out: &mut Vec<StreamEvent>) -> Decoded {
        self.end(out)
    }

    /// The server closed the stream. Pushes the last event if the response is complete all the
    /// same; otherwise the exchange reports that it ended early.
    fn end(&mut self, _out: &mut Vec<StreamEvent>) -> Decoded {
        Decoded::More
    }
}

/// The text of a JSON string that is not empty.
pub fn non_empty(value: &Value) -> Option<String> {
    let text = value.as_str().filter(|text| !text.is_empty())?;
    Some(text.to_owned())
}

/// How far a response is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// More is to come.
    More,
    /// `Done` or `Error` has been pushed.
    Finished,
}

/// From bytes to events: the part of an exchange that needs no network.
pub struct StreamReader {
    parser: SseParser,
    decoder: Box<dyn Decoder>,
    context: ErrorContext,
    progress: Decoded,
    /// The last event was not valid JSON. If more follows, the provider sent a broken event; if
    /// not, the stream broke off in the middle of one.
    invalid: bool,
}

impl StreamReader {
    /// A reader for one response, whose errors are about `about`.
    pub fn new(decoder: impl Decoder, context: ErrorContext) -> Self {
        Self::boxed(Box::new(decoder), context)
    }

    fn boxed(decoder: Box<dyn Decoder>, context: ErrorContext) -> Self {
        Self {
            parser: SseParser::default(),
            decoder,
            context,
            progress: Decoded::More,
            invalid: false,
        }
    }

    /// Takes the next bytes, split anywhere. What follows the end of a response is ignored.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<StreamEvent>) -> Decoded {
        let mut events = Vec::new();
        let taken = self.parser.push(bytes, |event| events.push(event));
        for event in events {
            self.event(&event, out);
        }
        if let (Err(error), Decoded::More) = (taken, self.progress) {
            self.fail(&error.to_string(), out);
        }
        self.progress
    }

    /// The server closed the stream: pushes the last event, if there was none.
    pub fn end(&mut self, out: &mut Vec<StreamEvent>) {
        if let Some(event) = self.parser.finish() {
            self.event(&event, out);
        }
        if self.close(out) == Decoded::More {
            match error_in(self.parser.stray()) {
                Some(json) => {
                    let error = classify::from_event(&json, &self.context);
                    out.push(StreamEvent::Error(error));
                }
                None => self.fail("stream ended early", out),
            }
        }
    }

    /// Takes one event. What follows the end of a response is ignored.
    fn event(&mut self, event: &SseEvent, out: &mut Vec<StreamEvent>) {
        if self.progress == Decoded::Finished {
            return;
        }
        let data = event.data.trim();
        if self.invalid {
            out.push(StreamEvent::Error(classify::invalid_event(&self.context)));
            self.progress = Decoded::Finished;
            return;
        }
        if data == "[DONE]" {
            self.progress = self.decoder.done_marker(out);
            return;
        }
        match serde_json::from_str(data) {
            Err(_) => self.invalid = !data.is_empty(),
            Ok(Value::Array(responses)) => {
                for json in &responses {
                    self.json(&event.event, json, out);
                }
            }
            Ok(json) => self.json(&event.event, &json, out),
        }
    }

    fn json(&mut self, event: &str, json: &Value, out: &mut Vec<StreamEvent>) {
        if self.progress == Decoded::Finished {
            return;
        }
        let name = json["type"].as_str().unwrap_or(event);
        if name == "error" || event == "error" || !json["error"].is_null() {
            out.push(StreamEvent::Error(classify::from_event(
                json,
                &self.context,
            )));
            self.progress = Decoded::Finished;
        } else {
            self.progress = self.decoder.decode(name, json, out);
        }
    }

    /// Ends a response that is complete but for the end of its stream.
    fn close(&mut self, out: &mut Vec<StreamEvent>) -> Decoded {
        if self.progress == Decoded::More && !self.invalid {
            self.progress = self.decoder.end(out);
        }
        self.progress
    }

    fn fail(&mut self, what: &str, out: &mut Vec<StreamEvent>) {
        let what = format!("{}: {what}", self.context.model);
        let error = LlmError::new(ErrorClass::Retryable, what).with_hint(http::TRY_AGAIN);
        out.push(StreamEvent::Error(error));
        self.progress = Decoded::Finished;
    }
}

/// The JSON of a body that says what went wrong.
fn error_in(body: &[u8]) -> Option<Value> {
    let json: Value = serde_json::from_slice(body).ok()?;
    (!json["error"].is_null() || !json[0]["error"].is_null()).then_some(json)
}

/// How long the rest of a complete response is waited for, so that its connection can be used again.
const DRAIN: Duration = Duration::from_secs(2);

/// Sends `request` as the stream is polled and decodes the answer. Dropping the stream closes the
/// connection.
pub(crate) fn run(
    http: Http,
    request: HttpRequest,
    decoder: Box<dyn Decoder>,
) -> BoxStream<'static, StreamEvent> {
    if let Some(key) = &request.key {
        request.context.redactor.add(key);
    }
    let exchange = Exchange {
        target: http::shown(&request.endpoint.url),
        http,
        context: request.context.clone(),
        reader: StreamReader::boxed(decoder, request.context.clone()),
        state: State::Start(Box::new(request)),
        ready: VecDeque::new(),
    };
    stream::unfold(exchange, |mut exchange| async move {
        let event = exchange.next().await?;
        Some((event, exchange))
    })
    .boxed()
}

struct Exchange {
    http: Http,
    target: String,
    context: ErrorContext,
    state: State,
    reader: StreamReader,
    ready: VecDeque<StreamEvent>,
}

enum State {
    Start(Box<HttpRequest>),
    Reading(Response),
    Ended,
}

impl Exchange {
    async fn next(&mut self) -> Option<StreamEvent> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            match std::mem::replace(&mut self.state, State::Ended) {
                State::Start(request) => match self.send(*request).await {
                    Ok(response) => self.state = State::Reading(response),
                    Err(error) => self.fail(error),
                },
                State::Reading(response) => self.read(response).await,
                State::Ended => return None,
            }
        }
    }

    async fn send(&self, http_request: HttpRequest) -> Result<Response, LlmError> {
        let endpoint = &http_request.endpoint;
        let mut request = self
            .http
            .client(&endpoint.url)?
            .post(&endpoint.url)
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "text/event-stream");
        for (name, value) in &endpoint.headers {
            request = request.header(*name, value);
        }
        if let Some(key) = &http_request.key {
            let value = endpoint.key_header.value(key).ok_or_else(|| {
                let what = "the key holds characters that no key can hold";
                let what = format!("{}: {what}", self.context.model);
                LlmError::new(ErrorClass::Auth, what).with_hint(self.context.key_hint.clone())
            })?;
            request = request.header(endpoint.key_header.0, value);
        }
        // The user's own come last and win.
        let request = request.headers(self.http.headers().clone());
        let sent = request.body(http_request.body).send().await;
        let response = sent.map_err(|error| self.transport(&error))?;
        let status = response.status();
        if !status.is_success() {
            let headers = response.headers().clone();
            let mut body = http::error_body(response).await;
            if let (true, Some(to)) = (status.is_redirection(), headers.get("location")) {
                let to = String::from_utf8_lossy(to.as_bytes());
                body = format!("to {}", http::shown(&to)).into_bytes();
            }
            let status = status.as_u16();
            return Err(classify::from_response(
                status,
                &headers,
                &body,
                &self.context,
            ));
        }
        let kind = response
            .headers()
            .get(CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok());
        let kind = kind.unwrap_or_default().to_ascii_lowercase();
        if kind.contains("json") && !kind.contains("ndjson") || kind.contains("html") {
            return Err(self.no_stream(status.as_u16(), &kind, response).await);
        }
        Ok(response)
    }

    /// A success that is no event stream: an error in disguise, a login page, a server that cannot
    /// stream.
    async fn no_stream(&self, status: u16, kind: &str, response: Response) -> LlmError {
        let body = http::error_body(response).await;
        if let Some(json) = error_in(&body) {
            return classify::from_event(&json, &self.context);
        }
        let what = if kind.contains("html") {
            "a web page"
        } else {
            "plain JSON"
        };
        let text = format!(
            "{}: {} answered with {what} instead of an event stream",
            self.context.model, self.target
        );
        let mut error = LlmError::new(ErrorClass::Client, text).with_hint(
            "Is the base URL right? It is set by base_url in models.toml or by the provider's *_BASE_URL variable",
        );
        error.status = Some(status);
        error
    }

    async fn read(&mut self, mut response: Response) {
        let mut out = Vec::new();
        match response.chunk().await {
            Ok(Some(bytes)) => match self.reader.push(&bytes, &mut out) {
                Decoded::More => self.state = State::Reading(response),
                Decoded::Finished => drain(response),
            },
            Ok(None) => self.reader.end(&mut out),
            // Nothing is missing from an answer that is complete but for its stream's end.
            Err(error) => match self.reader.close(&mut out) {
                Decoded::Finished => {}
                Decoded::More => self.fail(self.transport(&error)),
            },
        }
        for event in out {
            self.push(event);
        }
    }

    fn transport(&self, error: &reqwest::Error) -> LlmError {
        let mut error = http::transport_error(error, &self.target, self.http.idle_timeout());
        error.message = format!("{}: {}", self.context.model, error.message);
        error
    }

    fn fail(&mut self, error: LlmError) {
        self.push(StreamEvent::Error(error));
    }

    /// Servers quote what they were sent: a key must not come back in an error.
    fn push(&mut self, mut event: StreamEvent) {
        if let StreamEvent::Error(error) = &mut event {
            for text in std::iter::once(&mut error.message).chain(&mut error.hint) {
                if let Cow::Owned(redacted) = self.context.redactor.redact(text) {
                    *text = redacted;
                }
            }
        }
        self.ready.push_back(event);
    }
}

/// Reads what is left of a complete response: a body that was read to its end leaves a connection
/// that the next request can use.
fn drain(mut response: Response) {
    tokio::spawn(async move {
        let rest = async { while let Ok(Some(_)) = response.chunk().await {} };
        let _ = tokio::time::timeout(DRAIN, rest).await;
    });
}
