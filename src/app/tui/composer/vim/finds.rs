//! The range of a command: where its motion leads, using the last find and search.

use std::ops::Range;

use super::super::draft::Draft;
use super::super::motion::{line_end, line_start, next, snap_right};
use super::command::{Find, Motion, Operator, Target};
use super::motion::{Class, Span, class, end_of_this, lines_on, search, target};
use super::object;

/// The last find and the last search.
#[derive(Clone, Debug, Default)]
pub struct Finds {
    find: Option<Find>,
    searched: Option<(String, bool)>,
}

impl Finds {
    /// Sets a new search text.
    pub fn search_for(&mut self, words: String, forward: bool) {
        let known = self.searched.take().map(|(words, _)| words);
        let words = Some(words).filter(|words| !words.is_empty()).or(known);
        self.searched = words.map(|words| (words, forward));
    }

    /// Where a motion leads, using the last find and search.
    pub fn target(
        &mut self,
        count: Option<usize>,
        motion: Motion,
        draft: &Draft,
    ) -> Option<(usize, Span)> {
        let (text, caret) = (draft.text(), draft.caret());
        let motion = match motion {
            Motion::SearchAgain { turned } => {
                let (words, forward) = self.searched.as_ref()?;
                let mut at = caret;
                // Wrap around at most once.
                for _ in 0..count.unwrap_or(1).min(100) {
                    at = search(text, at, words, *forward != turned)?;
                }
                return Some((snap_right(text, at), Span::Exclusive));
            }
            Motion::Find(find) => {
                self.find = Some(find);
                motion
            }
            Motion::FindAgain { turned } => {
                let find = self.find?;
                let forward = find.forward != turned;
                let again = true;
                Motion::Find(Find {
                    forward,
                    again,
                    ..find
                })
            }
            motion => motion,
        };
        let (to, span) = target(text, caret, motion, count)?;
        Some((snap_right(text, to), span))
    }

    /// The bytes that an operator acts on.
    pub fn part(
        &mut self,
        count: Option<usize>,
        operator: Operator,
        part: Target,
        draft: &Draft,
    ) -> Option<(Range<usize>, Span)> {
        let (text, caret) = (draft.text(), draft.caret());
        let motion = match part {
            Target::Object(found) => {
                return Some((object::range(text, caret, found)?, Span::Exclusive));
            }
            Target::Lines => {
                let end = lines_on(text, caret, count.unwrap_or(1));
                return Some((line_start(text, caret)..end, Span::Lines));
            }
            Target::Motion(motion) => motion,
        };
        let of_word = |big| class(text, caret, big) != Class::Space && caret < text.len();
        let motion = match motion {
            // As in vim, `cw` changes the word but not the space after it.
            Motion::Word { big } if operator == Operator::Change && of_word(big) => {
                let mut to = end_of_this(text, caret, big);
                if let Some(more) = count.unwrap_or(1).checked_sub(1).filter(|more| *more > 0) {
                    to = target(text, to, Motion::End { big }, Some(more))?.0;
                }
                return Some((caret..next(text, to), Span::Inclusive));
            }
            motion => motion,
        };
        let (to, span) = self.target(count, motion, draft)?;
        let (start, mut end) = (caret.min(to), caret.max(to));
        if let Motion::Word { .. } = motion {
            // On the last word of a line, stop at the line's end.
            let words = text[start..end].trim_end();
            let behind = start + words.len();
            if let Some(line_feed) = text[behind..end].find('\n').filter(|_| !words.is_empty()) {
                end = behind + line_feed;
            }
        }
        match span {
            Span::Exclusive => Some((start..end, span)),
            Span::Inclusive => Some((start..next(text, end), span)),
            Span::Lines => Some((line_start(text, start)..line_end(text, end), span)),
        }
        .filter(|(range, span)| {
            *span == Span::Lines || !range.is_empty() || operator == Operator::Change
        })
    }
}
