//! Choosing a model, cycling through favorites, and the thinking level. The screen shows a choice
//! at once, before the agent confirms it.

use std::sync::Arc;

use super::{refusal, stop};
use crate::agent::NoticeLevel;
use crate::app::action::Action;
use crate::app::commands::thinking;
use crate::app::models::{KeyState, ModelList};
use crate::app::tui::app::App;
use crate::app::tui::effects::effect::{Direction, Effect};
use crate::app::tui::msg::FoundModel;
use crate::app::tui::options::ExitKind;
use crate::app::tui::popups::{ModelPicker, Overlay, same};
use crate::llm::ThinkingLevel;

pub fn act(app: &mut App, action: Action, argument: &str) -> Vec<Effect> {
    match action {
        Action::Models if argument.is_empty() => open(app),
        Action::Models => vec![Effect::FindModel(argument.to_owned())],
        Action::NextModel => vec![Effect::FindFavorites(Direction::Forward)],
        Action::PreviousModel => vec![Effect::FindFavorites(Direction::Back)],
        Action::ThinkingUp => think_more(app, Direction::Forward),
        Action::ThinkingDown => think_more(app, Direction::Back),
        Action::Thinking => think(app, argument),
        Action::SaveModel => {
            let (save, list) = (app.key(action), app.key(Action::Models));
            app.say_for(
                format!("{save} sets the default in the list of models: {list}"),
                4000,
            )
        }
        _ => Vec::new(),
    }
}

/// Opens the list with the known models, and reloads them.
fn open(app: &mut App) -> Vec<Effect> {
    app.models.error = None;
    let mut picker = ModelPicker::default();
    picker.search(&app.models);
    app.overlays.push(picker.into());
    vec![Effect::ListModels]
}

pub fn listed(app: &mut App, listing: Arc<ModelList>) {
    let before = std::mem::replace(&mut app.models.listing, listing);
    app.models.is_read = true;
    // Report it only once: reading an unchanged file again gives no error.
    if let Some(error) = &app.models.listing.error {
        app.models.error = Some(error.clone());
    }
    for overlay in &mut app.overlays {
        if let Overlay::Models(picker) = overlay {
            picker.refresh(&before, &app.models);
        }
    }
}

pub fn found(app: &mut App, typed: &str, found: Result<FoundModel, String>) -> Vec<Effect> {
    match found {
        Ok(found) => choose(app, &found),
        Err(error) => {
            // The rest of the error is for the command line.
            let what = error.split("\nLooked in").next().unwrap_or_default();
            let list = app.key(Action::Models);
            let told = format!("{what} · {list} lists all models");
            refusal::command(app, &format!("/model {typed}"), told)
        }
    }
}

/// Switches to the next or previous favorite.
pub fn cycle(app: &mut App, favorites: Vec<FoundModel>, direction: Direction) -> Vec<Effect> {
    let mut models = favorites;
    if models.is_empty() {
        // No favorites: use the models of this session, in an order that cycling doesn't change.
        let mut used = app.models.used.clone();
        if !used.iter().any(|model| same(model, &app.models.default)) {
            used.push(Arc::clone(&app.models.default));
        }
        used.sort_by_key(|model| model.full_id());
        let found = |model| FoundModel {
            model,
            thinking: None,
            key: KeyState::Ready,
        };
        models = used.into_iter().map(found).collect();
    }
    let now = &app.status.model;
    let at = models.iter().position(|found| same(&found.model, now));
    let count = models.len();
    let next = match (at, direction) {
        (None, _) => 0,
        (Some(at), Direction::Forward) => (at + 1) % count,
        (Some(at), Direction::Back) => (at + count - 1) % count,
    };
    if at == Some(next) {
        let list = app.key(Action::Models);
        return app.say(format!(
            "No other model to switch to: choose one with {list}, or set models.favorites"
        ));
    }
    choose(app, &models[next])
}

pub fn saved(app: &mut App, saved: Result<std::path::PathBuf, String>) {
    match saved {
        Ok(file) => drop(app.say(format!(
            "Saved as the default model for new sessions in {}",
            file.display()
        ))),
        Err(error) => {
            let text = format!("Couldn't save the default model: {error}");
            app.transcript.push_notice(NoticeLevel::Error, text);
        }
    }
}

/// Uses this model from the next call on.
pub fn choose(app: &mut App, found: &FoundModel) -> Vec<Effect> {
    let model = &found.model;
    if app.status.is_demo() && model.provider != app.status.model.provider {
        // Restart: work done in the demo's folder would be lost.
        let draft = app.draft();
        return stop::end(app, ExitKind::Anew(Some(model.full_id()), draft));
    }
    app.start.must_choose = false;
    let mut effects = Vec::new();
    // Set it even if it's already chosen: a fallback may be answering instead.
    if **model != *app.status.model || app.is_running() {
        app.status.model = Arc::clone(model);
        effects.push(Effect::SetModel(Arc::clone(model)));
    }
    app.models.use_now(model);
    if let Some(level) = found.thinking.filter(|level| *level != app.status.thinking) {
        app.status.thinking = level;
        effects.push(Effect::SetThinking(level));
    }
    let id = model.full_id();
    let text = match &found.key {
        // Other hints name the only place where the key is looked up.
        KeyState::Missing(hint) if hint.contains("/login") => {
            app.start.no_key = Some(model.provider.clone());
            format!("No key for {id} yet: /login {} to add one", model.provider)
        }
        KeyState::Missing(hint) => format!("No key for {id} yet. {hint}"),
        KeyState::Ready if app.is_running() => format!("{id}, from the next model call on"),
        KeyState::Ready => id,
    };
    app.say(text);
    effects
}

fn think_more(app: &mut App, direction: Direction) -> Vec<Effect> {
    let model = &app.status.model;
    let levels = model.supported_thinking();
    let now = app.status.level_sent();
    let at = levels.iter().position(|level| *level == now).unwrap_or(0);
    let next = match direction {
        Direction::Forward => levels.get(at + 1),
        Direction::Back => at.checked_sub(1).and_then(|at| levels.get(at)),
    };
    if let Some(level) = next {
        return set_thinking(app, *level);
    }
    let id = &model.id;
    let text = match (levels.as_slice(), direction) {
        ([_], _) => format!("{id} doesn't support thinking"),
        (_, Direction::Forward) => format!("{now} is the highest level of {id}"),
        (_, Direction::Back) => format!("{now} is the lowest level of {id}"),
    };
    app.say(text)
}

fn think(app: &mut App, level: &str) -> Vec<Effect> {
    let text = match thinking::parse(level, &app.status.model) {
        Ok(Some(level)) => return set_thinking(app, level),
        Ok(None) => thinking::shown(app.status.level_sent(), &app.status.model),
        Err(error) => return refusal::command(app, &format!("/thinking {level}"), error),
    };
    app.say(text)
}

fn set_thinking(app: &mut App, level: ThinkingLevel) -> Vec<Effect> {
    app.say(format!("Thinking: {level}"));
    app.status.thinking = level;
    vec![Effect::SetThinking(level)]
}
