//! JSON mode: a session header, then one record per event and line.

use std::io;

use serde::Serialize;

use super::once::Sink;
use super::out;
use crate::agent::Event;
use crate::agent::session::Header;
use crate::app::records::Recorder;

/// Writes records.
#[derive(Debug, Default)]
pub struct Json {
    recorder: Recorder,
}

impl Json {
    /// A writer, the session header already written. A reader that is gone is noticed at the first
    /// event.
    pub fn start(header: &Header) -> Self {
        let _ = line(header);
        Self::default()
    }
}

impl Sink for Json {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        match self.recorder.record(event) {
            Some(record) => line(&record),
            None => Ok(()),
        }
    }
}

fn line(record: &impl Serialize) -> io::Result<()> {
    let mut bytes = serde_json::to_vec(record)?;
    bytes.push(b'\n');
    out::write(&bytes)
}
