//! Lists which providers have a key and where it comes from. Shows no key and runs no command.

use super::report::{Check, Section};
use crate::app::models::Models;
use crate::llm::auth::KeyLocation;
use crate::llm::{Catalog, Keys, local};

pub fn keys(catalog: &Catalog, keys: &Keys, models: &Models) -> Section {
    let snapshot = catalog.current();
    let mut checks = Vec::new();
    for provider in snapshot.providers() {
        match snapshot.provider_auth(provider).key_location(keys) {
            Ok(KeyLocation::None) | Err(_) => {}
            Ok(location) => checks.push(Check::good(provider, location.to_string())),
        }
    }
    checks.sort_by(|one, other| one.name().cmp(other.name()));
    if models.addrs().wanted && local::is_listening(models.addrs()) {
        checks.push(Check::good("this machine", "a model server is running"));
    }
    if checks.is_empty() {
        checks.push(Check::bad(
            "none",
            "no API key found, and no model server is running here",
            "tiller auth add anthropic, or export ANTHROPIC_API_KEY=... (or try the demo: tiller --demo)",
        ));
    }
    checks.extend(
        keys.store()
            .notice()
            .map(|notice| Check::hint("stored", notice, "")),
    );
    Section {
        title: "Keys (test them with tiller auth check)",
        checks,
    }
}
