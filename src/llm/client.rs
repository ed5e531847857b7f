//! The [`Provider`] for all APIs: finds the key and the address, then dispatches on the model's API.
//!
//! A new API is a folder like `anthropic`, a variant of [`Api`], and its arms here: the wire, the
//! header of its key and its other headers. `quirks`, `handoff` and `probe` also tell some APIs apart.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt, StreamExt};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::adapt::{self, Learned};
use super::anthropic::{self, AnthropicDecoder};
use super::api::Api;
use super::auth::{KeyLocation, KeySpec, Keys, Secret};
use super::catalog::Catalog;
use super::classify::ErrorContext;
use super::decoder::Decoder;
use super::error::{ErrorClass, LlmError};
use super::event::StreamEvent;
use super::exchange::{self, HttpRequest};
use super::google::{self, GoogleDecoder};
use super::http::Http;
use super::local;
use super::model::Model;
use super::openai::chat::{self, ChatDecoder};
use super::openai::responses::{self, ResponsesDecoder};
use super::options;
use super::output_limit;
use super::provider::{Provider, Request};
use super::window_check;

/// Prompt caching, for providers that cache only on request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptCaching {
    /// Send cache breakpoints and keys.
    On,
    /// Also ask Anthropic to cache for an hour instead of five minutes.
    Hour,
    /// Don't ask. A provider may still cache automatically.
    Off,
}

/// Speaks to every model of the catalog. Cheap to make: it builds the HTTP client on first use.
#[derive(Clone)]
pub struct Client {
    catalog: Arc<Catalog>,
    keys: Keys,
    scripted: Option<Arc<dyn Provider>>,
    http: Http,
    smallest_window: u64,
    caching: PromptCaching,
    max_output: Option<u64>,
    learned: Arc<Learned>,
}

/// The answer, or the error it would start with.
type Answer = Result<BoxStream<'static, StreamEvent>, LlmError>;

impl Client {
    /// A client for the models of `catalog`, with `keys`. Models of [`Api::Scripted`] go to `scripted`.
    pub fn new(catalog: Arc<Catalog>, keys: Keys, scripted: Option<Arc<dyn Provider>>) -> Self {
        Self {
            catalog,
            keys,
            scripted,
            http: Http::default(),
            smallest_window: window_check::MIN_CONTEXT,
            caching: PromptCaching::On,
            max_output: None,
            learned: Arc::default(),
        }
    }

    /// Accepts only models with at least this window in tokens, instead of
    /// [`MIN_CONTEXT`](window_check::MIN_CONTEXT).
    pub fn with_smallest_window(mut self, tokens: u64) -> Self {
        self.smallest_window = tokens;
        self
    }

    /// Sets whether to ask providers to cache prompts.
    pub fn with_caching(mut self, caching: PromptCaching) -> Self {
        self.caching = caching;
        self
    }

    /// Sets the output limit of requests that don't set their own, in tokens.
    pub fn with_max_output(mut self, tokens: Option<u64>) -> Self {
        self.max_output = tokens;
        self
    }

    /// Sets how long a remote server can stay silent, instead of
    /// [`IDLE_TIMEOUT`](super::http::IDLE_TIMEOUT).
    pub fn with_idle_timeout(mut self, idle: impl Into<Option<Duration>>) -> Self {
        self.http = idle
            .into()
            .map_or_else(Http::default, Http::with_idle_timeout);
        self
    }

    /// Asks for the answer, and retries without optional parts that the server refuses.
    async fn answer(&self, mut request: Request) -> Answer {
        let asked = |request: &Request| output_limit::asked(&wire(request)?.body);
        let mut changes = 0;
        loop {
            let error = match self.ask(&request).await {
                Err(error) if changes < adapt::MOST => error,
                answer => return answer,
            };
            request = self.learned.adapt(&request, &error, asked).ok_or(error)?;
            changes += 1;
        }
    }

    /// The request, reduced to what its model accepts.
    fn fit(&self, mut request: Request) -> Request {
        if !request.model.tools {
            // Its server would refuse the whole request otherwise.
            request.tools.clear();
        }
        if self.caching == PromptCaching::Off {
            request.session_id = None;
            request.model.quirks.cache_marks = false;
        }
        request.model.quirks.hour_cache |= self.caching == PromptCaching::Hour;
        request.max_output = request.max_output.or(self.max_output);
        self.learned.apply(&mut request);
        request
    }

    /// Sends the request with the provider's key. If the key is missing or refused, looks for it again.
    /// The user may have replaced it, and keys from commands can expire.
    async fn ask(&self, request: &Request) -> Answer {
        let provider = &request.model.provider;
        let place = self.key_location(provider).or_else(|_| {
            self.keys.reload();
            self.key_location(provider)
        })?;
        let key = self.keys.fetch(provider, &place).await?;
        let mut headers = self.headers(provider).await?;
        add_own_headers(&mut headers, request);
        match (self.send(request, headers.clone(), key.clone()).await, key) {
            // Google refuses a key with 400.
            (Err(error), Some(key))
                if error.class == ErrorClass::Auth && matches!(error.status, Some(400 | 401)) =>
            {
                self.keys.reload();
                let place = self.key_location(provider).map_err(|_| error.clone())?;
                let new = self.keys.renew(provider, &place, &key).await.ok_or(error)?;
                self.send(request, headers, Some(new)).await
            }
            (answer, _) => answer,
        }
    }

    fn key_location(&self, provider: &str) -> Result<KeyLocation, LlmError> {
        let models = self.catalog.current();
        models.provider_auth(provider).key_location(&self.keys)
    }

    /// The provider's headers from the catalog and the user, besides those of the API.
    async fn headers(&self, provider: &str) -> Result<HeaderMap, LlmError> {
        let models = self.catalog.current();
        let file = models.file();
        let mut headers = HeaderMap::new();
        for (name, value) in models.headers(provider) {
            let fault = |what: &str| {
                let at = format!("{}: providers.{provider}.headers.{name}", file.display());
                LlmError::new(ErrorClass::Client, format!("{at}: {what}"))
            };
            let value = match KeySpec::parse(value) {
                KeySpec::Literal(value) => value,
                KeySpec::Variable(variable) => match self.keys.get(&variable) {
                    Some(value) => {
                        let value = Secret::new(value);
                        self.keys.redactor().add_named(&variable, &value);
                        value
                    }
                    None => {
                        return Err(fault(&format!("the variable {variable} isn't set"))
                            .with_hint(format!("Set it with: export {variable}=VALUE")));
                    }
                },
                KeySpec::Command(command) => {
                    let place = KeyLocation::Command(command, file.to_owned());
                    let whose = format!("{provider} (header {name})");
                    let value = self.keys.fetch(&whose, &place).await?;
                    value.unwrap_or_else(|| Secret::new(""))
                }
            };
            let (Ok(name), Ok(mut value)) = (
                HeaderName::from_bytes(name.as_bytes()),
                HeaderValue::from_str(value.expose()),
            ) else {
                return Err(fault(
                    "its value has characters that a header can't contain",
                ));
            };
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        Ok(headers)
    }

    async fn send(&self, request: &Request, mut headers: HeaderMap, key: Option<Secret>) -> Answer {
        let model = &request.model;
        let models = self.catalog.current();
        let context = ErrorContext {
            model: model.full_id(),
            key_hint: models.provider_auth(&model.provider).hint(&self.keys),
            empty_400_is_overflow: model.quirks.empty_400_is_overflow,
            address: models.address_source(model, &self.keys),
            redactor: self.keys.redactor().clone(),
        };
        if let Some(key) = &key {
            let (name, value) = key_header(model, key).ok_or_else(|| {
                let what = "the key has characters that a key can't contain";
                let error = context.error(ErrorClass::Auth, what);
                error.with_hint(context.key_hint.clone())
            })?;
            headers.entry(name).or_insert(value);
        }
        let Some(Wire { url, body, decoder }) = wire(request) else {
            let what = "no script is loaded for this model";
            return Err(context.error(ErrorClass::Client, what));
        };
        let http_request = HttpRequest {
            url,
            headers,
            body,
            context,
            prices: model.prices.clone(),
        };
        let mut events = exchange::run(self.http.clone(), http_request, decoder);
        match events.next().await {
            Some(StreamEvent::Error(error)) => Err(responses::explained(error, model)),
            first => Ok(stream::iter(first).chain(events).boxed()),
        }
    }
}

/// A request as its API wants it.
struct Wire {
    url: String,
    /// JSON, including the user's own fields.
    body: Vec<u8>,
    decoder: Box<dyn Decoder>,
}

/// The request for `request`'s API, or `None` for scripts, which have no server.
fn wire(request: &Request) -> Option<Wire> {
    let model = &request.model;
    let (url, body, decoder): (String, Vec<u8>, Box<dyn Decoder>) = match model.api {
        Api::AnthropicMessages => (
            anthropic::request::url(model),
            anthropic::request::body(request),
            Box::<AnthropicDecoder>::default(),
        ),
        Api::OpenAiChat => (
            chat::request::url(model),
            chat::request::body(request),
            Box::<ChatDecoder>::default(),
        ),
        Api::OpenAiResponses => (
            responses::request::url(model),
            responses::request::body(request),
            Box::<ResponsesDecoder>::default(),
        ),
        Api::GoogleGenerateContent => (
            google::request::url(model),
            google::request::body(request),
            Box::new(GoogleDecoder::new(request.messages.len())),
        ),
        Api::Scripted => return None,
    };
    let body = options::lay_over(body, &model.options);
    Some(Wire { url, body, decoder })
}

/// The header with `key` for the server of `model`, or `None` if a header can't contain the key.
pub(super) fn key_header(model: &Model, key: &Secret) -> Option<(HeaderName, HeaderValue)> {
    let (name, prefix) = match model.api {
        Api::AnthropicMessages if !model.quirks.bearer => ("x-api-key", ""),
        Api::GoogleGenerateContent => ("x-goog-api-key", ""),
        _ => ("authorization", "Bearer "),
    };
    let mut value = HeaderValue::from_str(&format!("{prefix}{}", key.expose())).ok()?;
    value.set_sensitive(true);
    Some((HeaderName::from_static(name), value))
}

/// Adds the API's headers, the session's for the cache, and the user's, which win.
fn add_own_headers(headers: &mut HeaderMap, request: &Request) {
    let model = &request.model;
    let mut own = match model.api {
        Api::AnthropicMessages => anthropic::request::headers(request),
        _ => Vec::new(),
    };
    if let Some(id) = &request.session_id {
        let names = model.quirks.session_headers.iter();
        own.extend(names.map(|name| (name.as_str(), id.as_str())));
    }
    for (name, value) in own {
        if let (Ok(name), Ok(value)) = (
            HeaderName::from_bytes(name.as_bytes()),
            HeaderValue::from_str(value),
        ) {
            headers.entry(name).or_insert(value);
        }
    }
}

impl Provider for Client {
    fn stream(&self, request: Request) -> BoxStream<'static, StreamEvent> {
        let request = self.fit(request);
        if let Some(error) = window_check::check_min(&request.model, self.smallest_window) {
            return failed(error);
        }
        if let (Api::Scripted, Some(scripted)) = (request.model.api, &self.scripted) {
            return scripted.stream(request);
        }
        let client = self.clone();
        let answer = async move { client.answer(request).await.unwrap_or_else(failed) };
        stream::once(answer).flatten().boxed()
    }

    fn loaded_window(&self, model: &Model) -> BoxFuture<'static, Option<u64>> {
        local::loaded_window(model.clone()).boxed()
    }

    /// Fetches the key, builds the client and opens a connection with a free request for the host's
    /// root. Skips servers without TLS, which are local and answer at once. Needs a tokio runtime;
    /// without one it does nothing.
    fn warm(&self, model: &Model) {
        if model.api == Api::Scripted {
            if let Some(scripted) = &self.scripted {
                scripted.warm(model);
            }
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        if let Ok(place) = self.key_location(&model.provider) {
            let (keys, provider) = (self.keys.clone(), model.provider.clone());
            // The first request reports what is wrong with it.
            runtime.spawn(async move { keys.fetch(&provider, &place).await.is_ok() });
        }
        let (http, url) = (self.http.clone(), model.base_url.clone());
        runtime.spawn(async move {
            // Reading the certificates takes milliseconds, so not on a thread that draws frames.
            let (build, at) = (http.clone(), url.clone());
            let built = tokio::task::spawn_blocking(move || build.client(&at).map(|_| ())).await;
            if let (Ok(Ok(())), Ok(client), true) =
                (built, http.client(&url), url.starts_with("https:"))
            {
                // Ignore the answer and any error: the first real request reports what is wrong.
                let _ = client
                    .head(url)
                    .timeout(Duration::from_secs(10))
                    .send()
                    .await;
            }
        });
    }
}

fn failed(error: LlmError) -> BoxStream<'static, StreamEvent> {
    stream::iter([StreamEvent::Error(error)]).boxed()
}
