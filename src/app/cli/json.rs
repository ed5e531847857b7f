//! JSON mode: a session header, then one record per event and line.

use std::fmt::Write as _;
use std::io;

use serde::Serialize;

use super::headless::Sink;
use super::out;
use crate::agent::Event;
use crate::agent::session::Header;
use crate::app::records::Recorder;
use crate::app::sanitize::is_hostile;

#[derive(Debug)]
pub struct Json {
    header: Header,
    recorder: Recorder,
}

impl Json {
    /// A writer for a run of the session with `header`.
    pub fn new(header: Header) -> Self {
        Self {
            header,
            recorder: Recorder::default(),
        }
    }
}

impl Sink for Json {
    fn start(&mut self) -> io::Result<()> {
        line(&self.header)
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
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

/// The same JSON, harmless on a terminal: what could steer it or hides is written as an escape.
fn harmless(json: String) -> String {
    if !json.contains(is_hostile) {
        return json;
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if is_hostile(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_control_character_is_left_and_nothing_is_changed() {
        let text = "a\u{1b}[2J\u{9b}2J\u{7f}é\u{85}日\u{202e}\u{e0041}\n";
        let json = harmless(serde_json::to_string(text).unwrap());
        assert!(!json.contains(is_hostile), "{json:?}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }
}
