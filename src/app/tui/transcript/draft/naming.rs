//! What a call is about, while the model still writes it: the argument that tells most, as soon as it
//! is there.

use super::strings::{Found, Strings};

/// Names of arguments that say what a call is about, those that say most first.
pub const SUBJECTS: [&str; 5] = ["command", "pattern", "file_path", "path", "url"];
/// Bytes of it at most.
const LONGEST: usize = 400;

/// Reads the subject of a call off its argument text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Naming {
    strings: Strings,
    /// The place of the argument in [`SUBJECTS`], once one was found.
    found: Option<usize>,
    /// The same of the one that is being read.
    reads: Option<usize>,
    text: String,
}

impl Naming {
    /// Reads on; gives the subject when another one is complete: its first line.
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
