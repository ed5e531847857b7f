//! Redacts a text that comes in pieces, split anywhere: holds back a possible beginning of a secret
//! until more text comes.

use super::form::Form;
use super::redactor::{Redactor, mark};

/// Fewer letters of a secret than this appear in many words.
const SHOWN: usize = 4;

/// A text in progress.
#[derive(Debug)]
pub struct RedactStream {
    redactor: Redactor,
    held: Vec<u8>,
    /// The text before that.
    before: Option<u8>,
}

impl RedactStream {
    pub(super) fn new(redactor: Redactor) -> Self {
        Self {
            redactor,
            held: Vec::new(),
            before: None,
        }
    }

    /// Takes `piece` and appends the text that is now certain to `out`.
    pub fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        self.held.extend_from_slice(piece);
        self.hand_out(false, out);
    }

    /// Appends the held-back text, as no more will come.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.hand_out(true, out);
    }

    /// The part of the uncertain end that is safe to show: all held-back text and `next`, except a
    /// possible beginning of a secret.
    pub fn preview(&self, next: &str) -> String {
        let mut copy = Self {
            redactor: self.redactor.clone(),
            held: self.held.clone(),
            before: self.before,
        };
        let mut out = Vec::new();
        copy.push(next.as_bytes(), &mut out);
        if copy.held.len() < SHOWN {
            out.append(&mut copy.held);
        }
        String::from_utf8_lossy(&out).into_owned()
    }

    fn hand_out(&mut self, is_end: bool, out: &mut Vec<u8>) {
        let known = self.redactor.known();
        let open = if is_end {
            self.held.len()
        } else {
            known.open_end(&self.held)
        };
        let mut kept = 0;
        let wanted = |form: &Form| form.in_results;
        while let Some((found, form)) = known.find(&self.held, kept, self.before, &wanted) {
            if found.start >= open {
                break;
            }
            out.extend_from_slice(&self.held[kept..found.start]);
            out.extend_from_slice(mark(form).as_bytes());
            kept = found.end;
        }
        let open = open.max(kept);
        out.extend_from_slice(&self.held[kept..open]);
        drop(known);
        self.before = self.held.drain(..open).next_back().or(self.before);
    }
}
