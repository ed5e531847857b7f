//! All wires behind one [`Provider`]: finds key and address, then dispatches on the model's api.
//!
//! The only file that knows which wires there are.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};

use super::anthropic::{self, AnthropicDecoder};
use super::auth::Keys;
use super::catalog::Catalog;
use super::classify::Subject;
use super::error::{ErrorClass, LlmError};
use super::event::StreamEvent;
use super::exchange;
use super::http::Http;
use super::model::{Api, Model};
use super::openai::chat::{self, ChatDecoder};
use super::provider::{Provider, Request};

/// Speaks to every model of the catalog. Cheap to make: the HTTP client is built on first use.
pub struct Wires {
    catalog: Arc<Catalog>,
    keys: Keys,
    scripted: Option<Arc<dyn Provider>>,
    http: Http,
}

impl Wires {
    /// Wires for the models of `catalog`, with `keys`; models of [`Api::Scripted`] go to
    /// `scripted`.
    pub fn new(catalog: Arc<Catalog>, keys: Keys, scripted: Option<Arc<dyn Provider>>) -> Self {
        Self {
            catalog,
            keys,
            scripted,
            http: Http::default(),
        }
    }

    /// The same with another patience for servers that fall silent than
    /// [`IDLE_TIMEOUT`](super::http::IDLE_TIMEOUT).
    pub fn with_idle_timeout(mut self, idle: Duration) -> Self {
        self.http = Http::with_idle_timeout(idle);
        self
    }
}

impl Provider for Wires {
    fn stream(&self, mut request: Request) -> BoxStream<'static, StreamEvent> {
        if !request.model.tools {
            // Its server would refuse the whole request.
            request.tools.clear();
        }
        let model = &request.model;
        if let (Api::Scripted, Some(scripted)) = (model.api, &self.scripted) {
            return scripted.stream(request);
        }
        let key = match self.catalog.key(&model.provider, &self.keys) {
            Ok(key) => key,
            Err(error) => return failed(error),
        };
        let base_url = self.catalog.base_url(model, &self.keys);
        let about = Subject {
            model: model.full_id(),
            key_hint: self.catalog.key_hint(&model.provider),
        };
        match model.api {
            Api::AnthropicMessages => {
                let decoder = AnthropicDecoder::new(model.prices.clone(), about.clone());
                let call = anthropic::call(&request, &base_url, key, about);
                exchange::run(self.http.clone(), call, decoder)
            }
            // Until the Responses wire is there: the same hosts speak both.
            Api::OpenAiChat | Api::OpenAiResponses => {
                let decoder = ChatDecoder::new(model.prices.clone(), about.clone());
                let call = chat::call(&request, &base_url, key, about);
                exchange::run(self.http.clone(), call, decoder)
            }
            Api::GoogleGenerateContent | Api::Scripted => failed(LlmError::new(
                ErrorClass::Client,
                format!(
                    "{}: the wire {} is not available yet",
                    about.model,
                    model.api.as_str()
                ),
            )),
        }
    }

    /// Builds the client and opens a connection, by a request for the host's root that costs
    /// nothing; not to servers without TLS, which are near and answer at once. Needs a running tokio
    /// runtime; without one it does nothing.
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
        let (http, url) = (self.http.clone(), self.catalog.base_url(model, &self.keys));
        runtime.spawn(async move {
            // Reading the certificates blocks for milliseconds: not on a thread that draws frames.
            let (build, at) = (http.clone(), url.clone());
            let built = tokio::task::spawn_blocking(move || build.client(&at).map(|_| ())).await;
            if let (Ok(Ok(())), Ok(client), true) =
                (built, http.client(&url), url.starts_with("https:"))
            {
                // Any answer will do, and none too: the first real request says what is wrong.
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
