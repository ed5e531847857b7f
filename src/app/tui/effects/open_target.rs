//! Finds what a word of the conversation names: a file at a line, or a link.

use std::path::PathBuf;
use std::process::Stdio;

use tokio::process::Command;

use crate::agent::git::search_path;

/// Something that can be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenTarget {
    /// A file, at this line.
    File(PathBuf, Option<u64>),
    /// A link, already passed to the browser.
    Address(String),
}

/// Programs that open links, one per system.
const OPENERS: [&str; 3] = ["open", "xdg-open", "wslview"];

/// Opens a link, or finds the file that `word` names, relative to `cwd`.
pub(super) async fn open(word: String, cwd: PathBuf) -> Result<OpenTarget, String> {
    if word.starts_with("https://") || word.starts_with("http://") {
        let openers = if cfg!(target_os = "macos") {
            &OPENERS[..1]
        } else {
            &OPENERS[1..]
        };
        for opener in openers {
            let child = Command::new(opener)
                .arg(&word)
                .env("PATH", search_path(None))
                .current_dir("/")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn();
            if child.is_ok() {
                return Ok(OpenTarget::Address(word));
            }
        }
        return Err("No program to open links here; double-click the link to copy it".to_owned());
    }
    let (path, line) = split_line(&word);
    let path = path.strip_prefix("~/").map_or_else(
        || cwd.join(path),
        |rest| std::env::home_dir().unwrap_or_default().join(rest),
    );
    let is_file = tokio::fs::metadata(&path).await;
    if is_file.is_ok_and(|file| file.is_file()) {
        Ok(OpenTarget::File(path, line))
    } else {
        Err(format!("{word} isn't a file or a link"))
    }
}

/// Splits `path:line:column` into path and line. Anything else is a path.
pub fn split_line(word: &str) -> (&str, Option<u64>) {
    let mut parts = word.split(':');
    let path = parts.next().unwrap_or(word);
    match parts.next().map(str::parse) {
        Some(Ok(line)) => (path, Some(line)),
        _ => (word, None),
    }
}
