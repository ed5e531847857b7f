//! Carries out the commands that are answered at once.

use std::path::Path;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use super::{history, shapes};
use crate::agent::session::SessionView;
use crate::agent::{LoopRules, Snapshot};
use crate::app::commands::{self, Run};
use crate::app::export;
use crate::app::host::{Host, SwitchedTo};
use crate::app::serve::pictures;
use crate::app::sessions::Choice;
use crate::app::steer::MAX_MESSAGE;
use crate::llm::Content;
use crate::llm::message::Image;

/// The data of a response, or the error.
pub(super) type Answer = Result<Option<Box<RawValue>>, String>;

/// An answer with `data`.
pub(super) fn data(data: impl Serialize) -> Answer {
    to_raw_value(&data)
        .map(Some)
        .map_err(|error| error.to_string())
}

pub(super) async fn snapshot(host: &Host) -> Result<Snapshot, String> {
    host.snapshot().await
}

/// The slash commands that a prompt can be.
pub(super) async fn commands(host: &Host) -> Answer {
    let custom = host
        .list_custom_commands()
        .await
        .into_iter()
        .map(|command| {
            json!({
                "name": command.name,
                "description": command.help,
                "source": if command.is_skill() { "skill" } else { "prompt" },
                "argumentHint": command.argument,
                "sourceInfo": {
                    "path": command.file,
                    "source": "local",
                    "scope": if command.of_project { "project" } else { "user" },
                    "origin": "top-level",
                },
            })
        });
    let list = commands::all().map(|command| {
        json!({
            "name": command.name(),
            "description": command.spec.help,
            "source": match command.run {
                Run::Prompt(_) => "prompt",
                Run::Agent(_) | Run::Host(_) => "extension",
            },
            "argumentHint": command.spec.argument,
            // They have no file; a client gets what it expects of a path.
            "sourceInfo": {
                "path": format!("<builtin:{}>", command.name()),
                "source": "builtin",
                "scope": "temporary",
                "origin": "top-level",
            },
        })
    });
    data(json!({"commands": list.chain(custom).collect::<Vec<_>>()}))
}

/// Reads the session on another thread.
pub(super) async fn read<T: Send + 'static>(
    host: &Host,
    work: impl FnOnce(&SessionView) -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let session = host.handle.tree().await.ok_or("the agent has ended")?;
    spawn_blocking(move || work(&session))
        .await
        .map_err(|panic| format!("tiller crashed while reading the session: {panic}"))?
}

pub(super) async fn state(host: &Host) -> Answer {
    let messages = read(host, |session| Ok(history::count(session))).await?;
    data(shapes::state(&snapshot(host).await?, messages))
}

pub(super) async fn stats(host: &Host) -> Answer {
    let snapshot = snapshot(host).await?;
    let context = host.handle.context_usage().await;
    data(
        read(host, move |session| {
            history::stats(session, &snapshot, context)
        })
        .await?,
    )
}

pub(super) async fn available_models(host: &Host) -> Answer {
    let models = host.usable_models().await?;
    let models: Vec<Value> = models.iter().map(shapes::model).collect();
    data(json!({"models": models}))
}

pub(super) async fn set_model(host: &Host, provider: &str, id: &str) -> Answer {
    let wanted = format!("{provider}/{id}");
    let found = host.models.resolve(&wanted).await;
    let found = found.map_err(|why| format!("Model not found: {wanted} ({why})"))?;
    let model = found.0;
    if model.provider != provider || model.id != id {
        let nearest = model.full_id();
        return Err(format!(
            "Model not found: {wanted} (the nearest is {nearest})"
        ));
    }
    let shown = shapes::model(&model);
    host.handle.set_model(model);
    data(shown)
}

/// Switches to the next favorite model, or without favorites to the next one that has a key.
pub(super) async fn cycle_model(host: &Host) -> Answer {
    let favorites = host.models.favorites().await;
    let is_scoped = !favorites.is_empty();
    let models = if is_scoped {
        favorites
    } else {
        host.usable_models().await?
    };
    let snapshot = snapshot(host).await?;
    let current = snapshot.model.full_id();
    let at = models.iter().position(|model| model.full_id() == current);
    let next = models.get(at.map_or(0, |at| (at + 1) % models.len().max(1)));
    let Some(next) = next.filter(|next| next.full_id() != current) else {
        return data(Value::Null);
    };
    host.handle.set_model(next.clone());
    data(json!({
        "model": shapes::model(next),
        "thinkingLevel": snapshot.thinking,
        "isScoped": is_scoped,
    }))
}

pub(super) async fn cycle_thinking(host: &Host) -> Answer {
    let snapshot = snapshot(host).await?;
    let levels = snapshot.model.supported_thinking();
    if levels.len() < 2 {
        return data(Value::Null);
    }
    let current = snapshot.model.clamp_thinking(snapshot.thinking);
    let at = levels.iter().position(|level| *level == current);
    let next = levels[at.map_or(0, |at| (at + 1) % levels.len())];
    host.handle.set_thinking(next);
    data(json!({"level": next}))
}

pub(super) async fn thinking_levels(host: &Host) -> Answer {
    let levels = snapshot(host).await?.model.supported_thinking();
    data(json!({"levels": levels}))
}

/// Changes the rules of the loop.
pub(super) async fn change_rules(host: &Host, change: impl FnOnce(&mut LoopRules)) -> Answer {
    let mut rules = (*snapshot(host).await?.rules).clone();
    change(&mut rules);
    host.handle.set_rules(rules);
    Ok(None)
}

/// Switches to another session.
pub(super) async fn open(host: &Host, choice: Choice) -> Result<SwitchedTo, String> {
    host.open(choice).await.map_err(|error| error.to_string())
}

pub(super) async fn export(host: &Host, target: Option<String>) -> Answer {
    let file = host.session_file().await?;
    let (cwd, redactor) = (host.cwd.clone(), host.secrets.redactor());
    let exports = host.dirs.exports();
    let written = spawn_blocking(move || {
        let target = target.map(|target| cwd.join(target));
        let folder = export::default_folder(&cwd, exports);
        export::export_html(&file, target.as_deref(), &folder, &redactor)
    });
    let path = written.await.map_err(|panic| panic.to_string())??;
    data(json!({"path": Path::new(&path).to_string_lossy()}))
}

/// A message with its pictures, in the form that models accept.
pub(super) async fn content(text: String, images: Vec<Image>) -> Result<Vec<Content>, String> {
    if text.len() > MAX_MESSAGE {
        let error = "the message is longer than 1 MiB; write it to a file and send the file's name";
        return Err(error.to_owned());
    }
    let mut content = Vec::new();
    if !text.trim().is_empty() {
        // Model servers reject NUL, in this and every later request.
        content.push(Content::text(text.replace('\0', "\u{fffd}")));
    }
    content.extend(pictures::prepare(images).await?);
    Ok(content)
}
