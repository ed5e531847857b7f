//! The current branch of a session as Markdown. All foreign text is in fences or quotes.

use std::fmt::Write;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

use super::notice::{cut_short, notice};
use super::subject::{diffs, outcome, subject};
use super::tool::arguments;
use super::transcript::{Shown, Transcript, model_of};
use crate::agent::session::Body;
use crate::app::humanize::{dollars, grouped, plural};
use crate::app::sanitize::for_terminal;
use crate::llm::message::content_text;
use crate::llm::{Content, Message, ToolCall, ToolResultMessage};

/// Most passes to find HTML in a text. Escaping one layer can turn its inside into Markdown.
const PASSES: usize = 5;

pub fn markdown(transcript: &Transcript) -> String {
    let mut out = String::new();
    let title = match transcript.title.as_str() {
        "" => "Session without a prompt",
        title => title,
    };
    let _ = writeln!(out, "# {}\n", inline(title));
    let usage = &transcript.usage;
    for (name, value) in [
        ("Folder", transcript.cwd.clone()),
        ("Model", transcript.models.join(", ")),
        ("Began", transcript.began.clone()),
        ("Tokens", format!("{} out", grouped(usage.output))),
        ("Cost", dollars(usage.cost.total)),
        ("Session", transcript.id.clone()),
    ] {
        if !value.is_empty() {
            let _ = writeln!(out, "- {name}: {}", inline(&value));
        }
    }
    let path = transcript.path();
    let elsewhere = transcript.entries.len() - path.len();
    if elsewhere > 0 {
        let count = plural(elsewhere as u64, "entry", "entries");
        let _ = writeln!(out, "- Omitted: {count} on other branches");
    }
    for at in path {
        entry(&mut out, &transcript.entries[at]);
    }
    for_terminal(&out).into_owned()
}

fn entry(out: &mut String, entry: &Shown) {
    if let Some(label) = &entry.label {
        let _ = writeln!(out, "\n*Label: {}*", inline(label));
    }
    match &entry.body {
        None => out.push_str("\n*Unreadable entry*\n"),
        Some(Body::Message { message }) => match &**message {
            Message::User(message) => {
                let by = message
                    .origin
                    .as_deref()
                    .map(|it| format!(" ({})", inline(it)));
                let _ = writeln!(out, "\n## User{}", by.unwrap_or_default());
                quoted(out, &message.content);
            }
            Message::Assistant(message) => {
                let _ = writeln!(out, "\n## Assistant ({})", inline(&model_of(message)));
                for block in &message.content {
                    block_of_answer(out, block, &entry.answered);
                }
                if let Some(error) = &message.error_message {
                    fenced(out, "", error);
                }
                if let Some(end) = cut_short(message) {
                    let _ = writeln!(out, "\n*{end}*");
                }
            }
            Message::ToolResult(message) => result(out, message, entry.call.as_ref()),
        },
        Some(Body::CustomMessage(message)) => {
            let _ = writeln!(out, "\n## User ({})", inline(&message.custom_type));
            quoted(out, &message.content);
        }
        Some(Body::Compaction(compaction)) => {
            out.push_str("\n---\n\n*Everything above was compacted into this summary:*\n");
            quoted(out, &[Content::text(compaction.summary.as_str())]);
        }
        Some(Body::BranchSummary(branch)) => {
            out.push_str("\n---\n\n*Summary of the previous branch:*\n");
            quoted(out, &[Content::text(branch.summary.as_str())]);
        }
        Some(other) => {
            let _ = writeln!(out, "\n*{}*", inline(&notice(other)));
        }
    }
}

fn block_of_answer(out: &mut String, block: &Content, answered: &[String]) {
    match block {
        Content::Text(text) => {
            out.push('\n');
            out.push_str(&closed(&text.text));
            out.push('\n');
        }
        Content::Thinking(thinking) if !thinking.thinking.is_empty() => {
            out.push_str("\n*Thinking:*\n");
            quoted(out, &[Content::text(thinking.thinking.as_str())]);
        }
        Content::ToolCall(call) if !answered.contains(&call.id) => {
            tool(out, &call.name, Some(call), "no result");
        }
        Content::Image(_) => out.push_str("\n*A picture*\n"),
        _ => {}
    }
}

fn result(out: &mut String, result: &ToolResultMessage, call: Option<&ToolCall>) {
    tool(out, &result.tool_name, call, &outcome(result));
    for diff in diffs(result) {
        if !diff.title.is_empty() {
            let _ = writeln!(out, "\n{}", inline(&diff.title));
        }
        fenced(out, "diff", &diff.text);
    }
    let text = content_text(&result.content);
    if !text.is_empty() {
        fenced(out, "", &text);
    }
    let is_image = |block: &&Content| matches!(block, Content::Image(_));
    for _ in result.content.iter().filter(is_image) {
        out.push_str("\n*A picture*\n");
    }
}

fn tool(out: &mut String, name: &str, call: Option<&ToolCall>, end: &str) {
    let about = call.map(subject).unwrap_or_default();
    let colon = if about.is_empty() { "" } else { ": " };
    let (name, about) = (inline(name), inline(&about));
    let _ = writeln!(out, "\n### {name}{colon}{about} ({end})");
    if let Some(call) = call {
        fenced(out, "json", &arguments(call));
    }
}

/// Wraps `text` in a fence longer than any run of backticks in it.
fn fenced(out: &mut String, language: &str, text: &str) {
    let mut longest = 2;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let _ = write!(out, "\n{fence}{language}\n{text}{end}{fence}\n");
}

/// Quotes texts; pictures appear by name.
fn quoted(out: &mut String, content: &[Content]) {
    for block in content {
        out.push('\n');
        match block {
            Content::Text(text) => {
                let mut quote = quotation(&closed(&text.text));
                // The quote sign itself can end something that begins like HTML.
                let mut events = Parser::new_ext(&quote, Options::ENABLE_GFM);
                if events.any(|it| matches!(it, Event::Html(_) | Event::InlineHtml(_))) {
                    let mut code = String::new();
                    fenced(&mut code, "", &text.text);
                    quote = quotation(code.trim_start());
                }
                out.push_str(&quote);
            }
            Content::Image(_) => out.push_str("> *A picture*\n"),
            _ => {}
        }
    }
}

fn quotation(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let _ = writeln!(out, "> {line}");
    }
    out
}

/// Escapes one line of plain text.
fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' => out.push(' '),
            '\\' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '#' | '&' | '|' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// Escapes foreign Markdown that could swallow the rest of the file: HTML and unclosed fences.
fn closed(text: &str) -> String {
    let mut text = text.trim_end().to_owned();
    for _ in 0..PASSES {
        let html = Parser::new_ext(&text, Options::ENABLE_GFM)
            .into_offset_iter()
            .filter(|(event, _)| matches!(event, Event::Html(_) | Event::InlineHtml(_)));
        let ranges: Vec<Range<usize>> = html.map(|(_, range)| range).collect();
        if ranges.is_empty() {
            return with_closed_fence(text);
        }
        for range in ranges.into_iter().rev() {
            let escaped = text[range.clone()].replace('<', "\\<");
            text.replace_range(range, &escaped);
        }
    }
    let mut out = String::new();
    fenced(&mut out, "", &text);
    out
}

/// Closes a fence that is open at the end of `text`.
fn with_closed_fence(mut text: String) -> String {
    let probe = format!("{text}\n\n# end");
    let mut open = None;
    for (event, range) in Parser::new(&probe).into_offset_iter() {
        if matches!(
            event,
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_)))
        ) {
            open = Some(range);
        }
    }
    // An open fence swallows the probe.
    if let Some(range) = open.filter(|range| range.end > text.len() + 2) {
        let code = &probe[range];
        let sign = code.chars().next().unwrap_or('`');
        let run = code.chars().take_while(|c| *c == sign);
        let fence: String = run.collect();
        text.push('\n');
        text.push_str(&fence);
    }
    text
}
