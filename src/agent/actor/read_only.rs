//! A session that is only read: what would send or store something is refused, and said so. Messages go
//! back to who typed them.

use super::activity::Typed;
use super::task::Actor;
use crate::agent::event::{NoticeLevel, QueueKind};
use crate::agent::handle::{Command, Leaving, TreeCommand, TrialCommand};
use crate::llm::Content;

const READ_ONLY: &str =
    "This session is open for reading only: nothing is sent or stored. Go on with a copy of it.";

impl Actor {
    /// Gives the command back if it may be done.
    pub(super) fn admit(&mut self, command: Command) -> Option<Command> {
        if !self.conversation.session.is_read_only() {
            return Some(command);
        }
        match command {
            Command::Message(kind, content) => self.refuse(kind, content),
            Command::Trial(TrialCommand::Begin(content)) => {
                self.refuse(QueueKind::Steering, content);
            }
            Command::Continue
            | Command::SteerNow
            | Command::Name(_)
            | Command::Compact(_)
            | Command::Tree(
                TreeCommand::Label { .. }
                | TreeCommand::EditLast
                | TreeCommand::GoTo {
                    leaving: Leaving::WithSummary,
                    ..
                },
            ) => {}
            other => return Some(other),
        }
        self.conversation.notice(NoticeLevel::Warning, READ_ONLY);
        self.show_state();
        None
    }

    /// Gives what was typed back.
    fn refuse(&mut self, kind: QueueKind, content: Vec<Content>) {
        let origin = None;
        self.queues.push(Typed {
            kind,
            content,
            origin,
        });
        let messages = self.queues.take_all();
        self.give_back(messages);
    }
}
