//! A session as one HTML page that needs nothing else and loads nothing. All branches are in it;
//! without its script it shows them one after the other, with links between them.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};

use super::content::{push_image, push_markdown};
use super::escape::{open, push, push_element, push_text};
use super::tool::{push_call, push_result};
use super::transcript::{Shown, Transcript, first_line, model_of};
use crate::agent::session::Body;
use crate::app::humanize::{dollars, grouped, plural};
use crate::llm::{AssistantMessage, Content, Message, StopReason};

const PAGE: &str = include_str!("../../../assets/export/page.html");
const STYLE: &str = include_str!("../../../assets/export/style.css");
const SCRIPT: &str = include_str!("../../../assets/export/script.js");
/// Characters of a branch's name.
const BRANCH: usize = 70;
/// Steps a list of branches is indented at most.
const DEEPEST: usize = 8;

/// The page of `transcript`.
pub fn page(transcript: &Transcript) -> String {
    let mut title = String::new();
    push_text(&mut title, title_of(transcript));
    let policy = format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; img-src data:; base-uri 'none'; \
         form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    );
    let leaf = transcript
        .leaf
        .map_or_else(String::new, |leaf| format!("e{leaf}"));
    let (facts, branches, entries) = (facts(transcript), branches(transcript), entries(transcript));
    let mut page = String::with_capacity(entries.len() + PAGE.len() + STYLE.len() + SCRIPT.len());
    // Each piece ends where a placeholder begins: what is put in is never searched for one.
    for piece in PAGE.split("{{") {
        let Some((name, rest)) = piece.split_once("}}") else {
            page.push_str(piece);
            continue;
        };
        page.push_str(match name {
            "policy" => &policy,
            "style" => STYLE,
            "script" => SCRIPT,
            "title" => &title,
            "leaf" => &leaf,
            "facts" => &facts,
            "branches" => &branches,
            "entries" => &entries,
            _ => "",
        });
        page.push_str(rest);
    }
    page
}

/// The source expression of a content security policy for an inline script or style.
fn hash(text: &str) -> String {
    let digest = digest(&SHA256, text.as_bytes());
    format!("sha256-{}", STANDARD.encode(digest.as_ref()))
}

fn title_of(transcript: &Transcript) -> &str {
    match transcript.title.as_str() {
        "" => "A session without a prompt",
        title => title,
    }
}

/// What a reader should know first.
fn facts(transcript: &Transcript) -> String {
    let usage = &transcript.usage;
    let prompt = usage
        .input
        .saturating_add(usage.cache_read)
        .saturating_add(usage.cache_write);
    let tokens = format!(
        "{} in ({} from a cache), {} out",
        grouped(prompt),
        grouped(usage.cache_read),
        grouped(usage.output)
    );
    let times = match transcript.ended.as_str() {
        "" => transcript.began.clone(),
        ended => format!("{} to {ended}", transcript.began),
    };
    let cost = dollars(usage.cost.total);
    let models = transcript.models.join(", ");
    let mut out = String::new();
    for (name, value) in [
        ("Folder", transcript.cwd.as_str()),
        ("Model", &models),
        ("Time", &times),
        ("Tokens", &tokens),
        ("Cost", &cost),
        ("Session", &transcript.id),
    ] {
        if !value.is_empty() {
            push_element(&mut out, "dt", "", name);
            push_element(&mut out, "dd", "", value);
            out.push('\n');
        }
    }
    for problem in &transcript.problems {
        push_element(&mut out, "dt", "", "Damage");
        push_element(&mut out, "dd", "", problem);
        out.push('\n');
    }
    out
}

/// The tree: one line for each stretch of entries without a fork.
fn branches(transcript: &Transcript) -> String {
    let entries = &transcript.entries;
    let mut out = String::new();
    let roots = (0..entries.len()).filter(|at| entries[*at].parent.is_none());
    let mut waiting: Vec<(usize, usize)> = roots.map(|root| (root, 0)).collect();
    waiting.reverse();
    while let Some((first, depth)) = waiting.pop() {
        let (mut last, mut count, mut name) = (first, 1, String::new());
        loop {
            if name.is_empty() {
                name = prompt_of(&entries[last]);
            }
            let [child] = entries[last].children.as_slice() else {
                break;
            };
            last = *child;
            count += 1;
        }
        if name.is_empty() {
            name = String::from("goes on");
        }
        push(
            &mut out,
            format_args!(
                "<li class=\"d{}\"><a href=\"#e{first}\">",
                depth.min(DEEPEST)
            ),
        );
        push_text(&mut out, &name);
        out.push_str("</a> ");
        push_element(&mut out, "span", "note", &plural(count, "entry", "entries"));
        out.push_str("</li>\n");
        let below = entries[last].children.iter().rev();
        waiting.extend(below.map(|child| (*child, depth + 1)));
    }
    out
}

fn prompt_of(entry: &Shown) -> String {
    match entry.message() {
        Some(message @ Message::User(_)) => first_line(&message.text(), BRANCH),
        _ => String::new(),
    }
}

fn entries(transcript: &Transcript) -> String {
    let mut out = String::new();
    for (at, entry) in transcript.entries.iter().enumerate() {
        let _ = write!(out, "<article id=\"e{at}\" class=\"{}\"", class(entry));
        if let Some(parent) = entry.parent {
            let _ = write!(out, " data-parent=\"e{parent}\"");
        }
        out.push_str(">\n");
        head(&mut out, transcript, at);
        body(&mut out, entry);
        if entry.children.len() > 1 {
            out.push_str("<nav>Branches from here:");
            for child in &entry.children {
                let name = match prompt_of(&transcript.entries[*child]).as_str() {
                    "" => format!("#{child}"),
                    name => name.to_owned(),
                };
                push(&mut out, format_args!(" <a href=\"#e{child}\">"));
                push_text(&mut out, &name);
                out.push_str("</a>");
            }
            out.push_str("</nav>\n");
        }
        out.push_str("</article>\n");
    }
    out
}

fn class(entry: &Shown) -> &'static str {
    match (&entry.body, entry.message()) {
        (_, Some(Message::User(_))) => "user",
        (_, Some(Message::Assistant(_))) => "assistant",
        (_, Some(Message::ToolResult(_))) => "result",
        (Some(Body::CustomMessage(_)), _) => "user",
        (Some(Body::Compaction(_) | Body::BranchSummary(_)), _) => "divider",
        _ => "notice",
    }
}

/// Who says it and when, and whether it goes on from something else than what stands above.
fn head(out: &mut String, transcript: &Transcript, at: usize) {
    let entry = &transcript.entries[at];
    let who = match entry.message() {
        Some(Message::User(message)) => match &message.origin {
            None => String::from("User"),
            Some(origin) => format!("User ({origin})"),
        },
        Some(Message::Assistant(message)) => format!("Assistant ({})", model_of(message)),
        _ => match &entry.body {
            Some(Body::CustomMessage(message)) => format!("User ({})", message.custom_type),
            _ => String::new(),
        },
    };
    out.push_str("<header>");
    if !who.is_empty() {
        push_element(out, "b", "", &who);
        out.push(' ');
    }
    push_element(out, "span", "time", &entry.time);
    if let Some(label) = &entry.label {
        out.push(' ');
        push_element(out, "span", "label", label);
    }
    match entry.parent {
        Some(parent) if parent + 1 != at => push(
            out,
            format_args!(
                " <a class=\"from\" href=\"#e{parent}\">goes on from an earlier entry</a>"
            ),
        ),
        None if at > 0 => push_element(out, "span", "from", "begins anew"),
        _ => {}
    }
    out.push_str("</header>\n");
}

fn body(out: &mut String, entry: &Shown) {
    let Some(body) = &entry.body else {
        push_element(out, "p", "note", "An entry that cannot be read");
        return;
    };
    match body {
        Body::Message { message } => match &**message {
            Message::User(message) => said(out, &message.content),
            Message::Assistant(message) => answer(out, message, &entry.answered),
            Message::ToolResult(result) => push_result(out, result, entry.call.as_ref()),
        },
        Body::CustomMessage(message) => said(out, &message.content),
        Body::Compaction(compaction) => folded(
            out,
            &format!(
                "What stands before was compacted ({} tokens)",
                grouped(compaction.tokens_before)
            ),
            &compaction.summary,
        ),
        Body::BranchSummary(branch) => {
            folded(out, "Summary of the branch that was left", &branch.summary);
        }
        other => push_element(out, "p", "note", &notice(other)),
    }
}

/// What an entry that is no message says, in one line.
pub(super) fn notice(body: &Body) -> String {
    match body {
        Body::ModelChange(change) => format!("Model: {}/{}", change.provider, change.model_id),
        Body::ThinkingLevelChange { thinking_level } => {
            format!("Thinking: {}", thinking_level.as_str())
        }
        Body::ContextEdit(edit) => match edit.replacement {
            Some(_) => String::from("An earlier message was shortened for the model"),
            None => String::from("An earlier message was left out for the model"),
        },
        Body::Custom { data, .. } => {
            let error = data["errorMessage"].as_str().unwrap_or_default();
            match data["event"].as_str().unwrap_or_default() {
                "retry" => format!("Tried again: {error}"),
                "error" => format!("Failed: {error}"),
                event => format!("{event} {error}"),
            }
        }
        _ => String::new(),
    }
}

fn said(out: &mut String, content: &[Content]) {
    for block in content {
        match block {
            Content::Text(text) => push_element(out, "div", "said", &text.text),
            Content::Image(image) => push_image(out, image),
            _ => {}
        }
    }
}

fn answer(out: &mut String, message: &AssistantMessage, answered: &[String]) {
    for block in &message.content {
        match block {
            Content::Text(text) => push_markdown(out, &text.text),
            Content::Thinking(thinking) if !thinking.thinking.is_empty() => {
                folded(out, "Thinking", &thinking.thinking);
            }
            Content::Thinking(_) => {}
            Content::Image(image) => push_image(out, image),
            Content::ToolCall(call) if answered.contains(&call.id) => {}
            Content::ToolCall(call) => push_call(out, call),
        }
    }
    if let Some(error) = &message.error_message {
        push_element(out, "p", "error", error);
    }
    if let Some(end) = cut_short(message) {
        push_element(out, "p", "note", end);
    }
}

/// Why an answer ends where it does, if it was not done.
pub(super) fn cut_short(message: &AssistantMessage) -> Option<&'static str> {
    match message.stop_reason {
        StopReason::Aborted => Some("Stopped by the user"),
        StopReason::Length => Some("Cut off at the output limit"),
        _ => None,
    }
}

fn folded(out: &mut String, title: &str, markdown: &str) {
    open(out, "details", "folded");
    push_element(out, "summary", "", title);
    push_markdown(out, markdown);
    out.push_str("</details>\n");
}
