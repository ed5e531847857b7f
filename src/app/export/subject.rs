//! One line about a tool call and its outcome, from its details or else its arguments.

use std::fmt::Write;

use serde_json::Value;

use super::transcript::first_line;
use crate::agent::Details;
use crate::agent::tool::DiffDetails;
use crate::app::humanize::{grouped, measured, noun};
use crate::llm::{ToolCall, ToolResultMessage};

/// Most characters of the subject.
const SUBJECT: usize = 120;

/// The parts of a call's line.
#[derive(Default)]
pub(super) struct Subject {
    /// The command, file or pattern.
    pub text: String,
    /// Lines added and removed.
    pub change: Option<(u64, u64)>,
    /// The amount of output, or how the call ended.
    pub note: String,
}

pub(super) struct FileDiff {
    /// The file and how many lines changed.
    pub title: String,
    pub path: String,
    pub text: String,
}

impl Subject {
    /// Uses `details`, and fills gaps from the call.
    pub fn of(details: Option<&Details>, call: Option<&ToolCall>) -> Self {
        let mut subject = match details {
            Some(Details::Diff(diff)) => {
                let all = || std::iter::once(diff).chain(&diff.files);
                let paths: Vec<&str> = all().map(|diff| diff.path.as_str()).collect();
                let sum =
                    |count: fn(&DiffDetails) -> u64| all().map(count).fold(0, u64::saturating_add);
                Self {
                    text: paths.join(", "),
                    change: Some((sum(|diff| diff.added), sum(|diff| diff.removed))),
                    note: String::new(),
                }
            }
            Some(Details::Command(command)) => {
                let note = match (command.exit_code, command.signal) {
                    _ if command.timed_out => String::from("timed out"),
                    (Some(code), _) if code != 0 => format!("exit {code}"),
                    (None, Some(signal)) => format!("signal {signal}"),
                    _ if command.total_lines > 0 => lines(command.total_lines),
                    _ => String::new(),
                };
                Self {
                    note,
                    ..Self::about(&command.command)
                }
            }
            Some(Details::Matches(found)) => {
                let more = if found.truncated { "+" } else { "" };
                let count = grouped(found.count);
                Self {
                    note: format!("{count}{more} {}", noun(found.count, "match", "matches")),
                    ..Self::about(&within(&found.pattern, &found.path, found.glob.as_deref()))
                }
            }
            Some(Details::Files(found)) => {
                let count = found.files.len() as u64;
                let more = if found.truncated { "+" } else { "" };
                Self {
                    note: format!("{}{more} {}", grouped(count), noun(count, "name", "names")),
                    ..Self::about(&within(&found.pattern, &found.path, None))
                }
            }
            Some(Details::Text(text)) => {
                let last = text
                    .first_line
                    .saturating_add(text.line_count)
                    .saturating_sub(1);
                let note = match (&text.note, text.line_count) {
                    (Some(note), _) => note.clone(),
                    (None, 0) => String::new(),
                    (None, _) if text.first_line > 1 => {
                        format!("lines {} to {}", grouped(text.first_line), grouped(last))
                    }
                    (None, count) => lines(count),
                };
                Self {
                    note,
                    ..Self::about(&text.path)
                }
            }
            Some(Details::Attachment(file)) => Self {
                note: file.media.clone(),
                ..Self::about(if file.title.is_empty() {
                    &file.path
                } else {
                    &file.title
                })
            },
            Some(Details::Todo(list)) => Self {
                note: list.progress(),
                ..Self::about(list.current().map_or("all done", |item| &item.content))
            },
            Some(Details::Other(other)) => Self::about(&other.title),
            None => Self::default(),
        };
        if subject.text.is_empty() {
            subject.text = call.map(self::subject).unwrap_or_default();
        }
        subject
    }

    fn about(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            ..Self::default()
        }
    }
}

fn lines(count: u64) -> String {
    format!("{} {}", grouped(count), noun(count, "line", "lines"))
}

fn within(pattern: &str, path: &str, glob: Option<&str>) -> String {
    let mut text = pattern.to_owned();
    if !path.is_empty() && path != "." {
        text.push_str(if pattern.is_empty() { "" } else { " in " });
        text.push_str(path);
    }
    if let Some(glob) = glob {
        let _ = write!(text, " ({glob})");
    }
    text
}

/// The subject of a call, from its arguments alone.
pub fn subject(call: &ToolCall) -> String {
    let Value::Object(arguments) = &call.arguments else {
        return String::new();
    };
    let known = ["command", "path", "file_path", "pattern", "query", "url"];
    let known = known.iter().filter_map(|key| arguments.get(*key));
    let text = known.chain(arguments.values()).find_map(Value::as_str);
    first_line(text.unwrap_or_default(), SUBJECT)
}

pub fn outcome(result: &ToolResultMessage) -> String {
    let failed = if result.is_error { "failed" } else { "done" };
    match (result.duration_ms, result.is_error) {
        (Some(ms), false) => measured(ms),
        (Some(ms), true) => format!("{failed}, {}", measured(ms)),
        (None, _) => failed.to_owned(),
    }
}

pub fn diffs(result: &ToolResultMessage) -> Vec<FileDiff> {
    let Some(details) = &result.details else {
        return Vec::new();
    };
    match Details::from_json(details.clone()) {
        Details::Diff(diff) => {
            let all = std::iter::once(&diff).chain(&diff.files);
            let all = all.filter(|diff| !diff.diff.is_empty());
            let file = |diff: &DiffDetails| FileDiff {
                title: title(diff),
                path: diff.path.clone(),
                text: diff.diff.clone(),
            };
            all.map(file).collect()
        }
        // pi's tools set no kind.
        _ => {
            let text = details["diff"].as_str();
            let file = |text: &str| FileDiff {
                title: String::new(),
                path: String::new(),
                text: text.to_owned(),
            };
            text.map(file).into_iter().collect()
        }
    }
}

fn title(diff: &DiffDetails) -> String {
    let moved = diff.moved_from.as_ref();
    let moved = moved.map_or_else(String::new, |from| format!("{from} → "));
    format!("{moved}{}  +{} −{}", diff.path, diff.added, diff.removed)
}

/// The language of a call's output, according to its details.
pub(super) fn language(details: Option<&Details>) -> &str {
    match details {
        Some(Details::Text(text)) => &text.path,
        _ => "",
    }
}
