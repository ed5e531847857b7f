//! Collects a command's output: cut for the model, its last lines for the screen, and all of it raw in a
//! spill file. Its memory is bounded.

use std::borrow::Cow;
use std::path::PathBuf;

use super::clean::Cleaner;
use super::excerpt::{Excerpt, Limits};
use super::spill::Spill;
use crate::tool::CommandDetails;
use crate::tools::ToolSettings;
use tiller_llm::auth::{RedactStream, Redactor};

/// Lines for the screen while the command runs.
const LIVE_LINES: usize = 100;
/// Characters for the screen while the command runs.
const LIVE_CHARS: usize = 8_000;

/// Receives output as it arrives.
pub struct Output {
    cleaner: Cleaner,
    /// Removes secrets before the text is cut: otherwise half of one could stay.
    redacted: RedactStream,
    redacted_raw: RedactStream,
    excerpt: Excerpt,
    spill: Spill,
    /// Cleaned text between cleaner and excerpt. Kept for its allocation, like the bytes.
    passing: String,
    passing_bytes: Vec<u8>,
}

impl Output {
    /// `spill_file` is made when needed.
    pub fn new(settings: &ToolSettings, spill_file: PathBuf, redactor: &Redactor) -> Self {
        Self {
            cleaner: Cleaner::default(),
            redacted: redactor.stream(),
            redacted_raw: redactor.stream(),
            excerpt: Excerpt::new(Limits {
                chars: settings.bash_max_output_chars,
                lines: settings.bash_max_output_lines,
            }),
            spill: Spill::new(spill_file, settings.bash_max_spill_bytes),
            passing: String::new(),
            passing_bytes: Vec::new(),
        }
    }

    /// Takes the next bytes of the output, split anywhere. Waits for the spill file.
    pub async fn push(&mut self, bytes: &[u8]) {
        self.passing_bytes.clear();
        self.redacted_raw.push(bytes, &mut self.passing_bytes);
        self.spill.push(&self.passing_bytes).await;
        self.passing_bytes.clear();
        self.cleaner.push(bytes, &mut self.passing);
        self.redacted
            .push(self.passing.as_bytes(), &mut self.passing_bytes);
        self.pass_on();
    }

    fn pass_on(&mut self) {
        self.excerpt
            .push(&String::from_utf8_lossy(&self.passing_bytes));
        self.passing.clear();
    }

    /// The text that the last [`push`](Self::push) or [`close`](Self::close) completed, cleaned and
    /// redacted.
    pub fn latest(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.passing_bytes)
    }

    /// Takes the end of the output, which completes the rest of its text.
    pub async fn close(&mut self) {
        self.passing_bytes.clear();
        self.redacted_raw.finish(&mut self.passing_bytes);
        self.spill.push(&self.passing_bytes).await;
        self.passing_bytes.clear();
        self.cleaner.finish(&mut self.passing);
        self.redacted
            .push(self.passing.as_bytes(), &mut self.passing_bytes);
        self.redacted.finish(&mut self.passing_bytes);
        self.pass_on();
    }

    /// Fills in the last lines, which the screen shows while the command runs.
    pub fn show(&self, details: &mut CommandDetails) {
        let pending = self.redacted.preview(&self.cleaner.pending());
        details.output = self.excerpt.last_with(&pending, LIVE_LINES, LIVE_CHARS);
        // The cleaner holds the beginning of a line, except after an overlong one.
        details.total_lines = self.excerpt.lines() + pending.lines().count() as u64;
        details.total_bytes = self.spill.total();
        let shown = details.output.lines().count() as u64;
        details.truncated = self.cleaner.hidden() > 0 || shown < details.total_lines;
    }

    /// Finishes, and fills in what the model gets. Returns the lines after the output, which are part of
    /// the limits: where the rest is, then `last_lines`.
    pub async fn finish(
        mut self,
        last_lines: Vec<String>,
        details: &mut CommandDetails,
    ) -> Vec<String> {
        self.close().await;
        details.total_lines = self.excerpt.lines();
        details.total_bytes = self.spill.total();

        // A cut text needs the file, and the marker at the cut names it.
        let hidden = self.cleaner.hidden() > 0;
        let fits = self.excerpt.fits(&last_lines);
        let spilled = self.spill.finish(hidden || !fits).await;
        details.full_output_path = spilled.path.map(|path| path.display().to_string());
        let mut notes = Vec::new();
        if let (Some(path), true) = (&details.full_output_path, fits) {
            notes.push(format!("[full output: {path}]"));
        }
        if spilled.dropped > 0 {
            notes.push(format!(
                "[the file is incomplete: {} bytes in the middle are missing]",
                spilled.dropped
            ));
        }
        if let Some(error) = spilled.error {
            notes.push(format!("[could not save the full output: {error}]"));
        }
        notes.extend(last_lines);

        let full_output = match &details.full_output_path {
            Some(path) => format!("; full output: {path}"),
            None => String::new(),
        };
        details.output = self.excerpt.cut(&notes, |left_out, total| {
            format!("... (truncated, {left_out} of {total} characters left out{full_output}) ...")
        });
        details.truncated = hidden || !self.excerpt.fits(&notes);
        notes
    }
}
