//! Tool calls as the client shows them.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::agent::tool::{DiffDetails, FileChange};
use crate::agent::{Details, TodoDetails, TodoStatus, ToolStatus};
use crate::llm::Content;
use crate::llm::message::content_text;

/// The fields of a `tool_call` or `tool_call_update` that follow from its details.
pub(super) fn fields(id: &str, name: &str, details: &Details, cwd: &Path) -> Value {
    let (kind, title, content, locations) = match details {
        Details::Diff(diff) => {
            let kind = match diff.change {
                _ if diff.moved_from.is_some() => "move",
                FileChange::Deleted => "delete",
                FileChange::Added | FileChange::Changed => "edit",
            };
            let files = || std::iter::once(diff).chain(&diff.files);
            let locations = files().map(|file| location(&file.path, file.first_changed_line, cwd));
            let content = files().flat_map(|file| hunks(file, cwd)).collect();
            let title = format!("{name} {}", diff.paths().join(", "));
            (kind, title, content, locations.collect())
        }
        Details::Command(command) => {
            let title = command.command.clone();
            ("execute", title, fenced(&command.output), Vec::new())
        }
        Details::Matches(found) => {
            let title = format!("{name} {} {}", found.pattern, found.path);
            ("search", title, fenced(&found.lines.join("\n")), Vec::new())
        }
        Details::Files(found) => {
            let title = format!("{name} {} {}", found.pattern, found.path);
            ("search", title, fenced(&found.files.join("\n")), Vec::new())
        }
        Details::Text(text) => {
            let line = Some(text.first_line).filter(|line| *line > 0);
            let locations = match &*text.path {
                "" => Vec::new(),
                path => vec![location(path, line, cwd)],
            };
            let kind = if text.path.is_empty() {
                "other"
            } else {
                "read"
            };
            let title = format!("{name} {}", text.path);
            (kind, title, fenced(&text.text), locations)
        }
        Details::Attachment(file) => {
            let locations = vec![location(&file.path, None, cwd)];
            (
                "other",
                format!("{name} {}", file.path),
                Vec::new(),
                locations,
            )
        }
        Details::Todo(_) => ("think", name.to_owned(), Vec::new(), Vec::new()),
        Details::Other(other) => {
            let title = format!("{name} {}", other.title);
            ("other", title, Vec::new(), Vec::new())
        }
    };
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    let title = if title.is_empty() { name } else { &title };
    let mut fields = json!({"toolCallId": id, "title": title, "kind": kind});
    if !content.is_empty() {
        fields["content"] = json!(content);
    }
    if !locations.is_empty() {
        fields["locations"] = json!(locations);
    }
    fields
}

/// Adds how a call ended: its status, its pictures, and the reason if it failed.
pub(super) fn end(fields: &mut Value, status: ToolStatus, content: &[Content]) {
    let status_name = if status.is_error() {
        "failed"
    } else {
        "completed"
    };
    fields["status"] = json!(status_name);
    let mut shown: Vec<Value> = content
        .iter()
        .filter_map(|block| match block {
            Content::Image(image) => Some(block_of(json!({
                "type": "image", "data": image.data, "mimeType": image.mime_type,
            }))),
            _ => None,
        })
        .collect();
    let has_content = fields.get("content").is_some();
    if status.is_error() || !has_content {
        shown.extend(fenced(&content_text(content)));
    }
    if shown.is_empty() {
        return;
    }
    // A command's output is its text for the model too.
    let is_command = fields["kind"] == "execute" && has_content;
    match fields.get_mut("content").and_then(Value::as_array_mut) {
        Some(before) if !is_command => before.extend(shown),
        Some(_) => {}
        None => fields["content"] = json!(shown),
    }
}

/// The todo list as a plan.
pub(super) fn plan(todo: &TodoDetails) -> Value {
    let entries = todo.items.iter().map(|item| {
        let status = match item.status {
            TodoStatus::Pending => "pending",
            TodoStatus::InProgress => "in_progress",
            TodoStatus::Completed => "completed",
        };
        json!({"content": item.content, "priority": "medium", "status": status})
    });
    json!({"entries": entries.collect::<Vec<_>>()})
}

fn block_of(content: Value) -> Value {
    json!({"type": "content", "content": content})
}

/// The text as a code block; nothing if it is empty.
fn fenced(text: &str) -> Vec<Value> {
    let text = text.trim_end();
    if text.is_empty() {
        return Vec::new();
    }
    let mut fence = "```".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    let text = format!("{fence}\n{text}\n{fence}");
    vec![block_of(json!({"type": "text", "text": text}))]
}

fn location(path: &str, line: Option<u64>, cwd: &Path) -> Value {
    let mut location = json!({"path": absolute(path, cwd)});
    if let Some(line) = line {
        location["line"] = json!(line);
    }
    location
}

fn absolute(path: &str, cwd: &Path) -> PathBuf {
    match (path.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => cwd.join(path),
    }
}

/// One diff for each group of changed lines, with the lines around it.
fn hunks(file: &DiffDetails, cwd: &Path) -> Vec<Value> {
    let path = absolute(&file.path, cwd);
    let mut hunks = Vec::new();
    let (mut old, mut new) = (String::new(), String::new());
    let mut finish = |old: &mut String, new: &mut String| {
        let (old, new) = (std::mem::take(old), std::mem::take(new));
        if old != new {
            // A file without lines is as good as none.
            let old = (!old.is_empty()).then_some(old);
            hunks.push(json!({"type": "diff", "path": path, "oldText": old, "newText": new}));
        }
    };
    for line in file.diff.split('\n') {
        let sign = line.chars().next().unwrap_or(' ');
        let rest = line.get(1..).unwrap_or_default().trim_start_matches(' ');
        let text = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '~');
        if text.len() == rest.len() {
            // Lines are left out here.
            finish(&mut old, &mut new);
            continue;
        }
        let text = text.strip_prefix(' ').unwrap_or(text);
        if sign != '+' {
            old.push_str(text);
            old.push('\n');
        }
        if sign != '-' {
            new.push_str(text);
            new.push('\n');
        }
    }
    finish(&mut old, &mut new);
    hunks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_group_of_changes_is_a_diff() {
        let mut file = DiffDetails::of("a.txt".to_owned());
        file.diff = "  9 nine\n-10 12 old\n+10 new\n    ...\n 20 same\n+21 \n    ...".to_owned();
        let diff = |old: &str, new: &str| json!({"type": "diff", "path": "/p/a.txt", "oldText": old, "newText": new});
        let expected = [
            diff("nine\n12 old\n", "nine\nnew\n"),
            diff("same\n", "same\n\n"),
        ];
        assert_eq!(hunks(&file, Path::new("/p")), expected);
        file.diff = "+1 one".to_owned();
        let expected =
            json!({"type": "diff", "path": "/p/a.txt", "oldText": null, "newText": "one\n"});
        assert_eq!(hunks(&file, Path::new("/p")), [expected]);
    }

    #[test]
    fn a_fence_is_longer_than_those_inside() {
        let shown = fenced("a\n```\nb\n").remove(0);
        assert_eq!(shown["content"]["text"], "````\na\n```\nb\n````");
        assert!(fenced(" \n").is_empty());
    }
}
