//! Reads the strings in a JSON document that arrives in pieces: each value with its key, unescaped,
//! as it arrives. Tolerates broken documents.

use std::mem::take;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found<'a> {
    /// A string value starts under this key.
    Start(&'a str),
    Text(&'a str),
    End,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Strings {
    /// For each open bracket, whether it's an object waiting for a key.
    open: Vec<Open>,
    state: State,
    part: Part,
    key: String,
    /// The first half of a surrogate pair.
    half: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    Array,
    Key,
    Value,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Between,
    In,
    Escape,
    Unicode {
        digits: u8,
        code: u32,
    },
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    Key,
    #[default]
    Value,
}

impl Strings {
    pub fn push(&mut self, piece: &str, mut found: impl FnMut(Found<'_>)) {
        let mut rest = piece;
        while !rest.is_empty() {
            match self.state {
                State::In => {
                    let stop = rest.find(['"', '\\']).unwrap_or(rest.len());
                    self.text(&rest[..stop], &mut found);
                    rest = &rest[stop..];
                    let mut chars = rest.chars();
                    match chars.next() {
                        Some('"') => self.end(&mut found),
                        Some(_) => self.state = State::Escape,
                        None => {}
                    }
                    rest = chars.as_str();
                }
                _ => {
                    let mut chars = rest.chars();
                    if let Some(next) = chars.next() {
                        self.step(next, &mut found);
                    }
                    rest = chars.as_str();
                }
            }
        }
    }

    fn step(&mut self, next: char, found: &mut impl FnMut(Found<'_>)) {
        match self.state {
            State::Between => self.between(next, found),
            State::In => {}
            State::Escape if next == 'u' => self.state = State::Unicode { digits: 0, code: 0 },
            State::Escape => {
                let plain = match next {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    'b' => '\u{8}',
                    'f' => '\u{c}',
                    other => other,
                };
                self.state = State::In;
                self.text(plain.encode_utf8(&mut [0; 4]), found);
            }
            State::Unicode { digits, code } => {
                let code = code << 4 | next.to_digit(16).unwrap_or(0);
                if digits < 3 {
                    let digits = digits + 1;
                    self.state = State::Unicode { digits, code };
                    return;
                }
                self.state = State::In;
                let half = take(&mut self.half);
                let whole = match (half, code) {
                    (_, 0xd800..=0xdbff) => {
                        self.half = Some(code);
                        return;
                    }
                    (Some(half), 0xdc00..=0xdfff) => {
                        0x10000 + ((half - 0xd800) << 10) + (code - 0xdc00)
                    }
                    _ => code,
                };
                let whole = char::from_u32(whole).unwrap_or('\u{fffd}');
                self.text(whole.encode_utf8(&mut [0; 4]), found);
            }
        }
    }

    fn between(&mut self, next: char, found: &mut impl FnMut(Found<'_>)) {
        match (next, self.open.last_mut()) {
            ('{', _) => self.open.push(Open::Key),
            ('[', _) => self.open.push(Open::Array),
            ('}' | ']', _) => {
                self.open.pop();
            }
            (':', Some(open @ Open::Key)) => *open = Open::Value,
            (',', Some(open @ Open::Value)) => *open = Open::Key,
            ('"', Some(Open::Key)) => {
                self.key.clear();
                (self.state, self.part) = (State::In, Part::Key);
            }
            ('"', _) => {
                (self.state, self.part) = (State::In, Part::Value);
                found(Found::Start(&self.key));
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str, found: &mut impl FnMut(Found<'_>)) {
        match self.part {
            // An unknown key may be of any length.
            Part::Key if self.key.len() < 100 => self.key.push_str(text),
            Part::Value if !text.is_empty() => found(Found::Text(text)),
            _ => {}
        }
    }

    fn end(&mut self, found: &mut impl FnMut(Found<'_>)) {
        self.state = State::Between;
        if self.part == Part::Value {
            found(Found::End);
        }
    }
}
