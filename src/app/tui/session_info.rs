//! The session behind the screen, as far as the screen tells of it. Plain data.

use std::path::PathBuf;

/// The session behind the screen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionInfo {
    /// The name the user gave it.
    pub name: Option<String>,
    /// A title made from its first prompt; empty before that.
    pub title: String,
    /// Its file.
    pub file: PathBuf,
    /// Whether it is only read: nothing is sent or stored.
    pub is_read_only: bool,
}

impl SessionInfo {
    /// What it is called: its name, or else its title.
    pub fn label(&self) -> Option<&str> {
        let title = Some(self.title.as_str()).filter(|title| !title.is_empty());
        self.name.as_deref().or(title)
    }
}
