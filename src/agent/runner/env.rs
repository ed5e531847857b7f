//! What every run of an agent works with and nothing changes: the way to models, the tools, the
//! folders, the rules.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::agent::memory::SessionPrompt;
use crate::agent::rules::LoopRules;
use crate::agent::toolbox::Toolbox;
use crate::llm::{Message, Model, Provider, Request, ThinkingLevel, window};

/// The unchanging part of an agent.
pub(in crate::agent) struct Kit {
    /// The way to models.
    pub provider: Arc<dyn Provider>,
    /// The models that answer when the chosen one cannot, in order.
    pub fallback: Vec<Arc<Model>>,
    /// The tools.
    pub toolbox: Toolbox,
    /// The folder the tools work in.
    pub cwd: PathBuf,
    /// The rules of the loop.
    pub rules: LoopRules,
    /// Names the conversation for prompt caches: the session's id, if there is one.
    pub conversation_id: String,
    /// Names for calls and their spill files.
    pub call_names: CallNames,
    /// What was said about small windows.
    pub windows: Windows,
}

/// Says once of each model that its window is small.
#[derive(Debug, Default)]
pub(in crate::agent) struct Windows {
    told: Mutex<HashSet<String>>,
}

impl Windows {
    /// What to say before `model` is called.
    pub fn warning(&self, model: &Model) -> Option<String> {
        let text = window::warning(model)?;
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.insert(model.full_id()).then_some(text)
    }
}

impl Kit {
    /// The request for a call of `model` in the conversation `messages`, which begins with `prompt`.
    pub fn request(
        &self,
        model: &Model,
        thinking: ThinkingLevel,
        prompt: &SessionPrompt,
        messages: Vec<Arc<Message>>,
    ) -> Request {
        Request {
            model: model.clone(),
            system: prompt.system.clone(),
            messages,
            thinking_from: prompt.thinking_from,
            tools: prompt.tools.clone(),
            thinking,
            max_output: None,
            session_id: Some(self.conversation_id.clone()),
        }
    }
}

/// Gives each call a name that no other call of this session has. Providers promise unique ids
/// within one message at best, and a name also has to be fit for a file.
#[derive(Debug)]
pub(in crate::agent) struct CallNames {
    folder: PathBuf,
    taken: Mutex<HashSet<String>>,
}

impl CallNames {
    /// Names for calls that spill into `folder`.
    pub fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            taken: Mutex::default(),
        }
    }

    /// The name of the next call whose id is `call_id`, and its spill file.
    pub fn next(&self, call_id: &str) -> (String, PathBuf) {
        let stem: String = call_id
            .chars()
            .take(100)
            .map(|c| match c {
                'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => c,
                _ => '_',
            })
            .collect();
        let stem = if stem.is_empty() { "call" } else { &stem };
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let mut name = stem.to_owned();
        let mut n = 2;
        while taken.contains(&name) || exists(&self.folder, &name) {
            name = format!("{stem}-{n}");
            n += 1;
        }
        taken.insert(name.clone());
        let file = spill_file(&self.folder, &name);
        (name, file)
    }
}

/// An earlier run of the program may have spilled under the same name.
fn exists(folder: &Path, name: &str) -> bool {
    spill_file(folder, name).symlink_metadata().is_ok()
}

fn spill_file(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.txt"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn call_names_are_unique_and_fit_for_files() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("old.txt"), "").unwrap();
        let names = CallNames::new(folder.path().to_owned());
        for (id, name) in [
            ("call_1", "call_1"),
            ("call_1", "call_1-2"),
            ("call_1", "call_1-3"),
            ("old", "old-2"),
            ("../../etc/passwd", "______etc_passwd"),
            ("", "call"),
            ("a|b\0c", "a_b_c"),
        ] {
            let (got, file) = names.next(id);
            assert_eq!(got, name);
            assert_eq!(file, folder.path().join(format!("{name}.txt")));
        }
        assert_eq!(names.next(&"x".repeat(5_000)).0.len(), 100);
    }
}
