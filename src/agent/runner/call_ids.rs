//! Gives every tool call of a conversation an id of its own, before anyone sees it. Some servers
//! count from zero in each answer, or send one id twice: results, cells on the screen, records and
//! spill files would be taken for each other. What an API allows in an id is `llm::handoff`'s business.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::llm::{AssistantMessage, Message, StreamEvent};

/// Characters of an id in the name of a file.
const MAX_NAME: usize = 100;

/// The ids that are taken, while one answer comes in.
#[derive(Debug)]
pub(super) struct CallIds<'a> {
    before: &'a [Arc<Message>],
    spill_dir: &'a Path,
    /// Those of this answer so far.
    own: Vec<String>,
    /// All ids as far as they are fit for a file, once one came again: servers that repeat one may have
    /// done so often.
    taken: Option<HashSet<String>>,
}

impl<'a> CallIds<'a> {
    /// For the answer to the conversation `before`, whose calls spill into `spill_dir`.
    pub fn new(before: &'a [Arc<Message>], spill_dir: &'a Path) -> Self {
        Self {
            before,
            spill_dir,
            own: Vec::new(),
            taken: None,
        }
    }

    /// Changes the id of a call that begins, should another call have it already, here or in another
    /// branch of the session, which shares the folder.
    pub fn settle(&mut self, event: &mut StreamEvent) {
        let StreamEvent::ToolCallStart { id, .. } = event else {
            return;
        };
        let stem = if id.is_empty() { "call" } else { id.as_str() };
        let mut own = stem.to_owned();
        let mut n = 2;
        while self.is_taken(&own) {
            own = format!("{stem}-{n}");
            n += 1;
        }
        if let Some(taken) = &mut self.taken {
            taken.insert(file_chars(&own).collect());
        }
        self.own.push(own.clone());
        *id = own;
    }

    /// Whether another call has the id, or one of the same file.
    fn is_taken(&mut self, id: &str) -> bool {
        if let Some(taken) = &self.taken {
            let name: String = file_chars(id).collect();
            return taken.contains(&name) || self.is_spilled(id);
        }
        if self.ids().any(|other| file_chars(other).eq(file_chars(id))) {
            let names = self.ids().map(|id| file_chars(id).collect());
            self.taken = Some(names.collect());
            return true;
        }
        self.is_spilled(id)
    }

    fn ids(&self) -> impl Iterator<Item = &String> {
        let answers = self.before.iter().filter_map(|message| match &**message {
            Message::Assistant(message) => Some(message),
            _ => None,
        });
        let before = answers.flat_map(AssistantMessage::tool_calls);
        before.map(|call| &call.id).chain(&self.own)
    }

    fn is_spilled(&self, id: &str) -> bool {
        spill_file(self.spill_dir, id).symlink_metadata().is_ok()
    }
}

/// The file for the output of the call `id` that is too long for the model.
pub(super) fn spill_file(folder: &Path, id: &str) -> PathBuf {
    let name: String = file_chars(id).collect();
    folder.join(format!("{name}.txt"))
}

/// An id as far as it is fit for a file: its end, which tells those of one stem apart.
fn file_chars(id: &str) -> impl Iterator<Item = char> + '_ {
    let surplus = id.chars().count().saturating_sub(MAX_NAME);
    id.chars().skip(surplus).map(|c| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => c,
        _ => '_',
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::{Content, ToolCall};

    #[test]
    fn no_two_calls_share_an_id_or_a_file() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("old.txt"), "").unwrap();
        let call = |id: &str| {
            Content::ToolCall(ToolCall {
                id: id.to_owned(),
                ..ToolCall::default()
            })
        };
        let before = [Arc::new(Message::Assistant(AssistantMessage {
            content: vec![call("a"), call("b-2")],
            ..AssistantMessage::default()
        }))];
        let mut ids = CallIds::new(&before, folder.path());
        for (sent, own) in [
            ("a", "a-2"),
            ("a", "a-3"),
            ("b", "b"),
            ("b", "b-3"),
            ("c", "c"),
            ("", "call"),
            ("", "call-2"),
            ("old", "old-2"),
            ("x|y", "x|y"),
            ("x_y", "x_y-2"),
        ] {
            let mut event = StreamEvent::ToolCallStart {
                index: 0,
                id: sent.to_owned(),
                name: String::new(),
                custom: false,
            };
            ids.settle(&mut event);
            assert!(
                matches!(&event, StreamEvent::ToolCallStart { id, .. } if id == own),
                "{sent}: {event:?}"
            );
        }
    }

    #[test]
    fn a_spill_file_stays_in_its_folder() {
        let long = "x".repeat(5_000);
        for (id, name) in [
            ("call_1", "call_1.txt"),
            ("../../etc/passwd", "______etc_passwd.txt"),
            ("a|b\0c", "a_b_c.txt"),
            (&long, &format!("{}.txt", &long[..MAX_NAME])),
        ] {
            assert_eq!(
                spill_file(Path::new("/spill"), id),
                Path::new("/spill").join(name)
            );
        }
    }
}
