//! Effects on the user's settings, themes and keys. Other threads read and write the files.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use tokio::sync::mpsc::UnboundedSender;

use super::effect::Effect;
use crate::app::config::SettingOverride;
use crate::app::config::{Layers, setting_rows, unset_checked};
use crate::app::dirs::Dirs;
use crate::app::host::Host;
use crate::app::models::Models;
use crate::app::setting_names::SettingNames;
use crate::app::tool_files::own_tool_names;
use crate::app::tui::msg::EffectResult;
use crate::app::tui::popups::without_place;
use crate::app::tui::theme::Themes;
use crate::llm::Secret;
use crate::llm::probe::Verdict;

/// Runs such effects in order, so that the last change of a setting wins.
pub struct UserEffects {
    dirs: Dirs,
    /// Overrides of the settings for this run.
    overrides: Arc<[SettingOverride]>,
    /// Signals that the last one is done by being closed.
    last: Option<Receiver<()>>,
}

impl UserEffects {
    pub fn new(dirs: Dirs, overrides: Arc<[SettingOverride]>) -> Self {
        Self {
            dirs,
            overrides,
            last: None,
        }
    }

    pub fn run(&mut self, effect: Effect, host: &Host, results: &UnboundedSender<EffectResult>) {
        let (models, handle) = (Arc::clone(&host.models), host.handle.clone());
        let saves = matches!(effect, Effect::SaveSetting(..) | Effect::UnsetSetting(_));
        let results = results.clone();
        let (dirs, overrides) = (self.dirs.clone(), Arc::clone(&self.overrides));
        let (done, next) = channel();
        let before = self.last.replace(next);
        tokio::task::spawn_blocking(move || {
            before.map(|before| before.recv());
            perform(effect, &dirs, &overrides, &models, &results);
            drop(done);
            if saves {
                // The agent reads the file now, so that it later reports only the changes of others.
                tokio::spawn(async move { handle.permission_rules().await });
            }
        });
    }
}

fn perform(
    effect: Effect,
    dirs: &Dirs,
    overrides: &[SettingOverride],
    models: &Arc<Models>,
    results: &UnboundedSender<EffectResult>,
) {
    let config = dirs.config_file();
    let result = match effect {
        Effect::ListProviders => EffectResult::Providers(models.provider_keys()),
        Effect::StoreKey(provider, key) => store_key(models, provider, key, results),
        Effect::ReadThemes => EffectResult::Themes(Arc::new(Themes::read(&dirs.themes()))),
        Effect::ReadSettings => {
            let mut layers = Layers::defaults();
            let read = layers.add_user_file(&config);
            EffectResult::Settings(read.map(|()| setting_rows(&layers, overrides)))
        }
        Effect::SaveSetting(key, value) => {
            let model = |name: &str| {
                let named = models.resolve_with(name, || models.found());
                named.map(|_| ())
            };
            let themes = Themes::read(&dirs.themes());
            let themes: Vec<String> = themes.names().map(str::to_owned).collect();
            let names = SettingNames {
                themes: &themes,
                tools: &own_tool_names(dirs),
                model: &model,
            };
            let set = names.save(&config, &key, &value);
            let set = set.map_err(|fault| without_place(&fault));
            saved(set, (key, value), &config)
        }
        Effect::UnsetSetting(key) => {
            let defaults = Layers::defaults();
            let value = defaults.get(&key).map(|(value, _)| value.clone());
            let value = value.unwrap_or(toml::Value::Boolean(false));
            saved(unset_checked(&config, &key), (key, value), &config)
        }
        _ => return,
    };
    let _ = results.send(result);
}

fn saved(
    saved: Result<(), String>,
    (key, value): (String, toml::Value),
    file: &Path,
) -> EffectResult {
    EffectResult::SettingSaved(saved.map(|()| (key, value, file.to_owned())))
}

/// Stores the key, then checks it with the provider, which takes a while.
fn store_key(
    models: &Arc<Models>,
    provider: String,
    key: Secret,
    results: &UnboundedSender<EffectResult>,
) -> EffectResult {
    let stored = models.store_key(&provider, key);
    if stored.is_ok() {
        let (models, results) = (Arc::clone(models), results.clone());
        tokio::spawn(async move {
            let result = match models.check_key(&provider).await {
                Verdict::Accepted => EffectResult::Said(format!("{provider} accepts the key")),
                Verdict::Refused(why) => EffectResult::Failed(format!(
                    "{provider} rejected the key: {why}\n/login {provider} to add another, or remove it: \
                     tiller auth remove {provider}"
                )),
                Verdict::Unclear(why) | Verdict::Unreachable(why) => EffectResult::Said(format!(
                    "Couldn't check the key with {provider}: {why}. To try again: tiller auth check {provider}"
                )),
            };
            let _ = results.send(result);
        });
    }
    EffectResult::KeyStored(stored)
}
