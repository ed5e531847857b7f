//! Print mode: the text of the last reply on stdout, nothing else. Warnings and errors go to stderr.

use super::headless::{Said, Sink};
use crate::agent::{AgentEvent, Event, NoticeLevel};
use crate::app::sanitize::for_terminal;
use crate::llm::Message;

#[derive(Debug)]
pub struct Print {
    reply: String,
    /// The error of the last retry, which isn't repeated.
    failure: String,
    output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// A terminal: control characters are escaped.
    Tty,
    /// A pipe or a file: the text is not escaped.
    Pipe,
}

impl Print {
    pub fn new(output: Output) -> Self {
        Self {
            reply: String::new(),
            failure: String::new(),
            output,
        }
    }
}

impl Sink for Print {
    fn event(&mut self, event: &Event, said: &mut Said) {
        match &event.kind {
            AgentEvent::MessageEnd { message } => {
                if matches!(**message, Message::Assistant(_)) {
                    self.reply = message.text();
                }
            }
            // Text before a failure isn't an answer.
            AgentEvent::AgentEnd { outcome, .. } if !outcome.has_answer() => self.reply.clear(),
            // Tell the user why the answer takes longer.
            AgentEvent::RetryStart {
                attempt,
                max_attempts,
                delay_ms,
                error,
            } => {
                let seconds = delay_ms.div_ceil(1000);
                let failure = if self.failure == *error { "" } else { error };
                if !failure.is_empty() {
                    said.tell(failure);
                }
                said.tell(&format!(
                    "retrying ({attempt} of {max_attempts}) in {seconds} s"
                ));
                self.failure.clone_from(error);
            }
            AgentEvent::Notice {
                level: NoticeLevel::Error,
                text,
            } => said.fail(text),
            AgentEvent::Notice {
                level: NoticeLevel::Refusal | NoticeLevel::Warning,
                text,
            } => said.tell(text),
            _ => {}
        }
    }

    fn end(&mut self, said: &mut Said) {
        if self.reply.is_empty() {
            return;
        }
        said.out = match self.output {
            Output::Tty => for_terminal(&self.reply).into_owned(),
            Output::Pipe => std::mem::take(&mut self.reply),
        };
        if !said.out.ends_with('\n') {
            said.out.push('\n');
        }
    }
}
