//! Lists which providers have a key and where it comes from. Shows no key and runs no command.

use super::report::{Check, Section};
use crate::app::models::Models;
use crate::llm::{Catalog, Keys, local};

/// `default` is the model of a run, or why it can't have the model that the settings name.
pub fn keys(
    catalog: &Catalog,
    keys: &Keys,
    models: &Models,
    default: Result<Option<String>, String>,
) -> Section {
    let snapshot = catalog.current();
    let mut checks = Vec::new();
    for provider in snapshot.providers() {
        let auth = snapshot.provider_auth(provider);
        match auth.key_location(keys) {
            Ok(location) => checks.push(Check::good(provider, location.to_string())),
            Err(error) if auth.api_key.is_some() => {
                let way_out = error.hint.unwrap_or_default();
                checks.push(Check::hint(provider, error.message, way_out));
            }
            Err(_) => {}
        }
    }
    checks.sort_by(|one, other| one.name().cmp(other.name()));
    for found in models.found().iter() {
        let text = format!("{} at {}", found.server.facts().title, found.address);
        checks.push(Check::good("this machine", text));
    }
    checks.push(match default {
        Ok(Some(model)) => {
            let provider = model.split('/').next().unwrap_or_default();
            match models.missing_key(provider) {
                Some(error) => Check::bad("model", error.message, error.hint.unwrap_or_default()),
                None => Check::good("model", model),
            }
        }
        Ok(None) if local::is_listening(models.addrs()) => Check::bad(
            "none",
            "no API key found, and the server running here is none that tiller knows",
            "Describe it in models.toml: [providers.NAME] with api = \"openai-chat\", base_url and models",
        ),
        Ok(None) => Check::bad(
            "none",
            "no API key found, and no model server is running here",
            "tiller auth add anthropic, or export ANTHROPIC_API_KEY=... (or try the demo: tiller --demo)",
        ),
        Err(why) => Check::bad(
            "model",
            why,
            "To change it: tiller config set models.default PROVIDER/ID",
        ),
    });
    checks.extend(
        keys.store()
            .notice()
            .map(|notice| Check::hint("stored", notice, "")),
    );
    Section {
        title: "Keys and model (test keys with tiller auth check)",
        checks,
    }
}
