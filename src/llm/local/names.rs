//! Resolves the name of a local model: `ollama/qwen3:8b`, or a part of it.

use std::slice;

use super::probe::{self, DiscoveredServer};
use super::replies;
use super::server::{LocalServer, ServerAddrs, ServerFacts};
use crate::catalog::Named;
use crate::catalog::pattern::Pattern;
use crate::model::{Model, ThinkingLevel};

/// The model that `name` means among `found`, and the thinking level in the name, if any. `None` if
/// nothing matches.
///
/// A name that starts with a server's id means a model of that server, even an unlisted one, as long as
/// the server answers. The id alone means its best model.
///
/// # Errors
/// Several models match, or the server doesn't answer. The error says what to type or start.
pub fn resolve(
    name: &str,
    found: &[DiscoveredServer],
    addrs: &ServerAddrs,
) -> Result<Option<Named>, String> {
    let name = name.trim();
    let (bare, thinking) = ThinkingLevel::split_off(name);
    // Ids contain colons (`qwen3:8b`), so try the whole name first.
    for (name, thinking) in [(name, None), (bare, thinking)] {
        if let Some(model) = exact(name, found) {
            return Ok(Some((model.clone(), thinking)));
        }
    }
    let (server, id) = bare.split_once('/').unwrap_or((bare, ""));
    let plain = server.to_lowercase().replace([' ', '.', '-'], "");
    if let Some(server) = LocalServer::from_id(&plain) {
        let found = found.iter().find(|found| found.server == server);
        let found = found.ok_or_else(|| absent(server, addrs))?;
        if !bare.contains('/') {
            let model = probe::best(slice::from_ref(found)).cloned();
            let none = || format!("{} has no models", server.facts().title);
            return Ok(Some((model.ok_or_else(none)?, thinking)));
        }
        if id.is_empty() {
            let server = server.facts().id;
            return Err(format!("'{name}' has no model id: type {server}/ID"));
        }
        let pattern = Pattern::new(id);
        let fits = |model: &&Model| pattern.fit(&model.id).is_some();
        let mut fitting = found.models.iter().map(|local| &local.model).filter(fits);
        let model = match (fitting.next(), fitting.next()) {
            (Some(one), None) => one.clone(),
            _ => replies::model(server, &found.address, id),
        };
        return Ok(Some((model, thinking)));
    }
    let models = found.iter().flat_map(|found| &found.models);
    let pattern = Pattern::new(bare);
    let mut fitting: Vec<_> = models
        .filter_map(|local| Some((pattern.fit(&local.model.id)?, &local.model)))
        .collect();
    let best = fitting.iter().map(|(fit, _)| *fit).min();
    fitting.retain(|(fit, _)| Some(*fit) == best);
    match fitting.as_slice() {
        [] => Ok(None),
        [(_, model)] => Ok(Some(((*model).clone(), thinking))),
        several => {
            let ids: Vec<String> = several
                .iter()
                .map(|(_, model)| format!("  {}", model.full_id()))
                .collect();
            Err(format!(
                "'{name}' is ambiguous. Type one of these local models:\n{}",
                ids.join("\n")
            ))
        }
    }
}

fn exact<'a>(name: &str, found: &'a [DiscoveredServer]) -> Option<&'a Model> {
    let (provider, id) = name.split_once('/')?;
    let models = found.iter().flat_map(|found| &found.models);
    let mut models = models.map(|local| &local.model);
    models.find(|model| {
        // Ollama's own default: a name without a tag is the one tagged `latest`.
        let tagless = || model.id.strip_suffix(":latest") == Some(id);
        model.provider == provider && (model.id == id || tagless())
    })
}

/// The error for a `server` that doesn't answer.
fn absent(server: LocalServer, addrs: &ServerAddrs) -> String {
    let ServerFacts {
        id,
        title,
        start_command,
        ..
    } = server.facts();
    if !addrs.wanted {
        return format!(
            "tiller doesn't look for {title}, because models.local is false. To look for it: tiller config \
             unset models.local"
        );
    }
    match addrs.addresses.get(&server) {
        Some(address) if probe::answers(address) => format!(
            "the server at {address} doesn't answer as {title} does. If it is {title}, wait until it has \
             started; if not, describe it in models.toml: [providers.NAME] with api = \"openai-chat\", \
             base_url = \"{}/v1\" and models",
            address.url()
        ),
        Some(address) => format!(
            "{title} doesn't answer at {address}. Start it with: {start_command}; or set its address: \
             --config models.servers.{id}=HOST:PORT"
        ),
        None => format!(
            "{title} isn't on this machine (OLLAMA_HOST names another). Describe it in models.toml: \
             [providers.{id}] with api, base_url and models"
        ),
    }
}
