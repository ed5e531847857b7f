//! Earlier prompts.

/// Earlier prompts, oldest first, each text once.
#[derive(Clone, Debug, Default)]
pub struct History {
    entries: Vec<String>,
    unsaved: Vec<String>,
}

impl History {
    /// Remembers a prompt as the newest. Blank text is not remembered.
    pub fn push(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        self.entries.retain(|entry| entry != text);
        self.entries.push(text.to_owned());
        self.unsaved.push(text.to_owned());
    }

    /// Adds what a history file held, oldest first, before everything remembered so far.
    pub fn merge(&mut self, mut older: Vec<String>) {
        older.append(&mut self.entries);
        self.entries = older;
    }

    /// What was pushed since the last call, oldest first: to be appended to the file.
    pub fn take_unsaved(&mut self) -> Vec<String> {
        std::mem::take(&mut self.unsaved)
    }

    /// The prompts that contain every word of `query`, in any case, newest first.
    pub fn search<'a>(&'a self, query: &str) -> impl Iterator<Item = &'a str> {
        let query = query.to_lowercase();
        self.entries
            .iter()
            .rev()
            .filter(move |entry| entry.to_lowercase().contains(&query))
            .map(String::as_str)
    }
}
