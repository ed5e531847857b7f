//! Redacts keys from text, the one place that does: what a server said, what is logged, what a panic
//! tells.
//!
//! Knows the secrets in use, and finds them letter by letter. A server that shows a part of a key,
//! or turns it around, is beyond it.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use memchr::memmem;
use zeroize::Zeroizing;

use super::Secret;

/// Replaces a key.
const REDACTED: &str = "***";
/// A shorter one is in too many words to be looked for.
const SHORTEST: usize = 4;
/// One as short as this counts only where it stands alone: `none` or `test` is the key of many a
/// local server, and a part of many a word.
const SHORT: usize = 12;

/// The secrets in use. Clones share them.
#[derive(Clone, Default)]
pub struct Redactor(Arc<RwLock<Vec<Form>>>);

/// One way to write a secret.
#[derive(PartialEq, Eq)]
struct Form {
    text: Zeroizing<String>,
    alone: bool,
}

impl Redactor {
    /// Knows `secret` from now on.
    pub fn add(&self, secret: &Secret) {
        let text = secret.expose();
        if text.len() < SHORTEST {
            return;
        }
        let mut forms = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for text in ways_to_write(text) {
            let form = Form {
                alone: text.len() < SHORT,
                text: Zeroizing::new(text),
            };
            if !forms.contains(&form) {
                forms.push(form);
            }
        }
        // A key that holds another goes first, or its rest would stay.
        forms.sort_by_key(|form| std::cmp::Reverse(form.text.len()));
    }

    /// `text` with every secret redacted.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        as_text(text, self.redact_bytes(text.as_bytes()))
    }

    /// The same for the word or id of a format: a secret as short as `user` stays there.
    pub fn redact_word<'a>(&self, text: &'a str) -> Cow<'a, str> {
        as_text(text, self.redact_if(text.as_bytes(), |form| !form.alone))
    }

    /// The same for bytes.
    pub fn redact_bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        self.redact_if(bytes, |_| true)
    }

    fn redact_if<'a>(&self, bytes: &'a [u8], wanted: impl Fn(&Form) -> bool) -> Cow<'a, [u8]> {
        let forms = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = Cow::Borrowed(bytes);
        for form in forms.iter().filter(|form| wanted(form)) {
            if let Some(redacted) = form.redact(&bytes) {
                bytes = Cow::Owned(redacted);
            }
        }
        bytes
    }
}

fn as_text<'a>(text: &'a str, redacted: Cow<'a, [u8]>) -> Cow<'a, str> {
    match redacted {
        Cow::Borrowed(_) => Cow::Borrowed(text),
        Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

impl Form {
    /// `bytes` without it, if it is there.
    fn redact(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        let mut kept = 0;
        for at in memmem::find_iter(bytes, self.text.as_bytes()) {
            let end = at + self.text.len();
            let in_word = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
            let before = at.checked_sub(1).and_then(|at| bytes.get(at));
            if self.alone && (in_word(before) || in_word(bytes.get(end))) {
                continue;
            }
            out.extend_from_slice(&bytes[kept..at]);
            out.extend_from_slice(REDACTED.as_bytes());
            kept = end;
        }
        (kept > 0).then(|| {
            out.extend_from_slice(&bytes[kept..]);
            out
        })
    }
}

/// The secret itself, and as JSON and addresses write it.
fn ways_to_write(text: &str) -> Vec<String> {
    let mut ways = vec![text.to_owned()];
    let json = serde_json::Value::from(text).to_string();
    let json = &json[1..json.len() - 1];
    let slashes = json.replace('/', "\\/");
    let address: String = text
        .bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect();
    for way in [json.to_owned(), slashes, address] {
        if !ways.contains(&way) {
            ways.push(way);
        }
    }
    ways
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redactor")
    }
}
