//! JSON mode: a session header, then one record per event and line.

use std::io;

use super::headless::Sink;
use super::out;
use crate::agent::Event;
use crate::agent::session::Header;
use crate::app::records::{Recorder, to_line};

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
        out::write(to_line(&self.header).as_bytes())
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        match self.recorder.record(event) {
            Some(record) => out::write(to_line(&record).as_bytes()),
            None => Ok(()),
        }
    }
}
