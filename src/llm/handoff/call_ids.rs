//! The ids of tool calls, and the names of tools, as each API accepts them.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::quirks::IdRule;

/// Assigns ids to the calls of one conversation, in order.
#[derive(Debug)]
pub(super) struct CallIds<'a> {
    rule: IdRule,
    used: HashSet<Cow<'a, str>>,
}

impl<'a> CallIds<'a> {
    pub fn new(rule: IdRule) -> Self {
        Self {
            rule,
            used: HashSet::new(),
        }
    }

    pub fn rule(&self) -> IdRule {
        self.rule
    }

    /// The id of the next call, stored as `id`. `own` means that the target model made it. `answer` has
    /// the ids of earlier calls in the same answer.
    pub fn next<'i>(
        &mut self,
        id: &'a str,
        own: bool,
        answer: impl Iterator<Item = &'i str> + Clone,
    ) -> Cow<'a, str> {
        let room = match self.rule {
            IdRule::OpenAi | IdRule::Any => 40,
            _ => 64,
        };
        let plain: Cow<'a, str> = match self.rule {
            IdRule::Mistral if id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric()) => {
                id.into()
            }
            IdRule::Mistral => short_hash(id, 0).into(),
            IdRule::Any if own => id.into(),
            IdRule::OpenAi if own => id.chars().take(room).collect(),
            _ => allowed(id, room),
        };
        // Servers that restart their ids with each answer repeat them. Not all APIs object, but within
        // one answer the results would be ambiguous.
        let mut candidate = plain.clone();
        let mut number = 1;
        loop {
            let free = match self.rule {
                IdRule::Anthropic | IdRule::Google | IdRule::Responses => {
                    !self.used.contains(&candidate)
                }
                _ => answer.clone().all(|other| other != candidate),
            };
            if free && !candidate.is_empty() {
                break;
            }
            number += 1;
            candidate = match self.rule {
                IdRule::Mistral => short_hash(id, number).into(),
                _ => {
                    let suffix = format!("_{number}");
                    let kept: String = plain.chars().take(room - suffix.len()).collect();
                    format!("{kept}{suffix}").into()
                }
            };
        }
        self.used.insert(candidate.clone());
        candidate
    }
}

/// A tool's name that every API accepts: models make up names that none does.
pub fn valid_name(name: &str) -> Cow<'_, str> {
    match allowed(name, 64) {
        kept if kept.is_empty() => Cow::Borrowed("unknown"),
        kept => kept,
    }
}

/// The first `room` characters of `text`, with `_` for those not allowed in ids and names.
fn allowed(text: &str, room: usize) -> Cow<'_, str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if text.len() <= room && text.chars().all(fits) {
        return Cow::Borrowed(text);
    }
    text.chars()
        .map(|c| if fits(c) { c } else { '_' })
        .take(room)
        .collect()
}

/// Nine letters and digits that depend only on `id`.
fn short_hash(id: &str, number: usize) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in id.bytes().chain(number.to_le_bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    (0..9)
        .map(|_| {
            let digit = DIGITS[(hash % 36) as usize];
            hash /= 36;
            char::from(digit)
        })
        .collect()
}
