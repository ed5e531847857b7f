//! Makes the id of each tool call unique in its conversation before anything else sees it. Some servers
//! count from zero in each answer, or send the same id twice. That would mix up results, cells on the
//! screen, records and spill files. `llm::handoff` handles the ids that an API accepts.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tiller_llm::{Content, Message, StreamEvent, ToolCall};

/// Longest id in a file name, in characters.
const MAX_NAME: usize = 100;

/// The ids in use while one answer is received.
#[derive(Debug)]
pub(super) struct CallIds<'a> {
    before: &'a [Arc<Message>],
    spill_dir: &'a Path,
    /// File names of the calls so far, unique like the ids. Filled at the first call.
    taken: Option<HashSet<String>>,
}

impl<'a> CallIds<'a> {
    /// For the answer to the conversation `before`. Its calls spill into `spill_dir`.
    pub fn new(before: &'a [Arc<Message>], spill_dir: &'a Path) -> Self {
        Self {
            before,
            spill_dir,
            taken: None,
        }
    }

    /// Changes the id of a starting call if another call already has it, here or in another branch
    /// of the session. Branches share the spill folder.
    pub fn settle(&mut self, event: &mut StreamEvent) {
        let StreamEvent::BlockStart {
            block: Content::ToolCall(ToolCall { id, .. }),
            ..
        } = event
        else {
            return;
        };
        let taken = self.taken.get_or_insert_with(|| names(self.before));
        let stem = if id.is_empty() { "call" } else { id.as_str() };
        let mut own = stem.to_owned();
        let mut n = 2;
        while taken.contains(&file_name(&own))
            || spill_file(self.spill_dir, &own).symlink_metadata().is_ok()
        {
            own = format!("{stem}-{n}");
            n += 1;
        }
        taken.insert(file_name(&own));
        *id = own;
    }
}

/// The file for the output of call `id` if it is too long for the model.
pub(super) fn spill_file(folder: &Path, id: &str) -> PathBuf {
    folder.join(format!("{}.txt", file_name(id)))
}

/// Turns the id into a file name. Keeps its end, where ids with a common prefix differ.
fn file_name(id: &str) -> String {
    let surplus = id.chars().count().saturating_sub(MAX_NAME);
    id.chars()
        .skip(surplus)
        .map(|c| match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => c,
            _ => '_',
        })
        .collect()
}

fn names(messages: &[Arc<Message>]) -> HashSet<String> {
    let answers = messages.iter().filter_map(|message| match &**message {
        Message::Assistant(message) => Some(message),
        _ => None,
    });
    answers
        .flat_map(|message| message.tool_calls().map(|call| file_name(&call.id)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiller_llm::AssistantMessage;

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
            let call = |id: &str| StreamEvent::BlockStart {
                index: 0,
                block: Content::ToolCall(ToolCall {
                    id: id.to_owned(),
                    ..ToolCall::default()
                }),
            };
            let mut event = call(sent);
            ids.settle(&mut event);
            assert_eq!(event, call(own), "{sent}");
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
