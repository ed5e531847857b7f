//! A key in memory. Never prints itself, and wipes its memory on drop.

use std::fmt;

use zeroize::Zeroizing;

/// A key. Shown as `***` by `Debug`; there is no `Display`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Wraps a key, trimmed: a pasted line end isn't part of it.
    pub fn new(text: impl AsRef<str>) -> Self {
        Self(Zeroizing::new(text.as_ref().trim().to_owned()))
    }

    /// The key itself, only for use in a header.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// A hint of which key it is: the last four characters of a long key, none of a short one.
    pub fn masked(&self) -> String {
        let count = self.0.chars().count();
        if count < 16 {
            return "***".to_owned();
        }
        let tail: String = self.0.chars().skip(count - 4).collect();
        format!("***{tail}")
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
