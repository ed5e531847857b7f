//! JSON mode: a session header, then one record per event and line.

use std::io;
use std::path::Path;

use serde_json::{Value, json};

use super::once::Sink;
use super::out;
use crate::agent::Event;
use crate::app::records::Recorder;

/// Writes records.
#[derive(Debug, Default)]
pub struct Json {
    recorder: Recorder,
}

impl Json {
    /// A writer, its session header already written. Unread output is noticed at the first event.
    pub fn start(session_id: &str, cwd: &Path, timestamp: &str) -> Self {
        let header = json!({
            "type": "session",
            "version": 3,
            "id": session_id,
            "timestamp": timestamp,
            "cwd": cwd.to_string_lossy(),
        });
        let _ = line(&header);
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

fn line(record: &Value) -> io::Result<()> {
    let mut bytes = serde_json::to_vec(record)?;
    bytes.push(b'\n');
    out::write(&bytes)
}
