//! Applies a saved setting at once where it can.

use std::path::PathBuf;

use toml::Value;

use super::{pictures, themes};
use crate::agent::NoticeLevel;
use crate::app::tui::app::App;
use crate::app::tui::effects::effect::{Effect, TerminalEffect};
use crate::app::tui::popups::Overlay;

pub fn saved(app: &mut App, saved: Result<(String, Value, PathBuf), String>) -> Vec<Effect> {
    let (key, value, _) = match saved {
        Ok(saved) => saved,
        Err(error) => {
            match app.overlays.last_mut() {
                Some(Overlay::Settings(list)) => (list.fault, list.ahead) = (Some(error), None),
                _ => {
                    let text = format!("Changed for this session; couldn't save: {error}");
                    app.transcript.push_notice(NoticeLevel::Error, text);
                }
            }
            return Vec::new();
        }
    };
    let (mut is_open, mut stronger) = (false, None);
    if let Some(Overlay::Settings(list)) = app.overlays.last_mut() {
        is_open = true;
        list.typing = None;
        let mut rows = list.rows.iter().flatten();
        if let Some(row) = rows.find(|row| row.key == key) {
            stronger = row.overridden.as_ref().map(|it| it.place.clone());
            let before = row.is_set.then(|| row.value.clone());
            list.changed = Some((key.clone(), before));
        }
    }
    let now = match stronger {
        None => apply(app, &key, &value),
        Some(_) => None,
    };
    let said = match (&now, stronger) {
        (_, Some(place)) => format!("Saved, but {place} overrides it here"),
        (Some(_), None) => format!("Saved: {key}"),
        (None, None) => format!("Saved: {key} ({})", until_restart(&key)),
    };
    app.say(said);
    let mut effects = now.unwrap_or_default();
    if is_open {
        effects.push(Effect::ReadSettings);
    }
    effects
}

/// What to do about a setting that counts only after a restart.
fn until_restart(key: &str) -> &'static str {
    match key {
        "budget.usd" | "budget.tokens" => "restart tiller to use it; /budget sets this session's",
        "permission.protected" => {
            "restart tiller to use it; until then the model can read what you protected"
        }
        _ => "restart tiller to use it",
    }
}

/// Applies a setting now; none if it needs a restart.
fn apply(app: &mut App, key: &str, value: &Value) -> Option<Vec<Effect>> {
    let text = value.as_str().unwrap_or_default();
    Some(match key {
        "ui.theme" | "ui.theme_dark" | "ui.theme_light" => {
            let choice = &mut app.themes;
            let target = match key {
                "ui.theme" => &mut choice.wanted,
                "ui.theme_dark" => &mut choice.for_dark,
                _ => &mut choice.for_light,
            };
            text.clone_into(target);
            themes::follow(app)
        }
        "ui.notify" => {
            app.notify = text.parse().ok()?;
            Vec::new()
        }
        "ui.mouse" => {
            app.mouse = value.as_bool()?;
            vec![Effect::Terminal(TerminalEffect::Mouse(app.mouse))]
        }
        "ui.images" => {
            app.graphics.wanted = text.parse().ok()?;
            pictures::follow(app);
            Vec::new()
        }
        "ui.vim" => {
            app.message_mut().set_vim(value.as_bool()?);
            Vec::new()
        }
        "models.thinking" => {
            let level = text.parse().ok()?;
            app.status.thinking = level;
            vec![Effect::SetThinking(level)]
        }
        _ => return None,
    })
}
