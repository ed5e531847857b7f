//! An exported session, ready to be written.

use std::io;

use super::format::{Format, Scope};
use super::lines::jsonl;
use super::markdown::markdown;
use super::page::page;
use super::transcript::Transcript;
use crate::agent::session::SessionView;
use crate::llm::auth::Redactor;

/// An exported session.
pub struct Export {
    /// The content of the file.
    pub bytes: Vec<u8>,
    /// The session's name, or the beginning of its first prompt.
    pub title: String,
}

impl Export {
    /// Exports `session`, and removes the secrets that `redactor` knows.
    pub fn new(
        session: &SessionView,
        format: Format,
        scope: Scope,
        redactor: &Redactor,
    ) -> io::Result<Self> {
        let transcript = Transcript::read(session, scope, redactor)?;
        let bytes = match format {
            Format::Html => page(&transcript).into_bytes(),
            Format::Md => markdown(&transcript).into_bytes(),
            Format::Jsonl => jsonl(session, scope, redactor)?,
        };
        let title = transcript.title;
        Ok(Self { bytes, title })
    }
}
