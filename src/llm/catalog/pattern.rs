//! Short names of models: which ids a pattern such as `sonnet` or `gpt-6` can mean, and which of
//! several is the newest.
//!
//! Works on ids alone; providers and keys are the catalog's business.

/// How well a pattern fits an id; a lower rank fits better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// The id itself, in any case.
    Whole,
    /// Whole words of the id: `sonnet` in `claude-sonnet-5`.
    Words,
    /// Any part of it.
    Part,
}

/// How `pattern` fits `id`, if it does. `.` `_` `:` and blanks count as `-`, case does not count.
pub fn fit(pattern: &str, id: &str) -> Option<Fit> {
    let (pattern, dotted) = (plain(pattern), id.to_lowercase());
    let id = plain(id);
    if pattern.is_empty() {
        return None;
    }
    if id == pattern {
        return Some(Fit::Whole);
    }
    let mut best = None;
    for (start, found) in id.match_indices(&pattern) {
        let end = start + found.len();
        let before = id[..start].chars().next_back();
        let after = id[end..].chars().next();
        // `gpt-6` is not the beginning of `gpt-6.1`: the version goes on.
        let version_goes_on = pattern.ends_with(|c: char| c.is_ascii_digit())
            && dotted[end..].starts_with('.')
            && dotted[end + 1..].starts_with(|c: char| c.is_ascii_digit());
        let words = before.is_none_or(|c| !c.is_alphanumeric())
            && after.is_none_or(|c| !c.is_alphanumeric())
            && !version_goes_on;
        if words {
            return Some(Fit::Words);
        }
        if !version_goes_on {
            best = Some(Fit::Part);
        }
    }
    best
}

fn plain(text: &str) -> String {
    let text = text.trim().to_lowercase();
    text.chars()
        .map(|c| {
            if matches!(c, '.' | '_' | ':' | ' ') {
                '-'
            } else {
                c
            }
        })
        .collect()
}

/// An id taken apart: `claude-sonnet-4-5-20250929` is the family `claude sonnet`, version 4.5,
/// dated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The words, without versions and dates.
    pub family: Vec<String>,
    version: Vec<u32>,
    dated: bool,
}

impl Name {
    /// Takes `id` apart.
    pub fn parse(id: &str) -> Self {
        let mut name = Self {
            family: Vec::new(),
            version: Vec::new(),
            dated: false,
        };
        for token in plain(id)
            .split(['-', '/'])
            .filter(|token| !token.is_empty())
        {
            let letters = token.trim_end_matches(|c: char| c.is_ascii_digit());
            let digits = &token[letters.len()..];
            match digits.parse() {
                Ok(_) if digits.len() >= 6 => name.dated = true,
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

    /// Greater is newer; of the same version the id without a date.
    pub fn age(&self) -> (&[u32], bool) {
        (&self.version, !self.dated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_fits_words_before_parts() {
        let cases = [
            ("sonnet", "claude-sonnet-5-5", Some(Fit::Words)),
            ("Sonnet-5.5", "claude-sonnet-5-5", Some(Fit::Words)),
            ("claude-sonnet-5.5", "claude-sonnet-5-5", Some(Fit::Whole)),
            ("sonn", "claude-sonnet-5-5", Some(Fit::Part)),
            ("gpt-6", "gpt-6-sol", Some(Fit::Words)),
            ("gpt-6", "gpt-6.1-sol", None),
            ("gpt-6.1", "gpt-6.1-sol", Some(Fit::Words)),
            ("gpt", "gpt-6.1-sol", Some(Fit::Words)),
            ("opus", "claude-sonnet-5-5", None),
            ("", "claude-sonnet-5-5", None),
            (" ", "claude-sonnet-5-5", None),
            ("é", "İ-é", Some(Fit::Words)),
        ];
        for (pattern, id, expected) in cases {
            assert_eq!(fit(pattern, id), expected, "{pattern} in {id}");
        }
    }

    #[test]
    fn the_newest_of_a_family() {
        let ids = [
            "claude-sonnet-4-5-20250929",
            "claude-sonnet-4-5",
            "claude-sonnet-4-6",
            "claude-sonnet-5",
            "claude-sonnet-5-5",
        ];
        for pair in ids.windows(2) {
            let (older, newer) = (Name::parse(pair[0]), Name::parse(pair[1]));
            assert_eq!(older.family, newer.family);
            assert!(older.age() < newer.age(), "{pair:?}");
        }
        assert_eq!(Name::parse("o3-mini").family, ["o", "mini"]);
        assert_eq!(Name::parse("kimi-k3.1-pro").family, ["kimi", "k", "pro"]);
    }
}
