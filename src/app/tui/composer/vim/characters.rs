//! Commands on single characters.

use unicode_segmentation::UnicodeSegmentation;

use super::command::Motion;
use super::motion::target;

/// The end of this many characters of the line.
pub fn end_of(text: &str, from: usize, times: usize) -> usize {
    let right = target(text, from, Motion::Right, Some(times));
    right.map_or(from, |(to, _)| to)
}

pub fn count(text: &str) -> usize {
    text.graphemes(true).count()
}

/// Replaces each by `c`; line feeds stay.
pub fn replaced(text: &str, c: char) -> String {
    let characters = text.graphemes(true);
    characters
        .map(|it| if it == "\n" { '\n' } else { c })
        .collect()
}

/// Switches the case of each.
pub fn toggled(text: &str) -> String {
    text.chars().map(other_case).collect()
}

fn other_case(c: char) -> char {
    let mut other: Vec<char> = if c.is_lowercase() {
        c.to_uppercase().collect()
    } else {
        c.to_lowercase().collect()
    };
    // A character whose other case is several characters stays.
    if other.len() == 1 { other.remove(0) } else { c }
}
