//! The file of earlier prompts: JSON lines, append only.
//!
//! Several programs share it. Each prompt is a single write of one line to a file opened for
//! appending, so lines never mix. Torn or foreign lines are skipped. Every call blocks, so only
//! effects make them, never the event loop.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::history::MAX_ENTRIES;
use crate::agent::session::folder::make_private;

/// Bytes to read from the end of the file: enough for the entries, limited if some are huge.
const MAX_READ: u64 = 16 * 1024 * 1024;
/// Bytes per read, from the end towards the start.
const BLOCK: u64 = 256 * 1024;

#[derive(Clone, Debug)]
pub(crate) struct HistoryFile {
    path: PathBuf,
}

#[derive(Debug, Serialize, Deserialize)]
struct Line {
    /// When it was sent (Unix ms), for users who read the file.
    #[serde(default)]
    time: u64,
    text: String,
}

impl HistoryFile {
    /// The file at this path; nothing is read or created yet.
    pub(crate) fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The newest prompts, oldest first, at most 10,000; empty if the file doesn't exist.
    pub(crate) fn load(&self) -> io::Result<Vec<String>> {
        let file = match open_regular(OpenOptions::new().read(true), &self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            file => file?,
        };
        let bytes = read_end(&file)?;
        let mut newest_first: Vec<String> = bytes
            .rsplit(|byte| *byte == b'\n')
            .filter_map(|line| serde_json::from_slice::<Line>(line).ok())
            .map(|line| line.text)
            .filter(|text| !text.trim().is_empty())
            .take(MAX_ENTRIES)
            .collect();
        newest_first.reverse();
        Ok(newest_first)
    }

    /// Appends one prompt. Creates the file, readable by its owner only, and its folder.
    pub(crate) fn append(&self, text: &str) -> io::Result<()> {
        if let Some(folder) = self.path.parent() {
            make_private(folder)?;
        }
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true).mode(0o600);
        let mut file = open_regular(&mut options, &self.path)?;
        let metadata = file.metadata()?;
        if metadata.permissions().mode() & 0o077 != 0 {
            file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
        }
        let time = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let line = Line {
            time: time.as_millis() as u64,
            text: text.to_owned(),
        };
        let mut bytes = serde_json::to_vec(&line)?;
        bytes.push(b'\n');
        // The last line may be torn.
        let (mut last, length) = ([b'\n'], metadata.len());
        if length > 0 && file.read_exact_at(&mut last, length - 1).is_ok() && last != *b"\n" {
            bytes.insert(0, b'\n');
        }
        file.write_all(&bytes)
    }
}

/// Opens a regular file; pipes and devices could block forever.
pub(super) fn open_regular(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let file = options
        .custom_flags(nix::fcntl::OFlag::O_NONBLOCK.bits())
        .open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(
            ErrorKind::InvalidInput,
            "not a regular file",
        ))
    }
}

/// The end of the file with enough lines. The first may be cut and then isn't valid JSON.
fn read_end(file: &File) -> io::Result<Vec<u8>> {
    let mut start = file.metadata()?.len();
    let first = start.saturating_sub(MAX_READ);
    let mut blocks = Vec::new();
    let mut lines = 0;
    while start > first && lines <= MAX_ENTRIES {
        let size = BLOCK.min(start - first);
        start -= size;
        let mut block = vec![0; size as usize];
        file.read_exact_at(&mut block, start)?;
        lines += memchr::memchr_iter(b'\n', &block).count();
        blocks.push(block);
    }
    blocks.reverse();
    Ok(blocks.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> (tempfile::TempDir, HistoryFile) {
        let folder = tempfile::tempdir().unwrap();
        let file = HistoryFile::new(folder.path().join("state/history.jsonl"));
        (folder, file)
    }

    #[test]
    fn prompts_come_back_as_typed() {
        let (_folder, file) = file();
        assert_eq!(file.load().unwrap(), [""; 0]);
        let prompts = [
            "one",
            "two\nlines\n",
            "ä \u{1f600} \"quoted\" \\",
            "tab\there",
        ];
        for prompt in prompts {
            file.append(prompt).unwrap();
        }
        assert_eq!(file.load().unwrap(), prompts);
    }

    #[test]
    fn only_the_owner_can_read_it() {
        let (_folder, file) = file();
        file.append("secret").unwrap();
        let mode = || std::fs::metadata(&file.path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(), 0o600);
        std::fs::set_permissions(&file.path, std::fs::Permissions::from_mode(0o644)).unwrap();
        file.append("more").unwrap();
        assert_eq!(mode(), 0o600);
    }

    #[test]
    fn torn_and_foreign_lines_are_skipped() {
        let (_folder, file) = file();
        file.append("first").unwrap();
        let mut raw = OpenOptions::new().append(true).open(&file.path).unwrap();
        raw.write_all(b"\n\nnot json\n\xff\xfe\n[1]\n{\"text\":3}\n{\"other\":1}\n")
            .unwrap();
        raw.write_all(b"{\"text\":\"foreign but fine\",\"extra\":true}\n")
            .unwrap();
        raw.write_all(b"{\"time\":1,\"text\":\"torn").unwrap();
        file.append("second").unwrap();
        assert_eq!(
            file.load().unwrap(),
            ["first", "foreign but fine", "second"]
        );
    }

    #[test]
    fn the_newest_of_a_long_file_are_read() {
        let (_folder, file) = file();
        file.append("x").unwrap();
        let line = |i| format!("{{\"time\":1,\"text\":\"prompt {i} {}\"}}", "x".repeat(100));
        let many: Vec<String> = (0..MAX_ENTRIES * 3).map(line).collect();
        std::fs::write(&file.path, many.join("\n")).unwrap();
        let read = read_end(&File::open(&file.path).unwrap()).unwrap();
        assert!(read.len() < many.join("\n").len() / 2, "{}", read.len());
        let loaded = file.load().unwrap();
        assert_eq!(loaded.len(), MAX_ENTRIES);
        assert!(loaded[0].starts_with("prompt 20000 "), "{}", loaded[0]);
        assert!(loaded.last().unwrap().starts_with("prompt 29999 "));
    }

    #[test]
    fn concurrent_programs_do_not_mix_their_lines() {
        let (_folder, file) = file();
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let file = &file;
                scope.spawn(move || {
                    for i in 0..50 {
                        file.append(&format!("{writer} {i} {}", "x".repeat(5000)))
                            .unwrap();
                    }
                });
            }
        });
        assert_eq!(file.load().unwrap().len(), 200);
    }

    #[test]
    fn a_pipe_is_an_error_and_never_blocks() {
        let (folder, _) = file();
        let pipe = folder.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        for path in [pipe, folder.path().to_owned()] {
            let file = HistoryFile::new(path);
            assert!(file.load().is_err());
            assert!(file.append("x").is_err());
        }
    }
}
