//! The used part of kitty's graphics protocol: it sends a picture once with its size in cells.
//! Cells with its number show it.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// The most base64 letters per command.
const CHUNK: usize = 4096;

/// The reader of the commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reader {
    #[default]
    Terminal,
    /// tmux, which must pass them on (`allow-passthrough`).
    Tmux,
}

/// Appends bytes that send a picture to the terminal, which won't reply.
pub fn send(
    reader: Reader,
    number: u32,
    (columns, rows): (u16, u16),
    png: &[u8],
    out: &mut Vec<u8>,
) {
    let base64 = BASE64_STANDARD.encode(png);
    let mut chunks = base64.as_bytes().chunks(CHUNK).peekable();
    let mut first = format!("a=T,U=1,q=2,f=100,i={number},c={columns},r={rows},");
    while let Some(chunk) = chunks.next() {
        let more = u8::from(chunks.peek().is_some());
        let keys = match std::mem::take(&mut first) {
            keys if keys.is_empty() => format!("q=2,m={more};"),
            keys => format!("{keys}m={more};"),
        };
        command(reader, &keys, chunk, out);
    }
}

/// Appends bytes that delete a picture from the terminal.
pub fn delete(reader: Reader, number: u32, out: &mut Vec<u8>) {
    command(reader, &format!("a=d,d=I,i={number},q=2"), b"", out);
}

fn command(reader: Reader, keys: &str, data: &[u8], out: &mut Vec<u8>) {
    let [begin, end]: [&[u8]; 2] = match reader {
        Reader::Terminal => [b"\x1b_G", b"\x1b\\"],
        Reader::Tmux => [b"\x1bPtmux;\x1b\x1b_G", b"\x1b\x1b\\\x1b\\"],
    };
    for part in [begin, keys.as_bytes(), data, end] {
        out.extend_from_slice(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The commands of the protocol in `bytes`: their keys and payloads.
    fn commands(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
        let text = std::str::from_utf8(bytes).unwrap();
        let mut commands = Vec::new();
        for command in text.split_inclusive("\x1b\\") {
            let command = command.strip_prefix("\x1b_G").unwrap();
            let command = command.strip_suffix("\x1b\\").unwrap();
            let (keys, data) = command.split_once(';').unwrap_or((command, ""));
            assert!(data.len() <= 4096);
            commands.push((keys.to_owned(), data.as_bytes().to_vec()));
        }
        commands
    }

    #[test]
    fn a_picture_arrives_in_chunks() {
        for size in [1_usize, 3072, 3073, 10_000] {
            let png: Vec<u8> = (0..size).map(|at| at as u8).collect();
            let mut out = Vec::new();
            send(Reader::Terminal, 77, (40, 12), &png, &mut out);
            let commands = commands(&out);
            assert_eq!(commands.len(), size.div_ceil(3072));
            let last = commands.len() - 1;
            let data: Vec<u8> = commands.iter().flat_map(|(_, data)| data.clone()).collect();
            assert_eq!(BASE64_STANDARD.decode(data).unwrap(), png);
            for (at, (keys, _)) in commands.iter().enumerate() {
                let more = u8::from(at < last);
                let expected = match at {
                    0 => format!("a=T,U=1,q=2,f=100,i=77,c=40,r=12,m={more}"),
                    _ => format!("q=2,m={more}"),
                };
                assert_eq!(*keys, expected);
            }
        }
        let mut out = Vec::new();
        delete(Reader::Terminal, 77, &mut out);
        assert_eq!(
            commands(&out),
            [("a=d,d=I,i=77,q=2".to_owned(), Vec::new())]
        );
    }

    #[test]
    fn pictures_pass_through_tmux() {
        let mut out = Vec::new();
        send(Reader::Tmux, 5, (2, 1), b"abc", &mut out);
        let expected = "\x1bPtmux;\x1b\x1b_Ga=T,U=1,q=2,f=100,i=5,c=2,r=1,m=0;YWJj\x1b\x1b\\\x1b\\";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
