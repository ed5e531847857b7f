//! Collects a command's output: cleaned and cut for the model, the last lines for the screen, the
//! whole of it raw in a spill file. Memory is bounded, whatever the command writes.

use std::fmt::Write;
use std::path::PathBuf;

use super::clean::Cleaner;
use super::excerpt::{Excerpt, Limits};
use super::spill::{Spill, Spilled};
use crate::agent::tools::ToolSettings;

/// Lines the screen gets while the command runs.
const LIVE_LINES: usize = 100;
/// Characters the screen gets while the command runs.
const LIVE_CHARS: usize = 8_000;

/// Takes output as it comes.
pub struct Output {
    cleaner: Cleaner,
    excerpt: Excerpt,
    spill: Spill,
    /// Cleaned text between cleaner and excerpt; kept for its allocation.
    passing: String,
}

/// The last lines so far, for the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tail {
    /// Cleaned text.
    pub text: String,
    /// Lines in all.
    pub lines: u64,
    /// Bytes of raw output in all.
    pub bytes: u64,
    /// Whether there is more than `text`.
    pub truncated: bool,
}

/// The output, complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// For the model: cleaned, cut in the middle when too long.
    pub text: String,
    /// What must be said behind it, a line each: where the rest is, the caller's last lines.
    pub notes: Vec<String>,
    /// Lines in all.
    pub lines: u64,
    /// Bytes of raw output in all.
    pub bytes: u64,
    /// Whether `text` lacks some of it.
    pub truncated: bool,
    /// Where all of it is.
    pub path: Option<PathBuf>,
}

impl Output {
    /// `spill_file` is made when needed.
    pub fn new(settings: &ToolSettings, spill_file: PathBuf) -> Self {
        Self {
            cleaner: Cleaner::default(),
            excerpt: Excerpt::new(Limits {
                chars: settings.bash_max_output_chars,
                lines: settings.bash_max_output_lines,
            }),
            spill: Spill::new(spill_file, settings.bash_max_spill_bytes),
            passing: String::new(),
        }
    }

    /// Appends raw output.
    pub fn push(&mut self, bytes: &[u8]) {
        self.spill.push(bytes);
        self.cleaner.push(bytes, &mut self.passing);
        self.excerpt.push(&self.passing);
        self.passing.clear();
    }

    /// What the screen shows while the command runs.
    pub fn tail(&self) -> Tail {
        let pending = self.cleaner.pending();
        let shown = self.excerpt.last_with(&pending, LIVE_LINES, LIVE_CHARS);
        // What the cleaner holds begins a line, except behind an overlong one.
        let lines = self.excerpt.lines() + pending.lines().count() as u64;
        Tail {
            truncated: self.cleaner.hidden() > 0 || (shown.lines().count() as u64) < lines,
            text: shown,
            lines,
            bytes: self.spill.total(),
        }
    }

    /// The end. `last_lines` go behind everything else and count against the limits.
    pub fn finish(mut self, last_lines: Vec<String>) -> Finished {
        self.cleaner.finish(&mut self.passing);
        self.excerpt.push(&self.passing);
        let bytes = self.spill.total();
        let hidden = self.cleaner.hidden() > 0;

        // A text that is cut needs the file, and the marker at the cut names the file.
        let fits = self
            .excerpt
            .cut(&last_lines.join("\n"), |_, _| String::new())
            .left_out
            == 0;
        let spilled = self.spill.finish(hidden || !fits);
        let mut notes = spill_notes(&spilled);
        let path_note = spilled
            .path
            .as_ref()
            .map(|path| format!("[full output: {}]", path.display()));
        if let Some(note) = path_note.filter(|_| fits) {
            notes.insert(0, note);
        }
        notes.extend(last_lines);

        let cut = self.excerpt.cut(&notes.join("\n"), |left_out, total| {
            let mut marker = format!("... (truncated, {left_out} of {total} characters left out");
            if let Some(path) = &spilled.path {
                // Infallible: it is a String.
                let _ = write!(marker, "; full output: {}", path.display());
            }
            marker + ") ..."
        });
        Finished {
            text: cut.text,
            notes,
            lines: self.excerpt.lines(),
            bytes,
            truncated: hidden || cut.left_out > 0,
            path: spilled.path,
        }
    }
}

fn spill_notes(spilled: &Spilled) -> Vec<String> {
    let mut notes = Vec::new();
    if spilled.dropped > 0 {
        notes.push(format!(
            "[the file is not complete: {} bytes in the middle of the output were dropped]",
            spilled.dropped
        ));
    }
    if let Some(error) = &spilled.error {
        notes.push(format!("[the full output could not be kept: {error}]"));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(
        raw: &[u8],
        settings: &ToolSettings,
        last: &[&str],
    ) -> (Finished, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let mut output = Output::new(settings, folder.path().join("call.txt"));
        for piece in raw.chunks(4096) {
            output.push(piece);
        }
        let last = last.iter().map(ToString::to_string).collect();
        (output.finish(last), folder)
    }

    fn model(finished: &Finished) -> String {
        let mut text = finished.text.clone();
        for note in &finished.notes {
            text = format!("{text}\n{note}");
        }
        text
    }

    #[test]
    fn a_file_at_its_limit_says_so() {
        let settings = ToolSettings {
            bash_max_spill_bytes: 100_000,
            ..ToolSettings::default()
        };
        let (got, _folder) = finished(&vec![b'x'; 150_000], &settings, &["[exit code 1]"]);
        assert_eq!(
            got.notes,
            [
                "[the file is not complete: 50000 bytes in the middle of the output were dropped]",
                "[exit code 1]"
            ]
        );
        assert!(model(&got).chars().count() <= 30_000);
    }

    // I11
    #[test]
    fn the_screen_gets_the_last_lines() {
        let mut output = Output::new(&ToolSettings::default(), PathBuf::from("/nowhere"));
        for line in 0..500 {
            output.push(format!("line {line}\n").as_bytes());
        }
        output.push(b"50%\r60%");
        let live = output.tail();
        assert!(live.text.ends_with("line 499\n60%"), "{}", live.text);
        assert_eq!((live.text.lines().count(), live.lines), (LIVE_LINES, 501));
        assert!(live.truncated);
    }
}
