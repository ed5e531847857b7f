//! Short model names: which ids a pattern such as `sonnet` or `gpt-6` can mean, and which of several is
//! the newest.
//!
//! Works on ids only; the rest of the catalog handles providers and keys.

/// How well a pattern matches an id; lower is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MatchQuality {
    /// The whole id, ignoring case.
    Whole,
    /// Whole words of the id: `sonnet` in `claude-sonnet-5`.
    Words,
    /// Whole words, but the version continues: `opus-4` in `claude-opus-4.8`.
    Version,
    /// Any part of it.
    Part,
}

/// The typed form of an id. `.` `_` `:` and spaces are like `-`, and case doesn't matter.
pub struct Pattern(String);

impl Pattern {
    /// The pattern `text`. An empty one matches nothing.
    pub fn new(text: &str) -> Self {
        Self(plain(text))
    }

    /// How well it matches `id`, if it does.
    pub fn fit(&self, id: &str) -> Option<MatchQuality> {
        let pattern = self.0.as_str();
        // Few of the hundreds of ids match, so check before copying.
        if pattern.is_empty() || id.is_ascii() && !self.is_within(id) {
            return None;
        }
        let (dotted, id) = (id.to_lowercase(), plain(id));
        // Resellers put the maker first.
        if id.rsplit('/').next() == Some(pattern) || id == pattern {
            return Some(MatchQuality::Whole);
        }
        let mut best = None;
        for (start, found) in id.match_indices(pattern) {
            let end = start + found.len();
            let before = id[..start].chars().next_back();
            let after = id[end..].chars().next();
            // `gpt-6` isn't the beginning of `gpt-6.1`: the version continues.
            let version_goes_on = pattern.ends_with(|c: char| c.is_ascii_digit())
                && dotted[end..].starts_with('.')
                && dotted[end + 1..].starts_with(|c: char| c.is_ascii_digit());
            let words = before.is_none_or(|c| !c.is_alphanumeric())
                && after.is_none_or(|c| !c.is_alphanumeric());
            let fit = match (words, version_goes_on) {
                (true, false) => return Some(MatchQuality::Words),
                (true, true) => MatchQuality::Version,
                (false, false) => MatchQuality::Part,
                (false, true) => continue,
            };
            best = Some(best.map_or(fit, |best: MatchQuality| best.min(fit)));
        }
        best
    }

    fn is_within(&self, id: &str) -> bool {
        let pattern = self.0.as_bytes();
        let same =
            |(a, b): (&u8, &u8)| plain_char(char::from(a.to_ascii_lowercase())) == char::from(*b);
        let mut places = id.as_bytes().windows(pattern.len());
        places.any(|place| place.iter().zip(pattern).all(same))
    }
}

fn plain(text: &str) -> String {
    text.trim().to_lowercase().chars().map(plain_char).collect()
}

fn plain_char(c: char) -> char {
    if matches!(c, '.' | '_' | ':' | ' ') {
        '-'
    } else {
        c
    }
}

/// A parsed id: `claude-sonnet-4-5-20250929` is the family `claude sonnet`, version 4.5, dated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Name {
    /// The words, without versions and dates.
    pub family: Vec<String>,
    /// The numbers, most significant first; empty without a version.
    pub version: Vec<u32>,
    /// As a number, year first; only ever compared.
    date: Option<u64>,
}

impl Name {
    /// Parses `id`.
    pub fn parse(id: &str) -> Self {
        let mut name = Self::default();
        let id = plain(id);
        let mut tokens = id
            .split(['-', '/'])
            .filter(|token| !token.is_empty())
            .peekable();
        while let Some(token) = tokens.next() {
            let letters = token.trim_end_matches(|c: char| c.is_ascii_digit());
            let digits = &token[letters.len()..];
            if letters.is_empty() && digits.len() == 4 && digits.starts_with("20") {
                // 2025-10-31, or 10-2025.
                let mut date = digits.to_owned();
                let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
                let is_next = |part: &&str| part.len() == 2 && is_digits(part);
                while let Some(part) = tokens.next_if(|part| date.len() < 8 && is_next(part)) {
                    date.push_str(part);
                }
                if date.len() == 4 && name.version.last().is_some_and(|month| *month <= 12) {
                    name.version.pop();
                }
                name.date = date.parse().ok();
                continue;
            }
            match digits.parse() {
                Ok(_) if digits.len() >= 6 => name.date = digits.parse().ok(),
                Ok(number) => {
                    name.version.push(number);
                    if !letters.is_empty() {
                        name.family.push(letters.to_owned());
                    }
                }
                Err(_) if token == "latest" => {}
                Err(_) => name.family.push(token.to_owned()),
            }
        }
        name
    }

    /// Greater is newer. Of the same version, the id without a date wins.
    pub fn age(&self) -> (&[u32], bool, Option<u64>) {
        (&self.version, self.date.is_none(), self.date)
    }
}
