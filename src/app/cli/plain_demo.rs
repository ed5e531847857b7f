//! The demo without a terminal: the whole run as plain text on stdout, as it happens.

use std::fmt::Write as _;

use super::headless::{Said, Sink};
use crate::agent::tool::DiffDetails;
use crate::agent::{AgentEvent, Details, Event, ToolStatus};
use crate::app::sanitize::for_terminal;
use crate::llm::{BlockKind, Message, StreamEvent};

const PREVIEW_LINES: usize = 8;

#[derive(Debug, Default)]
pub struct PlainDemo {
    /// Whether the output ends within a line.
    open: bool,
}

impl Sink for PlainDemo {
    fn event(&mut self, event: &Event, said: &mut Said) {
        match &event.kind {
            AgentEvent::MessageEnd { message } => match &**message {
                Message::User(_) => self.paragraph(&format!("> {}", message.text()), said),
                _ => self.close(said),
            },
            AgentEvent::MessageUpdate {
                event:
                    StreamEvent::BlockDelta {
                        kind: BlockKind::Text,
                        delta,
                        ..
                    },
            } => {
                self.open = true;
                said.out.push_str(&for_terminal(delta));
            }
            AgentEvent::MessageUpdate {
                event:
                    StreamEvent::BlockEnd {
                        kind: BlockKind::Text,
                        ..
                    },
            } => {
                self.close(said);
                said.out.push('\n');
            }
            AgentEvent::ToolEnd {
                name,
                status,
                details,
                ..
            } => {
                let mark = if *status == ToolStatus::Ok {
                    "ok"
                } else {
                    "failed"
                };
                self.paragraph(&format!("[{name}: {mark}] {}", shown(details)), said);
            }
            _ => {}
        }
    }

    fn end(&mut self, said: &mut Said) {
        self.close(said);
    }
}

impl PlainDemo {
    fn close(&mut self, said: &mut Said) {
        if std::mem::take(&mut self.open) {
            said.out.push('\n');
        }
    }

    fn paragraph(&mut self, text: &str, said: &mut Said) {
        self.close(said);
        let _ = write!(said.out, "{}\n\n", for_terminal(text.trim_end()));
    }
}

/// A title and the first lines that the screen would show.
fn shown(details: &Details) -> String {
    let (title, lines): (String, Vec<&str>) = match details {
        Details::Diff(DiffDetails { path, diff, .. }) => (path.clone(), diff.lines().collect()),
        Details::Command(command) => (command.command.clone(), command.output.lines().collect()),
        Details::Matches(matches) => (
            matches.pattern.clone(),
            matches.lines.iter().map(String::as_str).collect(),
        ),
        Details::Files(files) => (
            files.path.clone(),
            files.files.iter().map(String::as_str).collect(),
        ),
        Details::Text(text) => (text.path.clone(), text.text.lines().collect()),
        Details::Attachment(file) => (file.title.clone(), Vec::new()),
        Details::Todo(list) => (list.markdown(), Vec::new()),
        Details::Other(other) => (other.title.clone(), Vec::new()),
    };
    let mut text = title;
    for line in lines.iter().take(PREVIEW_LINES) {
        text.push_str("\n    ");
        text.push_str(line);
    }
    if lines.len() > PREVIEW_LINES {
        let more = lines.len() - PREVIEW_LINES;
        let _ = write!(text, "\n    ... {more} more lines");
    }
    text
}
