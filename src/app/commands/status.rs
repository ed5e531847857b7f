//! `/status`: model, session, cost and context. The screen has a popup for it.

use super::{Run, Running, SlashCommand};
use crate::agent::{ContextKind, ContextPart};
use crate::app::action::Action;
use crate::app::host::Host;
use crate::app::humanize::{dollars, plural, short};
use crate::llm::{Api, Model, ThinkingLevel};

pub(super) static COMMAND: SlashCommand = SlashCommand {
    spec: Action::Status.row(),
    arguments: &[],
    run: Run::Host(run),
};

/// What the parts are before the first request.
pub(crate) const FIRST_REQUEST: &str = "Nothing sent yet. The first request holds this and your prompt:";

fn run<'a>(host: &'a Host, about: &'a str) -> Running<'a> {
    Box::pin(async move {
        let now = host.snapshot().await?;
        let context = host.handle.context_usage().await;
        let session = &now.session;
        let file = session.path.as_ref().map(|path| path.display().to_string());
        let mut lines = vec![
            model(&now.model, now.thinking),
            format!("Mode: {}", now.permission),
            format!("Session: {}", file.as_deref().unwrap_or("not saved")),
        ];
        lines.extend(session.name.as_ref().map(|name| format!("Name: {name}")));
        let tokens = short(now.usage.context_tokens());
        lines.push(format!(
            "Spent: {}, {tokens} tokens",
            dollars(now.usage.cost.total)
        ));
        let files = context.iter().flat_map(|it| &it.files);
        let files: Vec<&str> = files.map(String::as_str).collect();
        if !files.is_empty() {
            lines.push(format!("Instruction files: {}", files.join(", ")));
        }
        if let (Some(context), "context") = (&context, about) {
            lines.extend(context.is_first.then(|| FIRST_REQUEST.to_owned()));
            let part = |it| format!("  {:<20} {} tokens", part_name(it), short(it.tokens));
            lines.extend(context.parts.iter().map(part));
        }
        if let Some(context) = context.filter(|context| context.window > 0) {
            let (used, window) = (short(context.total), short(context.window));
            lines.push(format!("Context: {used} of {window} tokens"));
        }
        Ok(lines.join("\n"))
    })
}

/// The model, or how to get one: without a key, a script plays the model.
fn model(model: &Model, thinking: ThinkingLevel) -> String {
    match model.api {
        Api::Scripted => "Model: none. Add a key: tiller auth add PROVIDER".to_owned(),
        _ => format!("Model: {}, thinking {thinking}", model.full_id()),
    }
}

/// The name of a part of a request, with its count.
pub(crate) fn part_name(part: &ContextPart) -> String {
    let count = part.count as u64;
    match part.kind {
        ContextKind::Prompt => "System prompt".to_owned(),
        ContextKind::Tools => plural(count, "tool", "tools"),
        ContextKind::Instructions => plural(count, "instruction file", "instruction files"),
        ContextKind::Summaries => plural(count, "summary", "summaries"),
        ContextKind::User => plural(count, "user message", "user messages"),
        ContextKind::Notes => plural(count, "note", "notes"),
        ContextKind::Replies => plural(count, "reply", "replies"),
        ContextKind::Thinking => plural(count, "thought", "thoughts"),
        ContextKind::Results => plural(count, "tool result", "tool results"),
    }
}
