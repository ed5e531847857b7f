//! The entries of a session as HTML, one article each, in file order.

use std::fmt::Write;

use super::content::push_markdown;
use super::contents::branch_name;
use super::escape::{open, push, push_element, push_text};
use super::highlight::Colors;
use super::notice::{cut_short, notice};
use super::picture::push_image;
use super::tool::{push_call, push_result};
use super::transcript::{Shown, Transcript, first_line, model_of};
use crate::agent::is_from_user;
use crate::agent::session::Body;
use crate::llm::{AssistantMessage, Content, Message};

/// Characters to preview of a folded text.
const PREVIEW: usize = 100;
/// Characters to show of an unreadable entry.
const UNREADABLE: usize = 20_000;

pub(super) fn entries(transcript: &Transcript) -> String {
    let mut out = String::new();
    let mut colors = Colors::default();
    for (at, entry) in transcript.entries.iter().enumerate() {
        let _ = write!(out, "<article id=\"e{at}\" class=\"{}\"", class(entry));
        if let Some(parent) = entry.parent {
            let _ = write!(out, " data-parent=\"e{parent}\"");
        }
        out.push_str(" tabindex=\"-1\">\n");
        head(&mut out, transcript, at);
        body(&mut out, &mut colors, entry);
        branches(&mut out, transcript, entry);
        out.push_str("</article>\n");
    }
    out
}

fn class(entry: &Shown) -> &'static str {
    match (&entry.body, entry.message()) {
        (_, Some(Message::User(user))) if !is_from_user(user.origin.as_deref()) => "user told",
        (_, Some(Message::User(_))) => "user",
        (_, Some(Message::Assistant(_))) => "assistant",
        (_, Some(Message::ToolResult(_))) => "result",
        (Some(Body::CustomMessage(_)), _) => "user told",
        (Some(Body::Compaction(_) | Body::BranchSummary(_)), _) => "divider",
        _ => "notice",
    }
}

/// The header: who wrote the entry and when, and a link if it doesn't follow the entry above. Later
/// entries of a turn have none.
fn head(out: &mut String, transcript: &Transcript, at: usize) {
    let entry = &transcript.entries[at];
    let before = entry.parent.map(|parent| &transcript.entries[parent]);
    let who = match (entry.message(), &entry.body) {
        (Some(Message::User(message)), _) => match &message.origin {
            None => String::from("User"),
            Some(origin) => format!("User ({origin})"),
        },
        (Some(Message::Assistant(message)), _) if begins(before, message) => model_of(message),
        (_, Some(Body::CustomMessage(message))) => format!("User ({})", message.custom_type),
        _ => String::new(),
    };
    let from = match entry.parent {
        Some(parent) if parent + 1 != at => {
            format!("<a class=\"from\" href=\"#e{parent}\">continues an earlier entry</a>")
        }
        None if at > 0 => String::from("<span class=\"from\">starts over</span>"),
        _ => String::new(),
    };
    if who.is_empty() && entry.label.is_none() && from.is_empty() {
        return;
    }
    out.push_str("<header>");
    if !who.is_empty() {
        push_element(out, "b", "", &who);
        out.push(' ');
    }
    if let Some(label) = &entry.label {
        push_element(out, "span", "label", label);
        out.push(' ');
    }
    if !from.is_empty() {
        push(out, format_args!("{from} "));
    }
    if !who.is_empty() && !entry.time.is_empty() {
        push(out, format_args!("<a class=\"time\" href=\"#e{at}\">"));
        push_element(out, "time", "", clock(&entry.time));
        out.push_str("</a>");
    }
    out.push_str("</header>\n");
}

/// True for the first answer of a turn, or if the model changed.
fn begins(before: Option<&Shown>, message: &AssistantMessage) -> bool {
    match before.and_then(Shown::message) {
        Some(Message::ToolResult(_)) => false,
        Some(Message::Assistant(before)) => model_of(before) != model_of(message),
        _ => true,
    }
}

/// Hours and minutes of an ISO 8601 time; other texts unchanged.
fn clock(time: &str) -> &str {
    let is_time = time.parse::<jiff::Timestamp>().is_ok();
    let clock = time.get(11..16).filter(|_| is_time);
    clock.unwrap_or(time)
}

fn branches(out: &mut String, transcript: &Transcript, entry: &Shown) {
    if entry.children.len() < 2 {
        return;
    }
    out.push_str("<nav aria-label=\"Branches\">");
    for (number, child) in entry.children.iter().enumerate() {
        let name = branch_name(&transcript.entries, *child);
        let name = match name.as_str() {
            "" => format!("{}", number + 1),
            name => format!("{}: {name}", number + 1),
        };
        push(out, format_args!("<a href=\"#e{child}\">Branch "));
        push_text(out, &name);
        out.push_str("</a> ");
    }
    out.push_str("</nav>\n");
}

fn body(out: &mut String, colors: &mut Colors, entry: &Shown) {
    let Some(body) = &entry.body else {
        open(out, "details", "folded");
        out.push_str("<summary>Unreadable entry</summary>\n");
        let end = entry.unreadable.floor_char_boundary(UNREADABLE);
        push_element(out, "pre", "", &entry.unreadable[..end]);
        out.push_str("</details>\n");
        return;
    };
    match body {
        Body::Message { message } => match &**message {
            Message::User(message) => said(out, &message.content),
            Message::Assistant(message) => answer(out, colors, message, &entry.answered),
            Message::ToolResult(result) => push_result(out, colors, result, entry.call.as_ref()),
        },
        Body::CustomMessage(message) => said(out, &message.content),
        Body::Compaction(compaction) => folded(out, colors, &notice(body), "", &compaction.summary),
        Body::BranchSummary(branch) => folded(out, colors, &notice(body), "", &branch.summary),
        other => push_element(out, "p", "note", &notice(other)),
    }
}

fn said(out: &mut String, content: &[Content]) {
    for block in content {
        match block {
            Content::Text(text) => {
                out.push_str("<div class=\"said\" dir=\"auto\">");
                push_text(out, &text.text);
                out.push_str("</div>");
            }
            Content::Image(image) => push_image(out, image),
            _ => {}
        }
    }
}

fn answer(out: &mut String, colors: &mut Colors, message: &AssistantMessage, answered: &[String]) {
    for block in &message.content {
        match block {
            Content::Text(text) => push_markdown(out, colors, &text.text),
            Content::Thinking(thinking) if !thinking.thinking.is_empty() => {
                let preview = first_line(&thinking.thinking, PREVIEW);
                folded(out, colors, "Thinking", &preview, &thinking.thinking);
            }
            Content::Thinking(_) => {}
            Content::Image(image) => push_image(out, image),
            Content::ToolCall(call) if answered.contains(&call.id) => {}
            Content::ToolCall(call) => push_call(out, colors, call),
        }
    }
    if let Some(error) = &message.error_message {
        push_element(out, "p", "error", error);
    }
    if let Some(end) = cut_short(message) {
        push_element(out, "p", "note", end);
    }
}

fn folded(out: &mut String, colors: &mut Colors, title: &str, preview: &str, markdown: &str) {
    open(out, "details", "folded");
    // Hides the text below in an attribute, so that a search finds it only once.
    out.push_str("<summary");
    if !preview.is_empty() {
        out.push_str(" data-preview=\"");
        push_text(out, preview);
        out.push('"');
    }
    out.push('>');
    push_element(out, "b", "", title);
    out.push_str("</summary>\n");
    push_markdown(out, colors, markdown);
    out.push_str("</details>\n");
}
