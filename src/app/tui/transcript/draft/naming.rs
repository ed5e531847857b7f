//! Finds the subject of a call while the model still writes it: its most telling argument so far.

use super::strings::{Found, Strings};

/// Arguments that name the subject of a call, the most telling first.
pub const SUBJECTS: [&str; 5] = ["command", "pattern", "file_path", "path", "url"];
/// The longest subject, in bytes.
const LONGEST: usize = 400;

/// Finds the subject of a call in its argument text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Naming {
    strings: Strings,
    /// The index in [`SUBJECTS`] of the best argument found so far.
    found: Option<usize>,
    /// The index of the argument being read.
    reads: Option<usize>,
    text: String,
}

impl Naming {
    /// Reads more text. Returns the first line of a better subject once that argument is complete.
    pub fn push(&mut self, piece: &str) -> Option<String> {
        let Self {
            strings,
            found,
            reads,
            text,
        } = self;
        let mut subject = None;
        strings.push(piece, |part| match part {
            Found::Start(key) => {
                let place = SUBJECTS.iter().position(|subject| *subject == key);
                *reads = place.filter(|place| found.is_none_or(|found| *place < found));
                text.clear();
            }
            Found::Text(more) if reads.is_some() && text.len() < LONGEST => text.push_str(more),
            Found::Text(_) => {}
            Found::End => {
                if let Some(place) = reads.take() {
                    *found = Some(place);
                    subject = Some(text.lines().next().unwrap_or_default().to_owned());
                }
            }
        });
        subject
    }
}
