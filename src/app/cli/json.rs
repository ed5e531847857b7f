//! JSON mode: a session header, then one record per event and line.

use std::io;
use std::path::Path;

use serde_json::{Value, json};

use super::once::Sink;
use super::out;
use crate::agent::Event;
use crate::agent::session::SessionLog;
use crate::app::records::Recorder;

/// Writes records.
#[derive(Debug, Default)]
pub struct Json {
    recorder: Recorder,
}

impl Json {
    /// A writer, its session header already written: the header of the file, or one of its own
    /// when nothing is stored. A reader that is gone is noticed at the first event.
    pub fn start(session: Option<&SessionLog>, cwd: &Path) -> Self {
        let header = match session {
            Some(session) => session.header(),
            None => json!({
                "type": "session",
                "version": 3,
                "id": uuid::Uuid::now_v7().to_string(),
                "timestamp": jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string(),
                "cwd": cwd.to_string_lossy(),
            }),
        };
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
