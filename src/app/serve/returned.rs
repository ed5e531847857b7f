//! Messages that an abort returned. They go on once the agent is idle, as in pi; a client that doesn't want
//! that clears the queue first.

use crate::agent::{Accept, AgentHandle, QueueKind, Queued, Submission};
use crate::llm::Content;

/// Returned messages, and the answers that aren't sent again.
#[derive(Debug, Default)]
pub(super) struct Returned {
    messages: Vec<Queued>,
    answers: Vec<String>,
    /// The ids of answers that came back.
    dropped: Vec<u64>,
}

impl Returned {
    /// Notes that the client has answered a question with this text. If the question is gone by now, the text
    /// comes back. Sending it as a message would start a run that nobody asked for.
    pub fn answered(&mut self, text: &str) {
        self.answers.push(text.to_owned());
    }

    pub fn add(&mut self, messages: &[Queued]) {
        // An answer comes back alone.
        if let [only] = messages
            && let [Content::Text(text)] = &only.content[..]
            && self.answers.contains(&text.text)
        {
            self.dropped.push(only.id);
        } else {
            self.messages.extend(messages.iter().cloned());
        }
    }

    /// Sends them again. The agent is idle.
    pub async fn send(&mut self, handle: &AgentHandle) {
        self.answers.clear();
        let mut ids = std::mem::take(&mut self.dropped);
        for message in self.messages.drain(..) {
            // The user can begin the trial again on the screen.
            if message.kind == QueueKind::Trial {
                continue;
            }
            ids.push(message.id);
            let again = handle.submit(Submission {
                kind: message.kind,
                content: message.content,
                origin: message.origin,
                session: None,
                accept: Accept::Always,
            });
            // It fails only if the agent has ended; then the session keeps the message.
            if again.await.is_err() {
                ids.pop();
            }
        }
        if !ids.is_empty() {
            handle.release(ids);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_comes_back_is_no_message() {
        let queued = |id, text: &str| Queued {
            id,
            kind: QueueKind::Steering,
            content: vec![Content::text(text)],
            origin: None,
        };
        let mut returned = Returned::default();
        returned.answered("Which one?");
        returned.add(&[queued(1, "Which one?")]);
        returned.add(&[queued(2, "go on")]);
        returned.add(&[queued(3, "Which one?"), queued(4, "next")]);
        let ids: Vec<u64> = returned.messages.iter().map(|it| it.id).collect();
        assert_eq!((ids, returned.dropped), (vec![2, 3, 4], vec![1]));
    }
}
