//! JSON mode: a session header, then one record per event and line.

use std::io;

use serde::Serialize;

use super::once::Sink;
use super::out;
use crate::agent::Event;
use crate::agent::session::Header;
use crate::app::records::Recorder;

/// Writes records.
#[derive(Debug)]
pub struct Json {
    /// The session header, until it is written, before the first event.
    header: Option<Header>,
    recorder: Recorder,
}

impl Json {
    /// A writer for a run of the session with `header`.
    pub fn new(header: Header) -> Self {
        Self {
            header: Some(header),
            recorder: Recorder::default(),
        }
    }
}

impl Sink for Json {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        if let Some(header) = self.header.take() {
            line(&header)?;
        }
        match self.recorder.record(event) {
            Some(record) => line(&record),
            None => Ok(()),
        }
    }
}

fn line(record: &impl Serialize) -> io::Result<()> {
    let mut line = harmless(serde_json::to_string(record)?);
    line.push('\n');
    out::write(line.as_bytes())
}

/// The same JSON, readable on a terminal that obeys C1 controls: JSON itself escapes the others.
fn harmless(json: String) -> String {
    let obeyed = |c: char| c.is_control();
    if !json.contains(obeyed) {
        return json;
    }
    let escape = |c: char| {
        if obeyed(c) {
            format!("\\u{:04x}", c as u32)
        } else {
            c.to_string()
        }
    };
    json.chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_control_character_is_left_and_nothing_is_changed() {
        let text = "a\u{1b}[2J\u{9b}2J\u{7f}é\u{85}日\n";
        let json = harmless(serde_json::to_string(text).unwrap());
        assert!(!json.contains(char::is_control), "{json:?}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }
}
