//! A tool call: one line with its subject and outcome, the changes or output, then the raw input
//! and output.

use serde_json::Value;

use super::diff::push_diff;
use super::escape::{open, push, push_element, push_text};
use super::highlight::Colors;
use super::picture::push_image;
use super::subject::{Subject, diffs, language, outcome, subject};
use super::transcript::first_line;
use crate::agent::Details;
use crate::llm::message::content_text;
use crate::llm::{Content, ToolCall, ToolResultMessage};

/// Most characters of the subject.
const TITLE: usize = 200;

pub fn arguments(call: &ToolCall) -> String {
    if !call.partial_arguments.is_empty() {
        return call.partial_arguments.clone();
    }
    serde_json::to_string_pretty(&call.arguments).unwrap_or_default()
}

/// Appends a call without a result.
pub fn push_call(out: &mut String, colors: &mut Colors, call: &ToolCall) {
    let title = Subject {
        text: subject(call),
        ..Subject::default()
    };
    begin(out, "tool", &call.name, &title, "no result");
    push_arguments(out, colors, call);
    out.push_str("</details>\n");
}

pub fn push_result(
    out: &mut String,
    colors: &mut Colors,
    result: &ToolResultMessage,
    call: Option<&ToolCall>,
) {
    let class = if result.is_error {
        "tool failed"
    } else {
        "tool"
    };
    let details = result.details.clone().map(Details::from_json);
    let title = Subject::of(details.as_ref(), call);
    begin(out, class, &result.tool_name, &title, &outcome(result));
    let text = content_text(&result.content);
    let command = command(details.as_ref(), call);
    if let Some((command, description)) = &command {
        if !description.is_empty() {
            push_element(out, "p", "note", description);
        }
        push_code(out, colors, "bash", command);
    }
    let diffs = diffs(result);
    for diff in &diffs {
        if diffs.len() > 1 {
            push_element(out, "p", "path", &diff.title);
        }
        let path = if diff.path.is_empty() {
            &title.text
        } else {
            &diff.path
        };
        push_diff(out, colors, path, &diff.text);
    }
    let shown = diffs.is_empty() || result.is_error;
    if shown && !text.is_empty() {
        push_code(out, colors, language(details.as_ref()), &text);
    }
    // Omits what the page already shows.
    let on_page = |value: &Value| {
        let value = value.as_str();
        let command = command.as_ref();
        let told = command.is_some_and(|(it, about)| value == Some(it) || value == Some(about));
        told || value == Some(&title.text)
    };
    let all_on_page = |call: &&ToolCall| match &call.arguments {
        Value::Object(arguments) => arguments.values().all(on_page),
        _ => false,
    };
    let written = call.filter(|call| !all_on_page(call));
    let hidden = Some(&text).filter(|text| !shown && !text.is_empty());
    if written.is_some() || hidden.is_some() {
        open(out, "details", "raw");
        out.push_str("<summary>Raw input and output</summary>\n");
        if let Some(call) = written {
            push_arguments(out, colors, call);
        }
        if let Some(text) = hidden {
            push_code(out, colors, "", text);
        }
        out.push_str("</details>\n");
    }
    out.push_str("</details>\n");
    for block in &result.content {
        if let Content::Image(image) = block {
            push_image(out, image);
        }
    }
}

/// Appends a call's arguments: multi-line texts as text, the rest as JSON.
fn push_arguments(out: &mut String, colors: &mut Colors, call: &ToolCall) {
    let is_long = |value: &Value| value.as_str().is_some_and(|text| text.contains('\n'));
    let Value::Object(all) = &call.arguments else {
        return push_code(out, colors, "json", &arguments(call));
    };
    if !call.partial_arguments.is_empty() || !all.values().any(is_long) {
        return push_code(out, colors, "json", &arguments(call));
    }
    let mut short = all.clone();
    short.retain(|_, value| !is_long(value));
    if !short.is_empty() {
        let json = serde_json::to_string_pretty(&short).unwrap_or_default();
        push_code(out, colors, "json", &json);
    }
    for (key, value) in all.iter().filter(|(_, value)| is_long(value)) {
        push_element(out, "p", "path", key);
        push_code(out, colors, "", value.as_str().unwrap_or_default());
    }
}

/// The command, and the model's description of it.
fn command(details: Option<&Details>, call: Option<&ToolCall>) -> Option<(String, String)> {
    if let Some(Details::Command(command)) = details
        && !command.command.is_empty()
    {
        let description = command.description.clone().unwrap_or_default();
        return Some((command.command.clone(), description));
    }
    let arguments = &call?.arguments;
    let description = arguments["description"].as_str().unwrap_or_default();
    Some((
        arguments["command"].as_str()?.to_owned(),
        description.to_owned(),
    ))
}

/// Appends a block that scrolls on its own and takes keyboard focus.
fn push_code(out: &mut String, colors: &mut Colors, language: &str, text: &str) {
    out.push_str(match language {
        "" => "<pre tabindex=\"0\">",
        "bash" => "<pre class=\"command\" tabindex=\"0\">",
        _ => "<pre class=\"source\" tabindex=\"0\">",
    });
    // HTML ignores the first line feed of such a block.
    if text.starts_with('\n') {
        out.push('\n');
    }
    colors.push(out, language, text);
    out.push_str("</pre>\n");
}

fn begin(out: &mut String, class: &str, name: &str, subject: &Subject, end: &str) {
    open(out, "details", class);
    out.push_str("<summary>");
    push_element(out, "b", "", name);
    out.push(' ');
    push_element(out, "code", "", &first_line(&subject.text, TITLE));
    out.push_str(" <span class=\"end\">");
    if let Some((added, removed)) = subject.change {
        push(
            out,
            format_args!("<ins>+{added}</ins> <del>−{removed}</del> · "),
        );
    }
    if !subject.note.is_empty() {
        push_text(out, &subject.note);
        out.push_str(" · ");
    }
    push_text(out, end);
    out.push_str("</span></summary>\n");
}
