//! Reasoning between `<think>` and `</think>` at the beginning of the text, as servers send it that
//! do not tell the two apart. Tags anywhere else are the answer's own.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// A piece of text, told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Of the answer.
    Text(String),
    /// Of the thoughts.
    Thought(String),
}

/// Where in the text we are.
#[derive(Debug)]
pub enum Tags {
    /// Before anything that tells; what is held back.
    Before(String),
    /// In the thoughts; what may be the beginning of the end mark, or space at the beginning.
    Inside(String, Space),
    /// Behind the thoughts, before the answer.
    Behind,
    /// In the answer.
    Answer,
}

/// Whether space still goes unseen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Yes: nothing else came yet.
    Skipped,
    /// No.
    Kept,
}

impl Default for Tags {
    fn default() -> Self {
        Self::Before(String::new())
    }
}

impl Tags {
    /// What `text` means at this place.
    pub fn push(&mut self, text: &str) -> Vec<Piece> {
        let mut pieces = Vec::new();
        self.take(text, &mut pieces);
        pieces
    }

    fn take(&mut self, text: &str, pieces: &mut Vec<Piece>) {
        match self {
            Self::Before(held) => {
                held.push_str(text);
                let begun = held.trim_start();
                if let Some(rest) = begun.strip_prefix(OPEN) {
                    let rest = rest.to_owned();
                    *self = Self::Inside(String::new(), Space::Skipped);
                    self.take(&rest, pieces);
                } else if !OPEN.starts_with(begun) {
                    let all = std::mem::take(held);
                    *self = Self::Answer;
                    pieces.push(Piece::Text(all));
                }
            }
            Self::Inside(held, space) => {
                held.push_str(text);
                if *space == Space::Skipped {
                    *held = held.trim_start().to_owned();
                }
                if let Some((thought, rest)) = held.split_once(CLOSE) {
                    if !thought.is_empty() {
                        pieces.push(Piece::Thought(thought.to_owned()));
                    }
                    let rest = rest.to_owned();
                    *self = Self::Behind;
                    self.take(&rest, pieces);
                    return;
                }
                let sure = held.len() - beginning_of_close(held);
                if sure > 0 {
                    *space = Space::Kept;
                    pieces.push(Piece::Thought(held.drain(..sure).collect()));
                }
            }
            Self::Behind => {
                let text = text.trim_start();
                if !text.is_empty() {
                    *self = Self::Answer;
                    pieces.push(Piece::Text(text.to_owned()));
                }
            }
            Self::Answer if text.is_empty() => {}
            Self::Answer => pieces.push(Piece::Text(text.to_owned())),
        }
    }

    /// What was held back, when no text follows.
    pub fn finish(&mut self) -> Option<Piece> {
        let piece = match std::mem::replace(self, Self::Answer) {
            Self::Before(held) => Piece::Text(held),
            Self::Inside(held, _) => Piece::Thought(held),
            Self::Behind | Self::Answer => return None,
        };
        let (Piece::Text(held) | Piece::Thought(held)) = &piece;
        (!held.is_empty()).then_some(piece)
    }
}

/// How many bytes at the end of `text` may be the beginning of the end mark.
fn beginning_of_close(text: &str) -> usize {
    (1..CLOSE.len())
        .rev()
        .find(|length| text.ends_with(&CLOSE[..*length]))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn told_apart<'a>(pieces: impl IntoIterator<Item = &'a str>) -> (String, String) {
        let mut tags = Tags::default();
        let mut all: Vec<Piece> = Vec::new();
        for piece in pieces {
            all.extend(tags.push(piece));
        }
        all.extend(tags.finish());
        let (mut thought, mut text) = (String::new(), String::new());
        for piece in all {
            match piece {
                Piece::Thought(more) => thought.push_str(&more),
                Piece::Text(more) => text.push_str(&more),
            }
        }
        (thought, text)
    }

    #[test]
    fn thoughts_stand_in_front_of_the_answer() {
        for (all, thought, text) in [
            ("<think>\nhm\n</think>\n\nyes", "hm\n", "yes"),
            ("\n <think>hm</think>", "hm", ""),
            ("<think></think>yes", "", "yes"),
            ("<think>\n\n</think>\n\nyes", "", "yes"),
            ("<think>never < closed </thin", "never < closed </thin", ""),
            ("yes <think>no</think>", "", "yes <think>no</think>"),
            ("<thinking>no</thinking>", "", "<thinking>no</thinking>"),
            ("<thi", "", "<thi"),
            ("  indented", "", "  indented"),
            ("<think>ä</</think>ö</think>", "ä</", "ö</think>"),
            ("", "", ""),
        ] {
            assert_eq!(told_apart([all]), (thought.into(), text.into()), "{all}");
        }
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(text in "[ \n]?(<think>)?[a<>/think ]{0,12}(</think>)?[ \nb<é]{0,4}", cuts in proptest::collection::vec(0usize..40, 0..6)) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).filter(|cut| text.is_char_boundary(*cut)).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&str> = cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
            prop_assert_eq!(told_apart(pieces), told_apart([text.as_str()]));
        }
    }
}
