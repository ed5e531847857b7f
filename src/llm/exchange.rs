//! One streamed request: sends it, cuts the answer into events, lets an API's decoder read them.
//!
//! All failures end up as the stream's last event. Each API brings an address, a body and a
//! [`Decoder`].

use std::borrow::Cow;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream, Stream};
use reqwest::Response;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap};
use serde_json::Value;

use super::auth::Redactor;
use super::classify::{self, ErrorContext};
use super::decoder::{Decoder, EventWriter};
use super::error::{ErrorClass, LlmError};
use super::event::StreamEvent;
use super::http::{self, Http};
use super::model::Prices;
use super::sse::{SseEvent, SseParser, TooLarge};

pub(crate) struct HttpRequest {
    pub url: String,
    /// The key's among them.
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    /// What errors are about.
    pub context: ErrorContext,
    pub prices: Prices,
}

/// From bytes to events: the part of an exchange that needs no network.
pub struct StreamReader {
    parser: SseParser,
    decoder: Box<dyn Decoder>,
    writer: EventWriter,
    /// The last event was not valid JSON. If more follows, the provider sent a broken event; if
    /// not, the stream broke off in the middle of one.
    invalid: bool,
}

impl StreamReader {
    /// A reader for one response of the model that `context` names, which costs `prices`.
    pub fn new(decoder: Box<dyn Decoder>, prices: Prices, context: ErrorContext) -> Self {
        Self {
            parser: SseParser::default(),
            decoder,
            writer: EventWriter::new(prices, context),
            invalid: false,
        }
    }

    /// Takes the next bytes, split anywhere. What follows the end of a response is ignored.
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

    /// The server closed the stream: writes the last event, if there was none.
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

    /// Whether the response is complete, if only but for the end of its stream.
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

/// The JSON of a body that says what went wrong.
fn error_in(body: &[u8]) -> Option<Value> {
    let json: Value = serde_json::from_slice(body).ok()?;
    (!json["error"].is_null() || !json[0]["error"].is_null()).then_some(json)
}

/// How long the rest of a complete response is waited for, so that its connection can be used again.
const DRAIN: Duration = Duration::from_secs(2);

/// Sends `request` as the stream is polled and lets `decoder` read the answer. Dropping the stream
/// closes the connection.
pub(crate) fn run(
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
            // A model on this machine would begin to read the same prompt once more.
            failed.retry_is_futile = error.is_timeout() && http::is_loopback(&self.target);
            failed
        })?;
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
            "{} answered with {what} instead of an event stream",
            self.target
        );
        let error = self.context.error(ErrorClass::Client, &text);
        let mut error = error.with_hint(classify::CHECK_BASE_URL);
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
                    // Nothing is missing from an answer that is complete but for its stream's end.
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

    fn transport(&self, error: &reqwest::Error) -> LlmError {
        let mut error =
            http::transport_error(error, &self.target, self.http.idle_timeout(&self.target));
        error.message = format!("{}: {}", self.context.model, error.message);
        error
    }
}

/// Servers quote what they were sent: a key must not come back in an error.
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

/// Reads what is left of a complete response: a body that was read to its end leaves a connection
/// that the next request can use.
fn drain(mut response: Response) {
    tokio::spawn(async move {
        let rest = async { while let Ok(Some(_)) = response.chunk().await {} };
        let _ = tokio::time::timeout(DRAIN, rest).await;
    });
}
