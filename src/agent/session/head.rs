//! The list data of a session file: folder, first prompt and name. Reads the first two from its
//! beginning, and scans the rest for the name without parsing it.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::entry::Body;
use super::reader;
use crate::event::is_from_user;
use tiller_llm::Message;

/// Bytes to search for the first message.
const BEGINNING: u64 = 1024 * 1024;
/// Bytes to read at once after that.
const BUFFER: usize = 256 * 1024;
/// Most characters of the first message and the name.
const TITLE: usize = 200;
/// Longest line that sets a name, in bytes.
const NAMING: u64 = 64 * 1024;

/// The beginning of a session file, and its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionHead {
    /// Its folder.
    pub cwd: String,
    /// First line of the user's first message, at most 200 characters.
    pub title: String,
    /// The name, at most 200 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl SessionHead {
    /// Reads the head of the session at `path`, and the end of its last complete line.
    pub fn read(path: &Path) -> io::Result<(Self, u64)> {
        let mut file = open(path)?;
        let mut head = Self::default();
        // Most sessions are small, so this takes one read and no larger buffer.
        let mut beginning = Vec::new();
        file.by_ref().take(BEGINNING).read_to_end(&mut beginning)?;
        head.read_beginning(&beginning[..]);
        let end = if (beginning.len() as u64) < BEGINNING {
            head.read_name(&beginning[..], 0)?
        } else {
            file.seek(SeekFrom::Start(0))?;
            head.read_name(BufReader::with_capacity(BUFFER, file), 0)?
        };
        Ok((head, end))
    }

    /// Continues the search for the name at byte `from`, the start of a line.
    pub fn read_on(&mut self, path: &Path, from: u64) -> io::Result<u64> {
        let mut file = open(path)?;
        file.seek(SeekFrom::Start(from))?;
        self.read_name(BufReader::with_capacity(BUFFER, file), from)
    }

    /// Its name, or else its first prompt.
    pub fn label(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.title)
    }

    fn read_beginning(&mut self, file: impl BufRead) {
        #[derive(Deserialize)]
        struct Line {
            r#type: String,
            #[serde(default)]
            cwd: Option<String>,
            #[serde(default)]
            message: Option<Message>,
        }
        for line in file.split(b'\n').map_while(Result::ok) {
            match serde_json::from_slice::<Line>(&line) {
                Ok(line) if line.r#type == "session" => self.cwd = line.cwd.unwrap_or_default(),
                Ok(line) => {
                    if let Some(Message::User(user)) = &line.message
                        && is_from_user(user.origin.as_deref())
                    {
                        let text = line.message.as_ref().map(Message::text);
                        self.title = first_line(&text.unwrap_or_default());
                        break;
                    }
                }
                // A line continues after the chunk.
                Err(error) if error.is_eof() => {
                    self.title = String::from("(long message)");
                    break;
                }
                Err(_) => {}
            }
        }
    }

    /// Searches `file` for the name, from byte `from`.
    fn read_name(&mut self, mut file: impl BufRead, from: u64) -> io::Result<u64> {
        let naming = memchr::memmem::Finder::new("\"session_info\"");
        let (mut line, mut end) = (Vec::new(), from);
        loop {
            line.clear();
            let mut length = file.by_ref().take(NAMING).read_until(b'\n', &mut line)? as u64;
            let mut whole = line.last() == Some(&b'\n');
            if length == NAMING && !whole {
                let rest = file.skip_until(b'\n')? as u64;
                // The last line is incomplete; reads it again when the file grows.
                whole = rest > 0 && !file.fill_buf()?.is_empty();
                length += rest;
                line.clear();
            }
            if !whole {
                return Ok(end);
            }
            end += length;
            if naming.find(&line).is_some()
                && let Some(Body::SessionInfo { name }) = Body::read(&line)
            {
                self.name = Some(first_line(&name)).filter(|name| !name.is_empty());
            }
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    reader::open(path, OpenOptions::new().read(true))
}

fn first_line(text: &str) -> String {
    let first = text.trim_start().lines().next().unwrap_or_default();
    first.chars().take(TITLE).collect()
}
