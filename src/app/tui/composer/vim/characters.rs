//! Characters one by one: how far so many of them go, and what becomes of each.

use unicode_segmentation::UnicodeSegmentation;

use super::command::Motion;
use super::motion::target;

/// The end of so many characters of the line from a place on.
pub fn end_of(text: &str, from: usize, times: usize) -> usize {
    let right = target(text, from, Motion::Right, Some(times));
    right.map_or(from, |(to, _)| to)
}

pub fn count(text: &str) -> usize {
    text.graphemes(true).count()
}

/// Each of them is `c` now; lines stay lines.
pub fn replaced(text: &str, c: char) -> String {
    let characters = text.graphemes(true);
    characters
        .map(|it| if it == "\n" { '\n' } else { c })
        .collect()
}

/// Each of them has the other case.
pub fn toggled(text: &str) -> String {
    text.chars().map(other_case).collect()
}

fn other_case(c: char) -> char {
    let mut other: Vec<char> = if c.is_lowercase() {
        c.to_uppercase().collect()
    } else {
        c.to_lowercase().collect()
    };
    // Where it becomes several it stays.
    if other.len() == 1 { other.remove(0) } else { c }
}
