//! Placeholders for long pastes: a single character in the text stands for the whole paste.
//!
//! A placeholder is an unassigned character, numbered by its index in [`Placeholders`]. No edit,
//! kill, undo or wrap can cut it, and Unicode's segmentation treats it like a control character, so
//! it never joins a cluster. Such characters in the input are removed like control characters.

use std::ops::Range;

const FIRST: char = '\u{e01f0}';
const LAST: char = '\u{e0fff}';

/// A paste of more lines than this gets a placeholder.
const MAX_PLAIN_LINES: usize = 10;
/// A paste of more characters than this gets a placeholder.
const MAX_PLAIN_CHARS: usize = 1000;

/// Bytes of old pastes kept for prompts that come back.
pub(super) const MAX_KEPT: usize = 16 * 1024 * 1024;

/// The pastes of the placeholders. None is removed while any text may hold it.
#[derive(Clone, Debug, Default)]
pub(super) struct Placeholders(Vec<Paste>);

#[derive(Clone, Debug)]
struct Paste {
    label: String,
    text: String,
}

pub(super) fn is_placeholder(c: char) -> bool {
    (FIRST..=LAST).contains(&c)
}

/// Cleans text for the editor: no control characters but ` ` and tabs.
pub(super) fn clean(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let chars = text.chars().filter_map(|c| match c {
        '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => Some('\n'),
        '\n' | '\t' => Some(c),
        c => (!c.is_control() && !is_placeholder(c)).then_some(c),
    });
    chars.collect()
}

impl Placeholders {
    /// Cleans a paste, and replaces it by a placeholder if it's long.
    pub(super) fn paste(&mut self, text: &str) -> String {
        let text = clean(text);
        let lines = text.lines().count();
        let chars = text.chars().count();
        let number = self.0.len();
        let free = char::from_u32(u32::from(FIRST) + number as u32).filter(|c| is_placeholder(*c));
        // All placeholders are in use: insert the whole text.
        let (true, Some(placeholder)) = (lines > MAX_PLAIN_LINES || chars > MAX_PLAIN_CHARS, free)
        else {
            return text;
        };
        let number = number + 1;
        let label = if lines > MAX_PLAIN_LINES {
            format!("[paste #{number} +{lines} lines]")
        } else {
            format!("[paste #{number} {chars} chars]")
        };
        self.0.push(Paste { label, text });
        placeholder.into()
    }

    pub(super) fn weight(&self) -> usize {
        self.0.iter().map(|paste| paste.text.len()).sum()
    }

    /// The text with its pastes replaced by placeholders.
    pub(super) fn fold(&self, mut text: String) -> String {
        for (number, paste) in self.0.iter().enumerate().rev() {
            let placeholder = char::from_u32(u32::from(FIRST) + number as u32);
            if let Some(placeholder) = placeholder.filter(|_| text.contains(&paste.text)) {
                text = text.replace(&paste.text, placeholder.encode_utf8(&mut [0; 4]));
            }
        }
        text
    }

    /// The text with every paste in full.
    pub(super) fn expand(&self, text: &str) -> String {
        self.expand_parts(text).0
    }

    /// The same, and the byte ranges of the pastes.
    pub(super) fn expand_parts(&self, text: &str) -> (String, Vec<Range<u32>>) {
        let mut full = String::with_capacity(text.len());
        let mut pastes = Vec::new();
        for part in text.split_inclusive(is_placeholder) {
            let plain = part.trim_end_matches(is_placeholder);
            full.push_str(plain);
            if let Some(paste) = self.get(&part[plain.len()..]) {
                let start = full.len() as u32;
                full.push_str(&paste.text);
                pastes.push(start..full.len() as u32);
            }
        }
        (full, pastes)
    }

    pub(super) fn label(&self, cluster: &str) -> Option<&str> {
        self.get(cluster).map(|paste| paste.label.as_str())
    }

    fn get(&self, cluster: &str) -> Option<&Paste> {
        let number = u32::from(cluster.chars().next()?).checked_sub(u32::from(FIRST))?;
        self.0.get(number as usize)
    }
}
