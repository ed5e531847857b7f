//! D-Bus values and their bytes, little endian. Knows no message and no connection.

/// A value, as far as anybody here needs to tell them apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `y`.
    Byte(u8),
    /// `b`, `i` and `u`.
    Word(u32),
    /// `s`, `o` and `g`.
    Text(String),
    /// `a`; also of dictionary entries, which are structs here.
    Array(Vec<Value>),
    /// `(` and `{`.
    Struct(Vec<Value>),
    /// `v`.
    Variant(Box<Value>),
}

impl Value {
    /// The text, if it is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The texts of an array of them.
    pub fn texts(&self) -> Vec<String> {
        match self {
            Self::Array(items) => items
                .iter()
                .filter_map(Self::text)
                .map(str::to_owned)
                .collect(),
            _ => Vec::new(),
        }
    }

    /// The bytes of an array of them.
    pub fn bytes(&self) -> Vec<u8> {
        let byte = |item: &Self| match item {
            Self::Byte(byte) => Some(*byte),
            _ => None,
        };
        match self {
            Self::Array(items) => items.iter().filter_map(byte).collect(),
            _ => Vec::new(),
        }
    }
}

/// Builds a body.
#[derive(Debug, Default)]
pub struct Writer(pub Vec<u8>);

impl Writer {
    /// Fills up to a multiple of `to`.
    pub fn align(&mut self, to: usize) -> &mut Self {
        self.0.resize(self.0.len().next_multiple_of(to), 0);
        self
    }

    /// `y`.
    pub fn byte(&mut self, byte: u8) -> &mut Self {
        self.0.push(byte);
        self
    }

    /// `u` and `b`.
    pub fn word(&mut self, word: u32) -> &mut Self {
        self.align(4).0.extend_from_slice(&word.to_le_bytes());
        self
    }

    /// `s` and `o`.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.word(text.len() as u32)
            .0
            .extend_from_slice(text.as_bytes());
        self.byte(0)
    }

    /// `g`.
    pub fn signature(&mut self, text: &str) -> &mut Self {
        self.byte(text.len() as u8)
            .0
            .extend_from_slice(text.as_bytes());
        self.byte(0)
    }

    /// An array whose items begin at multiples of `align`.
    pub fn array(&mut self, align: usize, items: impl FnOnce(&mut Self)) -> &mut Self {
        self.word(0);
        let length_at = self.0.len() - 4;
        let start = self.align(align).0.len();
        items(self);
        let length = (self.0.len() - start) as u32;
        self.0[length_at..length_at + 4].copy_from_slice(&length.to_le_bytes());
        self
    }

    /// `a{ss}`.
    pub fn dictionary(&mut self, pairs: &[(&str, &str)]) -> &mut Self {
        self.array(8, |items| {
            for (name, value) in pairs {
                items.align(8).text(name).text(value);
            }
        })
    }
}

/// Reads a body. Trusts nothing in it.
#[derive(Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// Values within values go no deeper.
const DEEPEST: usize = 16;

impl<'a> Reader<'a> {
    /// A reader of `bytes` that has read `at` of them.
    pub fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    /// The values that `signature` tells of; nothing if the bytes are not these.
    pub fn values(&mut self, signature: &str) -> Option<Vec<Value>> {
        let mut rest = signature.as_bytes();
        let mut values = Vec::new();
        while !rest.is_empty() {
            values.push(self.value(&mut rest, 0)?);
        }
        Some(values)
    }

    fn value(&mut self, signature: &mut &[u8], depth: usize) -> Option<Value> {
        if depth > DEEPEST {
            return None;
        }
        let (kind, rest) = signature.split_first()?;
        *signature = rest;
        Some(match kind {
            b'y' => Value::Byte(self.take(1, 1)?[0]),
            b'b' | b'i' | b'u' => Value::Word(self.word()?),
            b's' | b'o' => {
                let length = self.word()? as usize;
                self.text(length)?
            }
            b'g' => {
                let length = self.take(1, 1)?[0];
                self.text(usize::from(length))?
            }
            b'v' => {
                let length = self.take(1, 1)?[0];
                let inner = self.text(usize::from(length))?;
                let mut inner = inner.text()?.as_bytes();
                Value::Variant(Box::new(self.value(&mut inner, depth + 1)?))
            }
            b'a' => {
                let length = self.word()? as usize;
                let item = *signature;
                let align = match item.first()? {
                    b'(' | b'{' | b'x' | b't' | b'd' => 8,
                    b'y' | b'g' | b'v' => 1,
                    _ => 4,
                };
                self.take(0, align)?;
                let end = self
                    .at
                    .checked_add(length)
                    .filter(|end| *end <= self.bytes.len())?;
                let mut items = Vec::new();
                while self.at < end {
                    let before = self.at;
                    items.push(self.value(&mut { item }, depth + 1)?);
                    // Items without a length would never end.
                    if self.at == before {
                        return None;
                    }
                }
                skip(signature, depth)?;
                Value::Array(items)
            }
            b'(' | b'{' => {
                self.take(0, 8)?;
                let mut fields = Vec::new();
                while !matches!(signature.first()?, b')' | b'}') {
                    fields.push(self.value(signature, depth + 1)?);
                }
                *signature = &signature[1..];
                Value::Struct(fields)
            }
            _ => return None,
        })
    }

    fn word(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4, 4)?.try_into().ok()?))
    }

    /// Text of `length` bytes and the zero behind it.
    fn text(&mut self, length: usize) -> Option<Value> {
        let bytes = self.take(length.checked_add(1)?, 1)?;
        Some(Value::Text(
            String::from_utf8_lossy(&bytes[..length]).into_owned(),
        ))
    }

    fn take(&mut self, length: usize, align: usize) -> Option<&'a [u8]> {
        let start = self.at.checked_next_multiple_of(align)?;
        let bytes = self.bytes.get(start..start.checked_add(length)?)?;
        self.at = start + length;
        Some(bytes)
    }
}

/// Passes over one type of `signature`.
fn skip(signature: &mut &[u8], depth: usize) -> Option<()> {
    if depth > DEEPEST {
        return None;
    }
    let (kind, rest) = signature.split_first()?;
    *signature = rest;
    match kind {
        b'a' => skip(signature, depth + 1),
        b'(' | b'{' => {
            while !matches!(signature.first()?, b')' | b'}') {
                skip(signature, depth + 1)?;
            }
            *signature = &signature[1..];
            Some(())
        }
        _ => Some(()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut body = Writer::default();
        body.text("/a")
            .dictionary(&[("k", "v"), ("kk", "")])
            .align(8);
        body.text("/s").array(1, |_| ()).array(1, |key| {
            key.byte(1).byte(2);
        });
        body.text("t").signature("s").text("x").word(1);
        let text = |text: &str| Value::Text(text.to_owned());
        let pair = |name, value| Value::Struct(vec![text(name), text(value)]);
        let values = Reader::new(&body.0, 0).values("oa{ss}(oayays)vb").unwrap();
        let secret = Value::Struct(vec![
            text("/s"),
            Value::Array(Vec::new()),
            Value::Array(vec![Value::Byte(1), Value::Byte(2)]),
            text("t"),
        ]);
        let expected = [
            text("/a"),
            Value::Array(vec![pair("k", "v"), pair("kk", "")]),
            secret,
            Value::Variant(Box::new(text("x"))),
            Value::Word(1),
        ];
        assert_eq!(values, expected);
    }

    proptest! {
        #[test]
        fn no_bytes_and_no_signature_make_it_panic(
            bytes in proptest::collection::vec(0_u8..40, 0..80),
            signature in "[ybiusogav(){}x]{0,12}",
        ) {
            let _ = Reader::new(&bytes, 0).values(&signature);
        }
    }
}
