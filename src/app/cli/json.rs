//! JSON mode: a session header, then one record per event and line.

use serde_json::json;

use super::headless::{Said, Sink};
use crate::agent::Event;
use crate::agent::session::Header;
use crate::app::records::{Recorder, to_line};

#[derive(Debug)]
pub struct Json {
    header: Header,
    recorder: Recorder,
}

impl Json {
    pub fn new(header: Header) -> Self {
        Self {
            header,
            recorder: Recorder::default(),
        }
    }
}

impl Sink for Json {
    fn start(&mut self, said: &mut Said) {
        said.out.push_str(&to_line(&self.header));
    }

    fn event(&mut self, event: &Event, said: &mut Said) {
        if let Some(record) = self.recorder.record(event) {
            said.out.push_str(&to_line(&record));
        }
    }

    fn answer(&mut self, text: &str, is_noticed: bool, said: &mut Said) {
        if !is_noticed {
            let notice = json!({"type": "notice", "level": "info", "text": text});
            said.out.push_str(&to_line(&notice));
        }
    }
}
