//! Parses the keys of a command: `d2w`, `ciw`, `fx`.

/// An operation on a part of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Delete,
    Change,
    Yank,
    /// Indents lines.
    Indent,
    Outdent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    Left,
    Right,
    Up,
    Down,
    /// To the next word; a big word is anything without spaces.
    Word {
        big: bool,
    },
    Back {
        big: bool,
    },
    End {
        big: bool,
    },
    /// To the end of the previous word.
    EndBack {
        big: bool,
    },
    LineStart,
    FirstText,
    LineEnd,
    /// To the bracket that matches the next one on the line.
    Bracket,
    /// To the previous or next empty line.
    Paragraph {
        forward: bool,
    },
    Find(Find),
    /// Repeats the last find, or reverses it.
    FindAgain {
        turned: bool,
    },
    /// To the next match of the last search, or the previous one.
    SearchAgain {
        turned: bool,
    },
    /// To this line, or the first.
    First,
    /// To this line, or the last.
    Last,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Find {
    pub c: char,
    pub forward: bool,
    /// Stops before the character instead of on it.
    pub till: bool,
    /// Whether this repeats a find: then a match right next to the caret is skipped.
    pub again: bool,
}

/// A text object around the caret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    /// Including what surrounds it: a space, the quotes.
    pub around: bool,
    pub kind: ObjectKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    Word { big: bool },
    Quotes(char),
    Brackets(char, char),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Motion(Motion),
    /// This many whole lines.
    Lines,
    Object(Object),
}

/// Where inserting starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Here,
    Behind,
    FirstText,
    LineEnd,
    LineBelow,
    LineAbove,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    Move(Motion),
    Operate(Operator, Target),
    /// In visual mode: acts on the selection or its lines.
    OperateSelected(Operator, bool),
    Insert(Place),
    Put {
        before: bool,
    },
    ToggleCase,
    /// Joins lines.
    Join,
    Replace(char),
    Undo,
    Again,
    Visual {
        lines: bool,
    },
    /// Selects the last selection again.
    Reselect,
    /// In visual mode: moves to the other end.
    OtherEnd,
    /// In visual mode.
    Select(Object),
}

/// Why keys aren't a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoCommand {
    /// More keys must follow.
    Yet,
    Ever,
}

use NoCommand::{Ever, Yet};

/// The highest useful count.
const MOST: usize = 10_000;
/// The longest search text, in characters.
const MAX_SEARCH: usize = 200;

/// Whether these keys of a command are a search text.
pub fn is_search(keys: &str) -> bool {
    let keys: Vec<char> = keys.chars().collect();
    search_in(&keys).is_some()
}

/// The search text with its `/` or `?`, after any count and operator.
pub fn search_in(keys: &[char]) -> Option<(&[char], &[char])> {
    let at = keys.iter().position(|key| matches!(key, '/' | '?'))?;
    let (before, search) = keys.split_at(at);
    let mut others = before.iter().filter(|key| !key.is_ascii_digit());
    let waits = others.next().is_none_or(|key| "dcy<>".contains(*key)) && others.next().is_none();
    waits.then_some((before, search))
}

/// The command that these keys mean, and its count. Enter ends a search and isn't among the keys.
pub fn read(keys: &[char], visual: bool) -> Result<(Option<usize>, Command), NoCommand> {
    if let Some((_, words)) = search_in(keys) {
        return Err(if words.len() <= MAX_SEARCH { Yet } else { Ever });
    }
    let mut keys = Keys(keys);
    let count = keys.number();
    let key = keys.next()?;
    let command = match key {
        'd' | 'c' | 'y' | 'x' | 's' if visual => Command::OperateSelected(operator(key), false),
        'D' | 'C' | 'Y' | 'X' | 'S' | '>' | '<' if visual => {
            Command::OperateSelected(operator(key.to_ascii_lowercase()), true)
        }
        'i' | 'a' if visual => Command::Select(keys.object(key)?),
        'o' | 'O' if visual => Command::OtherEnd,
        'd' | 'c' | 'y' | '>' | '<' => {
            let second = keys.number();
            let target = match keys.next()? {
                same if same == key => Target::Lines,
                around @ ('i' | 'a') => Target::Object(keys.object(around)?),
                motion => Target::Motion(keys.motion(motion)?),
            };
            let count = match (count, second) {
                (None, None) => None,
                (one, other) => Some((one.unwrap_or(1) * other.unwrap_or(1)).min(MOST)),
            };
            return Ok((count, Command::Operate(operator(key), target)));
        }
        'x' => Command::Operate(Operator::Delete, Target::Motion(Motion::Right)),
        'X' => Command::Operate(Operator::Delete, Target::Motion(Motion::Left)),
        's' => Command::Operate(Operator::Change, Target::Motion(Motion::Right)),
        'D' => Command::Operate(Operator::Delete, Target::Motion(Motion::LineEnd)),
        'C' => Command::Operate(Operator::Change, Target::Motion(Motion::LineEnd)),
        'S' => Command::Operate(Operator::Change, Target::Lines),
        'Y' => Command::Operate(Operator::Yank, Target::Lines),
        'p' => Command::Put { before: false },
        'P' => Command::Put { before: true },
        '~' => Command::ToggleCase,
        'J' => Command::Join,
        'g' if keys.0.first() == Some(&'v') => Command::Reselect,
        'r' => Command::Replace(keys.next()?),
        'u' => Command::Undo,
        '.' => Command::Again,
        'v' => Command::Visual { lines: false },
        'V' => Command::Visual { lines: true },
        'i' => Command::Insert(Place::Here),
        'a' => Command::Insert(Place::Behind),
        'I' => Command::Insert(Place::FirstText),
        'A' => Command::Insert(Place::LineEnd),
        'o' => Command::Insert(Place::LineBelow),
        'O' => Command::Insert(Place::LineAbove),
        motion => Command::Move(keys.motion(motion)?),
    };
    Ok((count, command))
}

fn operator(key: char) -> Operator {
    match key {
        'c' | 's' => Operator::Change,
        'y' => Operator::Yank,
        '>' => Operator::Indent,
        '<' => Operator::Outdent,
        _ => Operator::Delete,
    }
}

struct Keys<'a>(&'a [char]);

impl Keys<'_> {
    fn next(&mut self) -> Result<char, NoCommand> {
        let (first, rest) = self.0.split_first().ok_or(Yet)?;
        self.0 = rest;
        Ok(*first)
    }

    /// A count; a lone `0` is a motion.
    fn number(&mut self) -> Option<usize> {
        if self.0.first() == Some(&'0') {
            return None;
        }
        let digits = self.0.iter().take_while(|c| c.is_ascii_digit()).count();
        let (number, rest) = self.0.split_at(digits);
        self.0 = rest;
        let number: String = number.iter().collect();
        // A count with too many digits is just large.
        (digits > 0).then(|| number.parse().unwrap_or(MOST).min(MOST))
    }

    fn motion(&mut self, key: char) -> Result<Motion, NoCommand> {
        let find = |keys: &mut Self, forward, till| {
            let (c, again) = (keys.next()?, false);
            Ok(Motion::Find(Find {
                c,
                forward,
                till,
                again,
            }))
        };
        Ok(match key {
            'h' => Motion::Left,
            'l' | ' ' => Motion::Right,
            'j' => Motion::Down,
            'k' => Motion::Up,
            'w' => Motion::Word { big: false },
            'W' => Motion::Word { big: true },
            'b' => Motion::Back { big: false },
            'B' => Motion::Back { big: true },
            'e' => Motion::End { big: false },
            'E' => Motion::End { big: true },
            '0' => Motion::LineStart,
            '^' => Motion::FirstText,
            '$' => Motion::LineEnd,
            'f' => find(self, true, false)?,
            't' => find(self, true, true)?,
            'F' => find(self, false, false)?,
            'T' => find(self, false, true)?,
            ';' => Motion::FindAgain { turned: false },
            ',' => Motion::FindAgain { turned: true },
            'g' => match self.next()? {
                'g' => Motion::First,
                'e' => Motion::EndBack { big: false },
                'E' => Motion::EndBack { big: true },
                _ => return Err(Ever),
            },
            'G' => Motion::Last,
            '%' => Motion::Bracket,
            '{' => Motion::Paragraph { forward: false },
            '}' => Motion::Paragraph { forward: true },
            'n' => Motion::SearchAgain { turned: false },
            'N' => Motion::SearchAgain { turned: true },
            _ => return Err(Ever),
        })
    }

    fn object(&mut self, around: char) -> Result<Object, NoCommand> {
        let kind = match self.next()? {
            'w' => ObjectKind::Word { big: false },
            'W' => ObjectKind::Word { big: true },
            quote @ ('"' | '\'' | '`') => ObjectKind::Quotes(quote),
            '(' | ')' | 'b' => ObjectKind::Brackets('(', ')'),
            '[' | ']' => ObjectKind::Brackets('[', ']'),
            '{' | '}' | 'B' => ObjectKind::Brackets('{', '}'),
            '<' | '>' => ObjectKind::Brackets('<', '>'),
            _ => return Err(Ever),
        };
        Ok(Object {
            around: around == 'a',
            kind,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_parsed_as_they_come() {
        let read = |keys: &str| read(&keys.chars().collect::<Vec<_>>(), false);
        let word = Motion::Word { big: false };
        for (keys, expected) in [
            ("w", Ok((None, Command::Move(word)))),
            ("12w", Ok((Some(12), Command::Move(word)))),
            ("0", Ok((None, Command::Move(Motion::LineStart)))),
            (
                "2d3w",
                Ok((
                    Some(6),
                    Command::Operate(Operator::Delete, Target::Motion(word)),
                )),
            ),
            (
                "dd",
                Ok((None, Command::Operate(Operator::Delete, Target::Lines))),
            ),
            ("d", Err(Yet)),
            ("2d3", Err(Yet)),
            ("di", Err(Yet)),
            ("diq", Err(Ever)),
            ("dz", Err(Ever)),
            ("g", Err(Yet)),
            ("gx", Err(Ever)),
            ("f", Err(Yet)),
            ("r", Err(Yet)),
            ("q", Err(Ever)),
        ] {
            assert_eq!(read(keys), expected, "{keys}");
        }
    }
}
