//! A tool call and its result: one line that says what it was about, then arguments, changes and
//! what the model got.

use serde_json::Value;

use super::content::push_image;
use super::escape::{open, push_element, push_text};
use super::transcript::first_line;
use crate::agent::Details;
use crate::agent::tool::DiffDetails;
use crate::app::humanize::measured;
use crate::llm::message::content_text;
use crate::llm::{Content, ToolCall, ToolResultMessage};

/// Characters of what a call is about.
const SUBJECT: usize = 120;

/// The changes of a result to files, each with its name.
pub fn diffs(result: &ToolResultMessage) -> Vec<(String, String)> {
    let Some(details) = &result.details else {
        return Vec::new();
    };
    match Details::from_json(details.clone()) {
        Details::Diff(diff) => {
            let all = std::iter::once(&diff).chain(&diff.files);
            let all = all.filter(|diff| !diff.diff.is_empty());
            all.map(|diff| (diff_title(diff), diff.diff.clone()))
                .collect()
        }
        // pi's tools say no kind.
        _ => details["diff"]
            .as_str()
            .map(|diff| (String::new(), diff.to_owned()))
            .into_iter()
            .collect(),
    }
}

fn diff_title(diff: &DiffDetails) -> String {
    let moved = diff.moved_from.as_ref();
    let moved = moved.map_or_else(String::new, |from| format!("{from} → "));
    format!("{moved}{}  +{} −{}", diff.path, diff.added, diff.removed)
}

/// What a call is about: the command, the file, the pattern.
pub fn subject(call: &ToolCall) -> String {
    let Value::Object(arguments) = &call.arguments else {
        return String::new();
    };
    let known = ["command", "path", "file_path", "pattern", "query", "url"];
    let known = known.iter().filter_map(|key| arguments.get(*key));
    let text = known.chain(arguments.values()).find_map(Value::as_str);
    first_line(text.unwrap_or_default(), SUBJECT)
}

/// The arguments as a reader takes them in.
pub fn arguments(call: &ToolCall) -> String {
    if !call.partial_arguments.is_empty() {
        return call.partial_arguments.clone();
    }
    serde_json::to_string_pretty(&call.arguments).unwrap_or_default()
}

/// How a call ended, in a few words.
pub fn outcome(result: &ToolResultMessage) -> String {
    let failed = if result.is_error { "failed" } else { "done" };
    match result.duration_ms {
        Some(ms) => format!("{failed}, {}", measured(ms)),
        None => failed.to_owned(),
    }
}

/// Appends a call that no result answers.
pub fn push_call(out: &mut String, call: &ToolCall) {
    begin(out, "tool", &call.name, &subject(call), "no result");
    push_element(out, "pre", "", &arguments(call));
    out.push_str("</details>\n");
}

/// Appends a result with the call it answers.
pub fn push_result(out: &mut String, result: &ToolResultMessage, call: Option<&ToolCall>) {
    let class = if result.is_error {
        "tool failed"
    } else {
        "tool"
    };
    let about = call.map(subject).unwrap_or_default();
    begin(out, class, &result.tool_name, &about, &outcome(result));
    if let Some(call) = call {
        push_element(out, "h4", "", "Arguments");
        push_element(out, "pre", "", &arguments(call));
    }
    let diffs = diffs(result);
    for (title, diff) in &diffs {
        push_element(out, "h4", "", title);
        push_diff(out, diff);
    }
    let text = content_text(&result.content);
    if !text.is_empty() {
        push_element(out, "h4", "", "Result");
        push_element(out, "pre", "", &text);
    }
    out.push_str("</details>\n");
    for block in &result.content {
        if let Content::Image(image) = block {
            push_image(out, image);
        }
    }
}

fn begin(out: &mut String, class: &str, name: &str, about: &str, end: &str) {
    open(out, "details", class);
    out.push_str("<summary>");
    push_element(out, "b", "", name);
    out.push(' ');
    push_element(out, "code", "", about);
    out.push(' ');
    push_element(out, "span", "note", end);
    out.push_str("</summary>\n");
}

fn push_diff(out: &mut String, diff: &str) {
    open(out, "pre", "diff");
    for line in diff.lines() {
        match line.as_bytes().first() {
            Some(b'+') => push_element(out, "ins", "", line),
            Some(b'-') => push_element(out, "del", "", line),
            _ => push_text(out, line),
        }
        out.push('\n');
    }
    out.push_str("</pre>\n");
}
