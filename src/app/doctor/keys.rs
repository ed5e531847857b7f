//! Lists which providers have a key and where it comes from. Shows no key and runs no command.

use std::net::TcpStream;
use std::time::Duration;

use super::report::{Check, Section};
use crate::app::models::Models;
use crate::llm::auth::KeyLocation;
use crate::llm::catalog::Snapshot;
use crate::llm::{Catalog, Keys, http, local};

/// Time limit for connecting to a server.
const LIMIT: Duration = Duration::from_secs(1);

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
            Ok(KeyLocation::None) => checks.push(server(&snapshot, provider, keys, &default)),
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
        Ok(None) if let Some(provider) = snapshot.provider_without_models() => {
            Check::bad("none", snapshot.has_no_models(provider), "")
        }
        Ok(None) if local::is_listening(models.addrs()) => Check::bad(
            "none",
            "no API key found, and the server running here is none that tiller knows",
            "Describe it in models.toml: [providers.NAME] with api = \"openai-chat\", base_url and models",
        ),
        Ok(None) => Check::bad(
            "none",
            "no API key found, and no model server is running here",
            "tiller auth add anthropic, or export ANTHROPIC_API_KEY=... (or try the demo: tiller demo)",
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

/// Whether the server of `provider`, which needs no key, accepts connections.
fn server(
    snapshot: &Snapshot,
    provider: &str,
    keys: &Keys,
    default: &Result<Option<String>, String>,
) -> Check {
    let model = snapshot.provider_template(provider, keys);
    let url = model.map(|model| model.base_url).unwrap_or_default();
    let shown = http::shown(&url);
    // Through a proxy, the connection says nothing about the server.
    if url.is_empty() || http::proxy_for(&url).is_some() {
        return Check::good(provider, "no key needed");
    }
    let way_out = "Start the server, or correct base_url in models.toml";
    let of_default = format!("{provider}/");
    match connect(&url) {
        Ok(()) => Check::good(provider, format!("no key needed; {shown} answers")),
        Err(why) => {
            let text = format!("can't connect to {shown}: {why}");
            match default {
                Ok(Some(model)) if model.starts_with(&of_default) => {
                    Check::bad(provider, text, way_out)
                }
                _ => Check::hint(provider, text, way_out),
            }
        }
    }
}

fn connect(url: &str) -> Result<(), String> {
    let addresses = http::addresses(url)?;
    let mut why = "it has no address".to_owned();
    for address in addresses {
        match TcpStream::connect_timeout(&address, LIMIT) {
            Ok(_) => return Ok(()),
            Err(error) => why = error.to_string(),
        }
    }
    Err(why)
}
