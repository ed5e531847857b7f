//! Searches a session's prompts, answers and names. Holds one line at a time in memory. Skips tool
//! results, thinking and pictures.

use std::fs::OpenOptions;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use regex::bytes::{Regex, RegexBuilder};

use super::entry::Body;
use super::reader;
use tiller_llm::Message;

/// Longest line to search, in bytes. Longer ones are results and pictures.
const LONGEST: u64 = 16 * 1024 * 1024;

/// Words that must all be in one prompt, answer or name, in any case and order.
#[derive(Debug)]
pub struct Words {
    plain: Vec<Regex>,
    /// As JSON encodes them. Lines without them aren't parsed.
    escaped: Vec<Regex>,
}

/// A match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The entry's id; empty in very old files.
    pub entry: String,
    /// `user`, `assistant` or `name`.
    pub role: &'static str,
    /// The line of text with the first match.
    pub line: String,
    /// Byte position of the match in it.
    pub at: usize,
}

impl Found {
    /// The line, from `before` characters before the match.
    pub fn excerpt(&self, before: usize) -> String {
        let begin = self.line[..self.at].char_indices().rev().nth(before);
        let begin = begin.map_or(0, |(begin, _)| begin);
        let dots = if begin > 0 { "…" } else { "" };
        format!("{dots}{}", self.line[begin..].trim())
    }
}

impl Words {
    /// Splits `text` at spaces; `None` if it has no words.
    pub fn new(text: &str) -> Option<Self> {
        let regex = |word: &str| {
            let mut builder = RegexBuilder::new(&regex::escape(word));
            builder.case_insensitive(true).build().ok()
        };
        let escaped = |word: &str| {
            let json = serde_json::to_string(word).unwrap_or_default();
            regex(json.trim_start_matches('"').strip_suffix('"').unwrap_or(""))
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        let plain: Vec<Regex> = words.iter().filter_map(|word| regex(word)).collect();
        let escaped: Vec<Regex> = words.iter().filter_map(|word| escaped(word)).collect();
        (!words.is_empty() && plain.len() == words.len()).then_some(Self { plain, escaped })
    }

    /// Up to `most` matches in the session at `path`.
    pub fn find(&self, path: &Path, most: usize) -> io::Result<Vec<Found>> {
        let file = reader::open(path, OpenOptions::new().read(true))?;
        let mut file = BufReader::with_capacity(256 * 1024, file);
        let mut found = Vec::new();
        let mut line = Vec::new();
        while found.len() < most {
            line.clear();
            if file.by_ref().take(LONGEST).read_until(b'\n', &mut line)? == 0 {
                break;
            }
            if line.last() != Some(&b'\n') && line.len() as u64 == LONGEST {
                file.skip_until(b'\n')?;
                continue;
            }
            // Other programs may write letters as \u escapes.
            let is_escaped = memchr::memmem::find(&line, br"\u").is_some();
            if is_escaped || self.escaped.iter().all(|word| word.is_match(&line)) {
                found.extend(self.find_in(&line));
            }
        }
        Ok(found)
    }

    fn find_in(&self, line: &[u8]) -> Option<Found> {
        let value: serde_json::Value = serde_json::from_slice(line).ok()?;
        let entry = value["id"].as_str().unwrap_or_default().to_owned();
        let (role, text) = match Body::of(value)? {
            Body::Message { message } => match &*message {
                Message::User(_) => ("user", message.text()),
                Message::Assistant(_) => ("assistant", message.text()),
                Message::ToolResult(_) => return None,
            },
            Body::SessionInfo { name } => ("name", name),
            _ => return None,
        };
        let all = self.plain.iter().all(|word| word.is_match(text.as_bytes()));
        let first = self.plain.first().filter(|_| all)?;
        let first = first.find(text.as_bytes())?.start();
        let begin = text[..first].rfind('\n').map_or(0, |end| end + 1);
        let line = text[begin..].lines().next().unwrap_or_default();
        Some(Found {
            entry,
            role,
            line: line.to_owned(),
            at: first - begin,
        })
    }
}
