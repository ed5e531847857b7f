//! A read-only session: refuses commands that would send or store something, and tells the user.
//! Messages go back to their author.

use super::activity::Typed;
use super::task::Actor;
use crate::event::{NoticeLevel, QueueKind};
use crate::handle::{Command, Leaving, TreeCommand, TrialCommand};
use crate::undo::UndoCommand;
use tiller_llm::Content;

const READ_ONLY: &str =
    "This session is read-only here: tiller can't send or save anything. Continue in a copy of it.";

impl Actor {
    /// Returns the command if it is allowed.
    pub(super) fn admit(&mut self, command: Command) -> Option<Command> {
        if !self.conversation.session.is_read_only() {
            return Some(command);
        }
        if is_allowed(&command) {
            return Some(command);
        }
        match command {
            Command::Message(kind, content, by) => self.refuse(kind, content, by),
            Command::Trial(TrialCommand::Begin(content, by)) => {
                self.refuse(QueueKind::Trial, content, by);
            }
            _ => {}
        }
        self.conversation.notice(NoticeLevel::Warning, READ_ONLY);
        self.show_state();
        None
    }

    fn refuse(&mut self, kind: QueueKind, content: Vec<Content>, by: u64) {
        let back = self.queues.number(Typed::here(kind, content));
        self.give_back(vec![back], by);
    }
}

/// Returns `true` if the command neither sends nor stores anything, nor touches a file of the user.
/// The match lists every command, so that a new one isn't forgotten.
fn is_allowed(command: &Command) -> bool {
    match command {
        // These report the refusal themselves.
        Command::Submit(..)
        | Command::Listening(_)
        | Command::Notify(..)
        | Command::TakeBack(..)
        | Command::ClearQueue(_)
        | Command::Release(_)
        | Command::Detach(_)
        | Command::Abort { .. }
        | Command::AbortRun(..)
        | Command::PermissionRules(_)
        | Command::RemoveRule(_)
        | Command::SetPermission(_)
        | Command::Answer(..)
        | Command::RaiseBudget
        | Command::SetBudget(_)
        | Command::SetModel(_)
        | Command::SetThinking(_)
        | Command::Open(..)
        | Command::SetInstructions(_)
        | Command::SetRules(_)
        | Command::ContextUsage(_)
        | Command::Warm
        | Command::Subscribe(..)
        | Command::Snapshot(_)
        | Command::Resubscribe(..)
        | Command::Shutdown(_) => true,
        Command::Tree(tree, _) => match tree {
            TreeCommand::Read(_) => true,
            TreeCommand::GoTo { leaving, .. } => *leaving == Leaving::Silently,
            TreeCommand::EditLast | TreeCommand::Label { .. } => false,
        },
        Command::Undo(undo, _) => match undo {
            UndoCommand::Preview(..) | UndoCommand::Prompts(_) | UndoCommand::PreviewRewind(..) => {
                true
            }
            UndoCommand::Go { .. } | UndoCommand::Rewind(..) => false,
        },
        Command::Message(..)
        | Command::SteerNow
        | Command::Continue
        | Command::Name(_)
        | Command::Compact(_)
        | Command::Uncompact(_)
        | Command::Trial(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot::channel;

    use super::*;
    use crate::undo::{Direction, Rewind, RewindPoint};

    #[test]
    fn commands_that_send_store_or_change_files_are_refused() {
        let point = RewindPoint {
            entry: String::new(),
            prompt: String::new(),
            all_turns: [].into(),
            first: 0,
            files: 0,
        };
        let go_to = |leaving| {
            let entry = String::new();
            Command::Tree(TreeCommand::GoTo { entry, leaving }, 0)
        };
        let (direction, turn) = (Direction::Undo, String::new());
        for (allowed, command) in [
            (false, Command::Message(QueueKind::Steering, Vec::new(), 0)),
            (false, Command::SteerNow),
            (false, Command::Continue),
            (false, Command::Name(String::new())),
            (false, Command::Compact(None)),
            (false, Command::Uncompact(0)),
            (false, Command::Trial(TrialCommand::Begin(Vec::new(), 0))),
            (false, Command::Trial(TrialCommand::Keep)),
            (false, Command::Trial(TrialCommand::Discard)),
            (false, Command::Tree(TreeCommand::EditLast, 0)),
            (false, go_to(Leaving::WithSummary)),
            (true, go_to(Leaving::Silently)),
            (true, Command::Tree(TreeCommand::Read(channel().0), 0)),
            (false, Command::Undo(UndoCommand::Go { direction, turn }, 0)),
            (
                false,
                Command::Undo(UndoCommand::Rewind(point.clone(), Rewind::Files), 0),
            ),
            (
                true,
                Command::Undo(UndoCommand::Preview(direction, channel().0), 0),
            ),
            (
                true,
                Command::Undo(UndoCommand::PreviewRewind(point, channel().0), 0),
            ),
            (true, Command::Undo(UndoCommand::Prompts(channel().0), 0)),
            (true, Command::ContextUsage(channel().0)),
            (
                true,
                Command::Abort {
                    cancelled: false,
                    by: 0,
                },
            ),
            (true, Command::Shutdown(channel().0)),
        ] {
            assert_eq!(is_allowed(&command), allowed, "{command:?}");
        }
    }
}
