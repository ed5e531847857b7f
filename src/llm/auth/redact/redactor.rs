//! The known secrets, and their removal from text.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard};

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};
use memchr::memmem;

use super::form::{Form, LONGEST_TOKEN, forms, token_letters, tokens};
use super::stream::RedactStream;
use crate::auth::Secret;

/// Replaces a key without naming it.
const REDACTED: &str = "***";
/// Starts the mark for a secret in tool results. The secret's name and `]` follow.
const MARK: &str = "[redacted: ";
/// The name of an unnamed secret.
const NAMELESS: &str = "key";

/// The secrets in use. Clones share them.
#[derive(Clone, Default)]
pub struct Redactor(Arc<RwLock<Known>>);

#[derive(Default)]
pub(super) struct Known {
    forms: Vec<Form>,
    /// Finds all forms at once. Built on first use.
    finder: OnceLock<Option<AhoCorasick>>,
}

impl Redactor {
    /// Adds `secret`.
    pub fn add(&self, secret: &Secret) {
        self.add_named(NAMELESS, secret);
    }

    /// Adds `secret` as `name`. The first name of a secret stays.
    pub fn add_named(&self, name: &str, secret: &Secret) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for form in forms(secret.expose(), name) {
            match known.forms.iter_mut().find(|old| old.text == form.text) {
                Some(old) if &*old.name == NAMELESS => old.name = form.name,
                Some(_) => {}
                None => {
                    known.forms.push(form);
                    known.finder = OnceLock::new();
                }
            }
        }
    }

    /// Also redacts tokens of well-known services.
    pub fn add_tokens(&self) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.forms.iter().all(|form| form.follow == 0) {
            known.forms.extend(tokens());
            known.finder = OnceLock::new();
        }
    }

    /// `text` with every secret redacted.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        as_text(text, self.redact_bytes(text.as_bytes()))
    }

    /// Redacts a word or id of a format, where short secrets such as `user` stay.
    pub fn redact_word<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mark = |_: &Form| Cow::Borrowed(REDACTED);
        let redacted = self
            .known()
            .replace(text.as_bytes(), |form| !form.alone, mark);
        as_text(text, redacted)
    }

    /// Redacts bytes.
    pub fn redact_bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let mark = |_: &Form| Cow::Borrowed(REDACTED);
        self.known().replace(bytes, |_| true, mark)
    }

    /// A tool result, with `[redacted: NAME]` in place of every secret that is long enough.
    pub fn redact_result<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let redacted = self
            .known()
            .replace(text.as_bytes(), |form| form.in_results, mark);
        as_text(text, redacted)
    }

    /// Redacts a text that comes in pieces.
    pub fn stream(&self) -> RedactStream {
        RedactStream::new(self.clone())
    }

    /// The mark of a redacted secret in `text`, if any. A file written from it would lack the secret.
    pub fn mark_in(&self, text: &str) -> Option<String> {
        let known = self.known();
        memmem::find_iter(text.as_bytes(), MARK).find_map(|at| {
            let name = text[at + MARK.len()..].split(']').next()?;
            let is_known = known.forms.iter().any(|form| &*form.name == name);
            is_known.then(|| format!("{MARK}{name}]"))
        })
    }

    /// Whether there is nothing to redact.
    pub fn is_empty(&self) -> bool {
        self.known().forms.is_empty()
    }

    pub(super) fn known(&self) -> RwLockReadGuard<'_, Known> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The mark for a secret in tool results.
pub(super) fn mark(form: &Form) -> Cow<'static, str> {
    Cow::Owned(format!("{MARK}{}]", form.name))
}

impl Known {
    /// Replaces each `wanted` form in `bytes` with its mark.
    fn replace<'a>(
        &self,
        bytes: &'a [u8],
        wanted: impl Fn(&Form) -> bool,
        mark: impl Fn(&Form) -> Cow<'static, str>,
    ) -> Cow<'a, [u8]> {
        let mut out = Vec::new();
        let mut kept = 0;
        while let Some((found, form)) = self.find(bytes, kept, None, &wanted) {
            out.extend_from_slice(&bytes[kept..found.start]);
            out.extend_from_slice(mark(form).as_bytes());
            kept = found.end;
        }
        if kept == 0 {
            return Cow::Borrowed(bytes);
        }
        out.extend_from_slice(&bytes[kept..]);
        Cow::Owned(out)
    }

    /// The next `wanted` form at or after `from`. `before` precedes `bytes`.
    pub fn find(
        &self,
        bytes: &[u8],
        from: usize,
        before: Option<u8>,
        wanted: &impl Fn(&Form) -> bool,
    ) -> Option<(Range<usize>, &Form)> {
        let finder = self.finder.get_or_init(|| self.build()).as_ref()?;
        let mut from = from;
        loop {
            let found = finder.find(Input::new(bytes).range(from..))?;
            let form = &self.forms[found.pattern().as_usize()];
            let in_word = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
            let left = match found.start().checked_sub(1) {
                Some(at) => bytes.get(at),
                None => before.as_ref(),
            };
            let stands_alone = !in_word(left) && !in_word(bytes.get(found.end()));
            let follow = if form.follow == 0 {
                0
            } else {
                token_letters(&bytes[found.end()..])
            };
            if wanted(form) && (stands_alone || !form.alone) && follow >= form.follow {
                return Some((found.start()..found.end() + follow, form));
            }
            from = found.start() + 1;
        }
    }

    /// The offset near the end of `bytes` where a secret may start, or where one ends whose neighbor
    /// isn't known yet. The length of `bytes` if there is neither.
    pub fn open_end(&self, bytes: &[u8]) -> usize {
        let begins = |form: &Form| {
            let longest = (form.text.len() - usize::from(!form.alone)).min(bytes.len());
            let text = form.text.as_bytes();
            (1..=longest)
                .rev()
                .find(|&length| bytes.ends_with(&text[..length]))
        };
        // A token that may continue.
        let tail = bytes.len() - bytes.len().min(2 * LONGEST_TOKEN);
        let goes_on = |form: &Form| {
            let is_open = |begin: &usize| {
                let after = begin + form.text.len();
                form.follow > 0 && after + token_letters(&bytes[after..]) == bytes.len()
            };
            let begins = memmem::find_iter(&bytes[tail..], &form.text);
            let begin = begins.map(|at| tail + at).find(is_open)?;
            Some(bytes.len() - begin)
        };
        let wanted = self.forms.iter().filter(|form| form.in_results);
        let open = wanted.filter_map(|form| begins(form).max(goes_on(form)));
        bytes.len() - open.max().unwrap_or(0)
    }

    fn build(&self) -> Option<AhoCorasick> {
        AhoCorasick::builder()
            // Of two at the same place choose the longer, or its rest would remain.
            .match_kind(MatchKind::LeftmostLongest)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(self.forms.iter().map(|form| &form.text))
            .inspect_err(|error| tracing::error!("secrets cannot be looked for: {error}"))
            .ok()
    }
}

fn as_text<'a>(text: &'a str, redacted: Cow<'a, [u8]>) -> Cow<'a, str> {
    match redacted {
        Cow::Borrowed(_) => Cow::Borrowed(text),
        Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redactor")
    }
}
