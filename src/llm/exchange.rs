//! One streamed request: sends it, splits the answer into events and passes them to an API's decoder.
//!
//! All failures end up as the stream's last event. Each API provides an address, a body and a
//! [`Decoder`].

use std::borrow::Cow;
use std::fmt::Write;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream, Stream};
use reqwest::Response;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap};
use serde_json::Value;

use super::address::AddressSource;
use super::auth::Redactor;
use super::classify::{self, ErrorContext};
use super::decoder::{Decoder, EventWriter};
use super::error::{ErrorClass, LlmError};
use super::event::StreamEvent;
use super::http::{self, Http};
use super::model::Prices;
use super::sse::{SseEvent, SseParser, TooLarge};

pub(super) struct HttpRequest {
    pub url: String,
    /// Includes the key's header.
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    /// For error messages.
    pub context: ErrorContext,
    pub prices: Prices,
}

/// Turns bytes into events: the part of an exchange that needs no network.
pub struct StreamReader {
    parser: SseParser,
    decoder: Box<dyn Decoder>,
    writer: EventWriter,
    /// The last event wasn't valid JSON. If more events follow, the provider sent a broken one; if not,
    /// the stream broke in the middle of it.
    invalid: bool,
}

impl StreamReader {
    /// A reader for one response of the model in `context`, which costs `prices`.
    pub fn new(decoder: Box<dyn Decoder>, prices: Prices, context: ErrorContext) -> Self {
        Self {
            parser: SseParser::default(),
            decoder,
            writer: EventWriter::new(prices, context),
            invalid: false,
        }
    }

    /// Takes the next bytes, split anywhere. Ignores anything after the end of a response.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<StreamEvent>) {
        let mut events = Vec::new();
        let taken = self.parser.push(bytes, |event| events.push(event));
        for event in events {
            self.event(&event);
        }
        if let Err(TooLarge) = taken {
            self.fail("the server sent an event that is too large");
        }
        self.writer.drain_into(out);
    }

    /// The server closed the stream: writes the last event if it is still missing.
    pub fn end(&mut self, out: &mut Vec<StreamEvent>) {
        if let Some(event) = self.parser.finish() {
            self.event(&event);
        }
        if !self.complete() {
            match error_in(self.parser.stray()) {
                Some(json) => self.error(&json),
                None => self.fail("stream ended early"),
            }
        }
        self.writer.drain_into(out);
    }

    fn event(&mut self, event: &SseEvent) {
        let data = event.data.trim();
        if self.invalid {
            self.writer.invalid_event();
        } else if data == "[DONE]" {
            self.decoder.done_marker(&mut self.writer);
        } else {
            match serde_json::from_str(data) {
                Err(_) => self.invalid = !data.is_empty(),
                Ok(Value::Array(responses)) => {
                    for json in &responses {
                        self.json(&event.event, json);
                    }
                }
                Ok(json) => self.json(&event.event, &json),
            }
        }
    }

    fn json(&mut self, event: &str, json: &Value) {
        if self.writer.finished() {
            return;
        }
        let name = json["type"].as_str().unwrap_or(event);
        if name == "error" || event == "error" || !json["error"].is_null() {
            self.error(json);
        } else {
            self.decoder.decode(name, json, &mut self.writer);
        }
    }

    /// Whether only the end of the stream is missing from the response.
    fn complete(&mut self) -> bool {
        if !self.invalid {
            self.decoder.end(&mut self.writer);
        }
        self.writer.finished()
    }

    fn error(&mut self, json: &Value) {
        let error = classify::from_event(json, self.writer.context());
        self.writer.error(error);
    }

    fn fail(&mut self, what: &str) {
        let error = self.writer.context().error(ErrorClass::Retryable, what);
        self.writer.error(error.with_hint(http::TRY_AGAIN));
    }
}

/// The JSON of an error body.
fn error_in(body: &[u8]) -> Option<Value> {
    let json: Value = serde_json::from_slice(body).ok()?;
    (!json["error"].is_null() || !json[0]["error"].is_null()).then_some(json)
}

/// How long to wait for the rest of a complete response, to reuse its connection.
const DRAIN: Duration = Duration::from_secs(2);

/// Sends `request` as the stream is polled. Dropping the stream closes the connection.
pub(super) fn run(
    http: Http,
    request: HttpRequest,
    decoder: Box<dyn Decoder>,
) -> BoxStream<'static, StreamEvent> {
    let redactor = request.context.redactor.clone();
    let exchange = Exchange {
        target: http::shown(&request.url),
        http,
        context: request.context.clone(),
    };
    let reader = StreamReader::new(decoder, request.prices.clone(), request.context.clone());
    let answer = async move {
        match exchange.send(request).await {
            Ok(response) => exchange.read(response, reader).boxed(),
            Err(error) => stream::iter([StreamEvent::Error(error)]).boxed(),
        }
    };
    let events = stream::once(answer).flatten();
    events.map(move |event| redacted(event, &redactor)).boxed()
}

struct Exchange {
    http: Http,
    target: String,
    context: ErrorContext,
}

impl Exchange {
    async fn send(&self, request: HttpRequest) -> Result<Response, LlmError> {
        let client = self.http.client(&request.url)?;
        let post = client
            .post(&request.url)
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "text/event-stream")
            .headers(request.headers);
        let sent = post.body(request.body).send().await;
        let response = sent.map_err(|error| {
            let mut failed = self.transport(&error);
            // A local model would start reading the same prompt again.
            failed.retry_is_futile |= error.is_timeout() && http::is_loopback(&self.target);
            failed
        })?;
        self.http.record_answer(&self.target);
        let status = response.status();
        if !status.is_success() {
            let headers = response.headers().clone();
            let mut body = http::error_body(response).await;
            if let (true, Some(to)) = (status.is_redirection(), headers.get("location")) {
                let to = String::from_utf8_lossy(to.as_bytes());
                body = format!("to {}", http::shown(&to)).into_bytes();
            }
            let status = status.as_u16();
            let mut error = classify::from_response(status, &headers, &body, &self.context);
            if status == 404 && error.class == ErrorClass::Client {
                let _ = write!(error.message, " (asked {})", self.target);
                let is_own = self.context.address != AddressSource::BuiltIn;
                if is_own && !self.target.contains("/v1") {
                    let hint = error.hint.get_or_insert_default();
                    hint.push_str(". Most servers need /v1 at its end");
                }
            }
            return Err(error);
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

    /// A success that isn't an event stream: a hidden error, a login page, or no streaming.
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
            "{} answered with {what} instead of an event stream",
            self.target
        );
        let error = self.context.error(ErrorClass::Client, &text);
        let mut error = error.with_hint(self.context.address.check_base_url());
        error.status = Some(status);
        error
    }

    fn read(self, response: Response, reader: StreamReader) -> impl Stream<Item = StreamEvent> {
        let state = (self, reader, Some(response));
        let chunks = stream::unfold(state, |(exchange, mut reader, response)| async move {
            let mut response = response?;
            let mut out = Vec::new();
            let rest = match response.chunk().await {
                Ok(Some(bytes)) => {
                    reader.push(&bytes, &mut out);
                    if reader.writer.finished() {
                        drain(response);
                        None
                    } else {
                        Some(response)
                    }
                }
                Ok(None) => {
                    reader.end(&mut out);
                    None
                }
                Err(error) => {
                    // An answer is complete even if only the end of its stream is missing.
                    if !reader.complete() {
                        reader.writer.error(exchange.transport(&error));
                    }
                    reader.writer.drain_into(&mut out);
                    None
                }
            };
            Some((stream::iter(out), (exchange, reader, rest)))
        });
        chunks.flatten()
    }

    fn transport(&self, failed: &reqwest::Error) -> LlmError {
        let idle = self.http.idle_timeout(&self.target);
        let mut error = http::transport_error(failed, &self.target, &self.context.address, idle);
        let model = &self.context.model;
        if error.retry_is_futile && http::is_unknown_host(failed) {
            // A host that has answered before is back when the network is.
            error.retry_is_futile = !self.http.has_answered(&self.target);
        }
        error.message = format!("{model}: {}", error.message);
        error
    }
}

/// Servers quote requests: an error must not contain the key.
fn redacted(mut event: StreamEvent, redactor: &Redactor) -> StreamEvent {
    if let StreamEvent::Error(error) = &mut event {
        for text in std::iter::once(&mut error.message).chain(&mut error.hint) {
            if let Cow::Owned(redacted) = redactor.redact(text) {
                *text = redacted;
            }
        }
    }
    event
}

/// Reads the rest of a complete response. The next request can reuse a connection only after its body
/// was read to the end.
fn drain(mut response: Response) {
    tokio::spawn(async move {
        let rest = async { while let Ok(Some(_)) = response.chunk().await {} };
        let _ = tokio::time::timeout(DRAIN, rest).await;
    });
}
