//! `/model`: chooses the model. The screen has a list of them.

use super::{Run, Running, SlashCommand};
use crate::app::action::Action;
use crate::app::host::Host;
use crate::app::models::KeyState;
use crate::llm::{Api, Model};

pub(super) static COMMAND: SlashCommand = SlashCommand {
    spec: Action::Models.row(),
    arguments: &[],
    run: Run::Host(run),
};

fn run<'a>(host: &'a Host, name: &'a str) -> Running<'a> {
    Box::pin(async move {
        if name.is_empty() {
            let now = host.snapshot().await?.model;
            let usable = host.usable_models().await?;
            if now.api == Api::Scripted && usable.is_empty() {
                return Ok("Model: none. Add a key: tiller auth add PROVIDER".to_owned());
            }
            let now = now.full_id();
            let mut lines = vec![format!("Model: {now}. Others with a key:")];
            let others = usable.iter().map(Model::full_id);
            lines.extend(others.filter(|id| *id != now).map(|id| format!("  {id}")));
            return Ok(lines.join("\n"));
        }
        let (model, thinking) = host.models.resolve(name).await?;
        let id = model.full_id();
        if let KeyState::Missing(hint) = host.models.key_state(&model.provider) {
            return Err(format!("No key for {id}. {hint}"));
        }
        host.handle.set_model(model);
        if let Some(level) = thinking {
            host.handle.set_thinking(level);
        }
        Ok(format!("Model: {id}"))
    })
}
