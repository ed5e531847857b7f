//! Chooses the model of a run, from the command line, the session and the settings.

use std::cell::LazyCell;
use std::sync::Arc;

use super::config::Settings;
use super::dirs::Dirs;
use super::models::Models;
use super::outcome::StartError;
use super::plan::{Loaded, models};
use crate::agent::session::Session;
use crate::llm::local::{self, DiscoveredServer};
use crate::llm::{Catalog, Keys, Model, ThinkingLevel};

pub struct Chosen {
    pub models: Arc<Models>,
    /// The model to use; `None` for the demo.
    pub model: Option<(Model, ThinkingLevel)>,
    pub fallback: Vec<Model>,
    /// Whether `model` is another than `models.default` names, and the user didn't choose it.
    pub is_substitute: bool,
}

impl Chosen {
    /// Chooses by command line, session and settings; calls `look` at most once.
    pub fn new(
        loaded: &Loaded,
        dirs: &Dirs,
        look: impl Fn(&Models) -> Arc<[DiscoveredServer]>,
    ) -> Result<Self, StartError> {
        let Loaded {
            args,
            settings,
            catalog,
            keys,
            ..
        } = loaded;
        let models = Arc::new(models(settings, dirs, catalog, keys));
        let found = LazyCell::new(|| look(&models));
        let look = || Arc::clone(&found);
        let named = choose_model(loaded, &models, look)?;
        let mut fallback = fallback_models(loaded, &models, look)?;
        let is_open = named.is_none() && !args.demo;
        let mut is_substitute = is_open && loaded.lost_default().is_some();
        let model = if is_substitute && !fallback.is_empty() {
            is_substitute = false;
            Some(fallback.remove(0))
        } else if is_open {
            best_model(catalog, keys, || Arc::clone(&found))
        } else {
            None
        };
        let thinking = args.thinking.unwrap_or(settings.thinking);
        drop(found);
        Ok(Self {
            models,
            model: named.or(model.map(|model| (model, thinking))),
            fallback,
            is_substitute,
        })
    }
}

fn choose_model(
    loaded: &Loaded,
    models: &Models,
    look: impl Fn() -> Arc<[DiscoveredServer]>,
) -> Result<Option<(Model, ThinkingLevel)>, StartError> {
    let Loaded { args, settings, .. } = loaded;
    let session = loaded.resumed.as_ref().map(|resumed| &resumed.session);
    if args.demo {
        return Ok(None);
    }
    // A resumed session keeps its model, unless the user asks for another or it is unavailable.
    let own = session
        .filter(|_| args.model.is_none())
        .and_then(Session::model);
    let own = own.map(|own| format!("{}/{}", own.provider, own.model_id));
    if let Some(Ok((model, _))) = own.map(|own| models.resolve_with(&own, &look)) {
        let thinking = args.thinking.or(session.and_then(Session::thinking));
        return Ok(Some((model, thinking.unwrap_or(settings.thinking))));
    }
    if settings.model.is_empty() {
        return Ok(None);
    }
    let fault = |why: String| match args.model {
        Some(_) => why,
        None => {
            let fault = loaded.layers.fault("models.default", &why);
            format!("{fault}\nTo change it: tiller config set models.default PROVIDER/ID")
        }
    };
    let named = models.resolve_with(&settings.model, look);
    let (model, level) = named.map_err(|why| StartError::usage(fault(why)))?;
    // `--thinking` wins over the level in `model:level`, which wins over the setting.
    let thinking = args.thinking.or(level).unwrap_or(settings.thinking);
    Ok(Some((model, thinking)))
}

/// The model to use if the command line names none, as `provider/id`, if there is a clear choice.
pub fn default_model(
    settings: &Settings,
    models: &Models,
    catalog: &Catalog,
    keys: &Keys,
    found: &Arc<[DiscoveredServer]>,
) -> Option<String> {
    let model = if settings.model.is_empty() {
        best_model(catalog, keys, || Arc::clone(found))?
    } else {
        let look = || Arc::clone(found);
        models.resolve_with(&settings.model, look).ok()?.0
    };
    Some(model.full_id())
}

/// The default model: the best with a key, or else the best on this machine.
fn best_model(
    catalog: &Catalog,
    keys: &Keys,
    look: impl FnOnce() -> Arc<[DiscoveredServer]>,
) -> Option<Model> {
    let best = catalog.current().default_model(keys);
    best.or_else(|| local::best(&look()).cloned())
}

/// The models in `models.fallback`. Reports a wrong name at the start, not when it is needed.
fn fallback_models(
    loaded: &Loaded,
    models: &Models,
    look: impl Fn() -> Arc<[DiscoveredServer]>,
) -> Result<Vec<Model>, StartError> {
    let fault = |why: String| {
        let fault = loaded.layers.fault("models.fallback", &why);
        StartError::usage(format!("{fault}\nTo change it: tiller config edit"))
    };
    let resolve = |name: &String| Ok(models.resolve_with(name, &look).map_err(fault)?.0);
    loaded.settings.fallback.iter().map(resolve).collect()
}
