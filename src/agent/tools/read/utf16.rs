//! UTF-16 as UTF-8, while it is read: nothing is held but the units between two reads.

use std::io::{self, Read};

use crate::agent::tools::kind::ByteOrder;

/// Reads UTF-16 from `inner` (after its byte order mark) and gives UTF-8.
pub struct Utf16Reader<R> {
    inner: R,
    order: ByteOrder,
    /// Bytes of an unfinished unit or pair.
    rest: Vec<u8>,
    /// UTF-8 not yet given.
    ready: Vec<u8>,
    given: usize,
    ended: bool,
}

impl<R: Read> Utf16Reader<R> {
    /// A reader of the UTF-16 in `inner`.
    pub fn new(inner: R, order: ByteOrder) -> Self {
        Self {
            inner,
            order,
            rest: Vec::new(),
            ready: Vec::new(),
            given: 0,
            ended: false,
        }
    }

    fn decode_more(&mut self) -> io::Result<()> {
        let mut buffer = [0; 8192];
        let count = self.inner.read(&mut buffer)?;
        self.ended = count == 0;
        self.rest.extend_from_slice(&buffer[..count]);
        let mut units: Vec<u16> = self
            .rest
            .chunks_exact(2)
            .map(|pair| match self.order {
                ByteOrder::Little => u16::from_le_bytes([pair[0], pair[1]]),
                ByteOrder::Big => u16::from_be_bytes([pair[0], pair[1]]),
            })
            .collect();
        if !self.ended
            && units
                .last()
                .is_some_and(|unit| (0xd800..0xdc00).contains(unit))
        {
            units.pop();
        }
        self.rest.drain(..units.len() * 2);
        if self.ended && !self.rest.is_empty() {
            self.rest.clear();
            units.push(0xd800);
        }
        self.ready = String::from_utf16_lossy(&units).into_bytes();
        self.given = 0;
        Ok(())
    }
}

impl<R: Read> Read for Utf16Reader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.given == self.ready.len() && !self.ended {
            self.decode_more()?;
        }
        let ready = &self.ready[self.given..];
        let count = ready.len().min(out.len());
        out[..count].copy_from_slice(&ready[..count]);
        self.given += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_across_reads_and_marks_what_is_broken() {
        let text = "a\u{1f600}\u{e9}\n".repeat(5000);
        let mut bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        bytes.push(7);
        let mut out = String::new();
        // One byte a time: every split there is.
        struct Drops<'a>(&'a [u8]);
        impl Read for Drops<'_> {
            fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
                let count = self.0.len().min(1);
                self.0.read(&mut out[..count])
            }
        }
        Utf16Reader::new(Drops(&bytes), ByteOrder::Big)
            .read_to_string(&mut out)
            .unwrap();
        assert_eq!(out, text + "\u{fffd}");
    }
}
