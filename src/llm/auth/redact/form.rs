//! The ways a secret is written.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use crate::http::percent_encoded;

/// Shorter secrets appear in too many words.
const SHORTEST: usize = 4;
/// Shorter secrets match only as whole words: `none` or `test` is part of many words.
const SHORT: usize = 12;
/// Shorter secrets stay in tool results: `postgres` or `hunter2` appears in many unrelated files.
const SHORTEST_IN_RESULT: usize = 8;

/// How tokens of well-known services start, and the fewest letters that follow.
const TOKENS: [(&str, usize); 16] = [
    ("AIza", 35),
    ("AKIA", 16),
    ("ghp_", 36),
    ("gho_", 36),
    ("ghu_", 36),
    ("ghs_", 36),
    ("ghr_", 36),
    ("github_pat_", 60),
    ("glpat-", 20),
    ("hf_", 34),
    ("npm_", 36),
    ("rk_live_", 24),
    ("sk_live_", 24),
    ("sk-ant-", 40),
    ("sk-proj-", 40),
    ("xoxb-", 24),
];
pub const LONGEST_TOKEN: usize = 256;

/// The prefixes of tokens, for any owner.
pub fn tokens() -> impl Iterator<Item = Form> {
    TOKENS.into_iter().map(|(text, follow)| Form {
        text: text.to_owned(),
        name: "token".into(),
        alone: false,
        in_results: true,
        follow,
    })
}

/// The number of token characters at the start of `bytes`.
pub fn token_letters(bytes: &[u8]) -> usize {
    let is_one = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_".contains(byte);
    let letters = bytes.iter().take(LONGEST_TOKEN);
    letters.take_while(|byte| is_one(byte)).count()
}

/// One way to write a secret.
#[derive(PartialEq, Eq)]
pub struct Form {
    pub text: String,
    pub name: Arc<str>,
    /// Whether it matches only between characters that aren't letters or digits.
    pub alone: bool,
    /// Whether to redact it in tool results.
    pub in_results: bool,
    /// The fewest token characters that must follow and belong to it; 0 if the whole secret is known.
    pub follow: usize,
}

/// The secret itself, and as it appears in JSON, URLs and base64.
pub fn forms(secret: &str, name: &str) -> Vec<Form> {
    if secret.len() < SHORTEST {
        return Vec::new();
    }
    let json = serde_json::Value::from(secret).to_string();
    let json = &json[1..json.len() - 1];
    let mut ways = vec![secret.to_owned(), json.to_owned(), json.replace('/', "\\/")];
    let upper = percent_encoded(secret, b"-_.~");
    ways.push(upper.clone());
    if upper != secret {
        ways.push(upper.to_ascii_lowercase());
    }
    if secret.len() >= SHORT {
        ways.extend(base64(secret));
    }
    let name: Arc<str> = name.into();
    let word = secret.len() < SHORT && !secret.bytes().any(|byte| !byte.is_ascii_lowercase());
    let mut forms: Vec<Form> = Vec::new();
    for text in ways {
        if forms.iter().all(|form| form.text != text) {
            forms.push(Form {
                alone: text.len() < SHORT,
                text,
                name: Arc::clone(&name),
                in_results: secret.len() >= SHORTEST_IN_RESULT && !word,
                follow: 0,
            });
        }
    }
    forms
}

/// The part of a base64 text that doesn't depend on its neighbors, for each offset.
fn base64(secret: &str) -> impl Iterator<Item = String> {
    (0..3).flat_map(move |before| {
        let bytes = [&[0; 2][..before], secret.as_bytes()].concat();
        // A letter encodes six bits: the first and the last may encode bits of the neighbors.
        let (first, last) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
        [
            STANDARD_NO_PAD.encode(&bytes),
            URL_SAFE_NO_PAD.encode(&bytes),
        ]
        .map(|text| text[first..last].to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_a_text_with_the_secret_holds_one_of_its_forms() {
        let secret = "sk-~~?abcdef0123456789";
        let forms = forms(secret, "KEY");
        for before in ["", "a", "ab", "abc", "user:"] {
            for after in ["", "z", "zz", "\n"] {
                let text = format!("{before}{secret}{after}");
                for coded in [STANDARD_NO_PAD.encode(&text), URL_SAFE_NO_PAD.encode(&text)] {
                    let found = forms.iter().any(|form| coded.contains(&form.text));
                    assert!(found, "{text}: {coded}");
                }
            }
        }
    }
}
