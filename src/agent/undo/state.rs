//! What a path holds. Contents are named by their SHA-256; a record
//! never holds the bytes.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::agent::stored_path;

/// What stands at a path. Two are equal when a user would find the same there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum State {
    Nothing,
    File {
        mode: u32,
        content: Content,
    },
    Link(#[serde(with = "stored_path")] PathBuf),
    /// A folder, with its permissions.
    Folder(u32),
    /// A pipe, a socket or a device: left alone.
    Special,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Content {
    /// Their SHA-256 in hexadecimal digits; empty where they were not read.
    pub hash: String,
    pub size: u64,
    /// Where git has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<Blob>,
    /// Why nobody has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<Lost>,
    /// Which file it was: of one with several names, all change with it.
    #[serde(default)]
    pub inode: u64,
}

/// Where they are kept does not matter, nor in which file. Bytes that were not read equal no others.
impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        !self.hash.is_empty() && self.hash == other.hash
    }
}

impl Eq for Content {}

/// Bytes that a git repository has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Blob {
    #[serde(with = "stored_path")]
    pub git_dir: PathBuf,
    /// How git names them.
    pub id: String,
    /// Whether each line feed is preceded by a carriage return in the file but not in git.
    #[serde(default)]
    pub crlf: bool,
}

/// Why there is no copy of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Lost {
    /// It is larger than a file that is copied may be.
    TooLarge,
    /// The copies of one turn would have become too large.
    TooMuch,
    Unreadable,
    Changing,
    /// Git no longer has it as it was.
    NotInGit,
    /// It is the home folder, or one above it.
    Home,
    /// There is too much in it to be looked at in time.
    TooSlow,
}

impl Lost {
    /// The reason in words, after the name of a file.
    pub fn why(self) -> &'static str {
        match self {
            Self::TooLarge => "too large to copy",
            Self::TooMuch => "no space left within undo.max_bytes",
            Self::Unreadable => "unreadable",
            Self::Changing => "changed while tiller copied it",
            Self::NotInGit => "git may not restore it byte for byte",
            Self::Home => "a home folder; only edits by file tools are covered",
            Self::TooSlow => "too large to check before each command",
        }
    }
}
