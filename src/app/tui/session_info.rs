//! Facts about the current session for the screen. Plain data.

use std::path::PathBuf;

/// The current session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionInfo {
    /// The name the user gave it.
    pub name: Option<String>,
    /// A title made from its first prompt; empty before that.
    pub title: String,
    /// Its file.
    pub file: PathBuf,
    /// Whether it's read-only: nothing is sent or stored.
    pub is_read_only: bool,
}

impl SessionInfo {
    /// Its name, or else its title.
    pub fn label(&self) -> Option<&str> {
        let title = Some(self.title.as_str()).filter(|title| !title.is_empty());
        self.name.as_deref().or(title)
    }
}
