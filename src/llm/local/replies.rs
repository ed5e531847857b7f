//! Parses what local servers say about their models, without trusting it: text in, models out. Ignores a
//! reply that the server wouldn't give.

use std::collections::BTreeMap;

use serde_json::Value;

use super::server::{Address, LocalServer};
use crate::api::Api;
use crate::model::{Model, ThinkingLevel};
use crate::window::WindowSource;

/// Most models of one server, to keep the list readable.
const MAX_MODELS: usize = 500;
/// Ollama's default window, in tokens.
const OLLAMA_WINDOW: u64 = 4096;
/// Most bytes of a model's id.
const MAX_ID_BYTES: usize = 200;

#[derive(Clone, Debug, PartialEq)]
pub struct LocalModel {
    pub model: Model,
    /// Whether it is in memory, so that it answers at once.
    pub loaded: bool,
}

/// A model of `server` with a known id and nothing else. A window of 0 is unknown.
pub(super) fn model(server: LocalServer, address: &Address, id: &str) -> Model {
    let base_url = format!("{}/v1", address.url());
    let mut model = Model::new(server.facts().id, id, Api::OpenAiChat, base_url);
    model.context_window = 0;
    model.window_source = match server {
        LocalServer::Ollama => WindowSource::Estimate,
        LocalServer::LlamaCpp | LocalServer::LmStudio => WindowSource::Model,
    };
    model
}

/// Ollama's `/api/tags`: its models, or `None` if this isn't Ollama.
pub(super) fn ollama_tags(reply: &[u8], address: &Address) -> Option<Vec<LocalModel>> {
    let reply: Value = serde_json::from_slice(reply).ok()?;
    let models = reply["models"].as_array()?;
    let read = |tag: &Value| {
        let id = ollama_id(tag)?;
        let mut model = model(LocalServer::Ollama, address, id);
        let details = &tag["details"];
        model.name = titled(
            id,
            [&details["parameter_size"], &details["quantization_level"]],
        );
        Some(LocalModel {
            model,
            loaded: false,
        })
    };
    Some(models.iter().filter_map(read).take(MAX_MODELS).collect())
}

/// Ollama's `/api/ps`: the models in memory, each with its window there.
pub(super) fn ollama_running(reply: &[u8]) -> BTreeMap<String, u64> {
    let reply: Value = serde_json::from_slice(reply).unwrap_or_default();
    let models = reply["models"].as_array().into_iter().flatten();
    let read = |model| {
        Some((
            ollama_id(model)?.to_owned(),
            tokens(&model["context_length"]),
        ))
    };
    models.take(MAX_MODELS).filter_map(read).collect()
}

fn ollama_id(entry: &Value) -> Option<&str> {
    id(&entry["name"]).or_else(|| id(&entry["model"]))
}

/// Ollama's `/api/show` for one model: its abilities and window. False if it isn't a chat model (one
/// that only embeds). A window in its Modelfile is exact. Otherwise `default_window` or Ollama's default
/// is an estimate, as Ollama uses more with a lot of video memory.
pub(super) fn ollama_show(reply: &[u8], model: &mut Model, default_window: Option<u64>) -> bool {
    let reply: Value = serde_json::from_slice(reply).unwrap_or_default();
    let set = reply["parameters"].as_str().and_then(num_ctx);
    let set = set.unwrap_or_default();
    let info = reply["model_info"].as_object().into_iter().flatten();
    let lengths = info.filter(|(key, _)| key.ends_with(".context_length"));
    let most = lengths.map(|(_, value)| tokens(value)).max();
    let most = most.filter(|most| *most > 0).unwrap_or(u64::MAX);
    if set > 0 {
        model.context_window = set.min(most);
        model.window_source = WindowSource::Model;
    } else {
        model.context_window = default_window.unwrap_or(OLLAMA_WINDOW).min(most);
    }
    let Some(capabilities) = reply["capabilities"].as_array() else {
        return true;
    };
    let can = |what: &str| capabilities.iter().any(|can| can == what);
    model.vision = can("vision");
    if can("thinking") {
        model.reasoning = true;
        let off = (ThinkingLevel::Off, "none".to_owned());
        let words = [
            ThinkingLevel::Low,
            ThinkingLevel::Medium,
            ThinkingLevel::High,
        ];
        let words = words.map(|level| (level, level.as_str().to_owned()));
        model.thinking_levels = words.into_iter().chain([off]).collect();
    }
    model.tools = can("tools");
    can("completion") || capabilities.is_empty()
}

/// The `num_ctx` of a Modelfile's parameters.
fn num_ctx(parameters: &str) -> Option<u64> {
    parameters.lines().find_map(|line| {
        let (name, value) = line.trim().split_once(char::is_whitespace)?;
        (name == "num_ctx").then(|| value.trim().parse().ok())?
    })
}

/// llama.cpp's `/v1/models` and `/props`, or `None` if this isn't llama.cpp. A server with a single
/// model reports its window and vision in `/props`; one with several doesn't.
pub(super) fn llama_cpp(models: &[u8], props: &[u8], address: &Address) -> Option<Vec<LocalModel>> {
    let models: Value = serde_json::from_slice(models).ok()?;
    let props: Value = serde_json::from_slice(props).unwrap_or_default();
    let listed = models["data"].as_array()?;
    let settings = &props["default_generation_settings"];
    let owned = |model: &Value| model["owned_by"] == "llamacpp";
    if settings.is_null() && !listed.iter().any(owned) {
        return None;
    }
    let window = tokens(&settings["n_ctx"]);
    let alone = listed.len() == 1;
    let read = |entry: &Value| {
        let id = id(&entry["id"])?;
        // A server with a single model accepts any name, and calls the model by its file.
        let file = id.rsplit(['/', '\\']).next().unwrap_or(id);
        let id = match file.strip_suffix(".gguf") {
            Some(stem) if alone && !stem.is_empty() => stem,
            _ => id,
        };
        let mut model = model(LocalServer::LlamaCpp, address, id);
        let meta = &entry["meta"];
        model.context_window = match (tokens(&meta["n_ctx"]), alone) {
            (0, true) if window > 0 => window,
            (0, _) => tokens(&meta["n_ctx_train"]),
            (loaded, _) => loaded,
        };
        model.vision = alone && props["modalities"]["vision"] == true;
        let state = entry["status"]["value"].as_str();
        Some(LocalModel {
            model,
            loaded: state.is_none_or(|state| state == "loaded"),
        })
    };
    Some(listed.iter().filter_map(read).take(MAX_MODELS).collect())
}

/// LM Studio's `/api/v0/models`, or `None` if this isn't LM Studio.
pub(super) fn lm_studio(reply: &[u8], address: &Address) -> Option<Vec<LocalModel>> {
    let reply: Value = serde_json::from_slice(reply).ok()?;
    let listed = reply["data"].as_array()?;
    let read = |entry: &Value| {
        let vision = entry["type"] == "vlm";
        if !vision && entry["type"] != "llm" {
            return None;
        }
        let id = id(&entry["id"])?;
        let mut model = model(LocalServer::LmStudio, address, id);
        model.name = titled(id, [&entry["quantization"]]);
        model.context_window = match tokens(&entry["loaded_context_length"]) {
            0 => tokens(&entry["max_context_length"]),
            loaded => loaded,
        };
        model.vision = vision;
        Some(LocalModel {
            model,
            loaded: entry["state"] == "loaded",
        })
    };
    Some(listed.iter().filter_map(read).take(MAX_MODELS).collect())
}

/// A valid id.
fn id(value: &Value) -> Option<&str> {
    let id = value.as_str()?;
    let fits =
        !id.trim().is_empty() && id.len() <= MAX_ID_BYTES && !id.chars().any(char::is_control);
    fits.then_some(id)
}

/// A number of tokens, or 0 if invalid.
fn tokens(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

/// `id (detail, detail)`.
fn titled<const N: usize>(id: &str, details: [&Value; N]) -> String {
    let fits = |detail: &&str| !detail.is_empty() && detail.len() <= 20;
    let details = details.into_iter().filter_map(Value::as_str);
    let details: Vec<&str> = details.filter(fits).collect();
    if details.is_empty() {
        id.to_owned()
    } else {
        format!("{id} ({})", details.join(", "))
    }
}
