//! What the user means by the name of a local model: `ollama/qwen3:8b`, or a part of it.

use super::probe::DiscoveredServer;
use super::replies;
use super::server::{LocalServer, ServerAddrs};
use crate::llm::catalog::pattern::match_id;
use crate::llm::model::{Model, ThinkingLevel};

/// The server whose model `name` is, when it begins with the id of one.
pub fn server_of(name: &str) -> Option<LocalServer> {
    LocalServer::from_id(name.trim().split_once('/')?.0)
}

/// The model `name` means among `found`, and the thinking level if one was named; none when it means
/// none of them.
///
/// A name that begins with a server's id means a model of that server, also one it did not list, as
/// long as the server is there.
///
/// # Errors
/// Several models fit, or the server is not there; the text says what to type or to start.
pub fn resolve(
    name: &str,
    found: &[DiscoveredServer],
    addrs: &ServerAddrs,
) -> Result<Option<(Model, Option<ThinkingLevel>)>, String> {
    let name = name.trim();
    // Ids hold colons themselves (`qwen3:8b`), so the whole is tried first.
    if let Some(model) = exact(name, found) {
        return Ok(Some((model.clone(), None)));
    }
    let (bare, thinking) = match name.rsplit_once(':') {
        Some((bare, level)) => match level.parse::<ThinkingLevel>() {
            Ok(level) => (bare, Some(level)),
            Err(_) => (name, None),
        },
        None => (name, None),
    };
    if let Some(model) = exact(bare, found) {
        return Ok(Some((model.clone(), thinking)));
    }
    if let Some((server, id)) = server_of(bare).zip(bare.split_once('/').map(|(_, id)| id)) {
        return match found.iter().find(|found| found.server == server) {
            Some(_) if id.is_empty() => {
                Err(format!("'{name}' has no model id: type {}/ID", server.id()))
            }
            Some(found) => {
                let unlisted = || replies::model(server, &found.address, id);
                let fits = |model: &&Model| match_id(id, &model.id).is_some();
                let mut fitting = found.models.iter().map(|local| &local.model).filter(fits);
                let model = match (fitting.next(), fitting.next()) {
                    (Some(one), None) => one.clone(),
                    _ => unlisted(),
                };
                Ok(Some((model, thinking)))
            }
            None => Err(absent(server, addrs)),
        };
    }
    let models = found.iter().flat_map(|found| &found.models);
    let mut fitting: Vec<_> = models
        .filter_map(|local| Some((match_id(bare, &local.model.id)?, &local.model)))
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
                "'{name}' is ambiguous: several models of this machine match; type one of\n{}",
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

/// What to say when `server` does not answer.
pub fn absent(server: LocalServer, addrs: &ServerAddrs) -> String {
    let title = server.title();
    if !addrs.wanted {
        return format!("{title} is not looked for: models.local is false in config.toml");
    }
    match addrs.of(server) {
        Some(address) => format!(
            "{title} does not answer at {address}. Start it with: {}; or say where it listens: \
             --config models.servers.{}=HOST:PORT",
            server.start_command(),
            server.id()
        ),
        None => format!(
            "{title} is not on this machine (OLLAMA_HOST names another); describe it in models.toml: \
             [providers.{}] with api, base_url and models",
            server.id()
        ),
    }
}
