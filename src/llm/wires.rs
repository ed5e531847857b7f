//! All wires behind one [`Provider`]: dispatches on the model's api.

use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};

use super::auth::Keys;
use super::catalog::Catalog;
use super::error::{ErrorClass, LlmError};
use super::event::StreamEvent;
use super::model::{Api, Model};
use super::provider::{Provider, Request};

/// Speaks to every model of the catalog. Cheap to make: the HTTP client is built on first use.
pub struct Wires {
    catalog: Arc<Catalog>,
    keys: Keys,
    scripted: Option<Arc<dyn Provider>>,
}

impl Wires {
    /// Wires for the models of `catalog`, with `keys`; models of [`Api::Scripted`] go to
    /// `scripted`.
    pub fn new(catalog: Arc<Catalog>, keys: Keys, scripted: Option<Arc<dyn Provider>>) -> Self {
        Self {
            catalog,
            keys,
            scripted,
        }
    }
}

impl Provider for Wires {
    fn stream(&self, request: Request) -> BoxStream<'static, StreamEvent> {
        if let (Api::Scripted, Some(scripted)) = (request.model.api, &self.scripted) {
            return scripted.stream(request);
        }
        let error = match self.catalog.key(&request.model.provider, &self.keys) {
            Err(error) => error,
            Ok(_) => LlmError::new(
                ErrorClass::Client,
                format!(
                    "the wire {} is not available yet",
                    request.model.api.as_str()
                ),
            ),
        };
        stream::iter([StreamEvent::Error(error)]).boxed()
    }

    fn warm(&self, model: &Model) {
        let _ = model;
    }
}
