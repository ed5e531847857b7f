//! Asks a provider whether it accepts the configured key.

use crate::llm::classify::ErrorContext;
use crate::llm::http::Http;
use crate::llm::probe::{Verdict, probe};
use crate::llm::{Catalog, Keys};

pub async fn check_key(catalog: &Catalog, keys: &Keys, http: &Http, provider: &str) -> Verdict {
    let models = catalog.current();
    let fetched = match models.provider_auth(provider).key_location(keys) {
        Ok(location) => keys.fetch(provider, &location).await,
        Err(error) => Err(error),
    };
    let key = match fetched {
        Ok(key) => key,
        Err(error) => return Verdict::Refused(error.to_string().replace('\n', ". ")),
    };
    let Some(model) = models.provider_template(provider, keys) else {
        return Verdict::Unclear("its address is unknown".to_owned());
    };
    let context = ErrorContext {
        model: provider.to_owned(),
        redactor: keys.redactor().clone(),
        ..ErrorContext::default()
    };
    probe(http, &model, key.as_ref(), &context).await
}
