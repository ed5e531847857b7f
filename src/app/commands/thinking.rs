//! `/thinking`: shows or sets how much the model thinks.

use super::{Run, Running, SlashCommand};
use crate::app::action::Action;
use crate::app::host::Host;
use crate::llm::{Model, ThinkingLevel};

pub(super) static COMMAND: SlashCommand = SlashCommand {
    spec: Action::Thinking.row(),
    arguments: &[],
    run: Run::Host(run),
};

fn run<'a>(host: &'a Host, level: &'a str) -> Running<'a> {
    Box::pin(async move {
        let snapshot = host.snapshot().await?;
        let model = &snapshot.model;
        match parse(level, model)? {
            None => Ok(shown(model.clamp_thinking(snapshot.thinking), model)),
            Some(level) => {
                host.handle.set_thinking(level);
                Ok(format!("Thinking: {level}"))
            }
        }
    })
}

/// The level that the user names, if the model has it; `None` without one.
pub(crate) fn parse(level: &str, model: &Model) -> Result<Option<ThinkingLevel>, String> {
    if level.is_empty() {
        return Ok(None);
    }
    let parsed: ThinkingLevel = level.to_lowercase().parse()?;
    if model.supported_thinking().contains(&parsed) {
        return Ok(Some(parsed));
    }
    let id = &model.id;
    Err(format!(
        "{id} doesn't support {parsed}: choose {}",
        levels(model)
    ))
}

/// Says which level is in force.
pub(crate) fn shown(now: ThinkingLevel, model: &Model) -> String {
    format!("Thinking: {now} (of {})", levels(model))
}

fn levels(model: &Model) -> String {
    let levels = model.supported_thinking();
    let names: Vec<&str> = levels.iter().map(|level| level.as_str()).collect();
    names.join(", ")
}
