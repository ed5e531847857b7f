//! The demo without a terminal: the whole run as plain text on stdout, as it happens.

use std::fmt::Write as _;
use std::io;

use super::headless::Sink;
use super::out;
use crate::agent::tool::DiffDetails;
use crate::agent::{AgentEvent, Details, Event, ToolStatus};
use crate::app::sanitize::for_terminal;
use crate::llm::{Message, StreamEvent};

/// Lines of a tool's result that are shown.
const PREVIEW_LINES: usize = 8;

/// Writes a run as text.
#[derive(Debug, Default)]
pub struct PlainDemo {
    /// Whether the last thing written was a piece of a line.
    open: bool,
}

impl Sink for PlainDemo {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        match &event.kind {
            AgentEvent::MessageEnd { message } => match &**message {
                Message::User(_) => self.paragraph(&format!("> {}", message.text())),
                _ => self.close(),
            },
            AgentEvent::MessageUpdate {
                event: StreamEvent::TextDelta { delta, .. },
            } => {
                self.open = true;
                out::write(for_terminal(delta).as_bytes())
            }
            AgentEvent::MessageUpdate {
                event: StreamEvent::TextEnd { .. },
            } => {
                self.close()?;
                out::write(b"\n")
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
                self.paragraph(&format!("[{name}: {mark}] {}", shown(details)))
            }
            _ => Ok(()),
        }
    }

    fn end(&mut self) -> io::Result<()> {
        self.close()
    }
}

impl PlainDemo {
    fn close(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.open) {
            out::write(b"\n")
        } else {
            Ok(())
        }
    }

    fn paragraph(&mut self, text: &str) -> io::Result<()> {
        self.close()?;
        out::write(format!("{}\n\n", for_terminal(text.trim_end())).as_bytes())
    }
}

/// A title and the first lines of what the screen would show.
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
