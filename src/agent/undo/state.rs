//! The state of a path. Contents are identified by SHA-256; records never contain bytes.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::stored_path;

/// The state of a path. Two are equal if the user would see no difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum State {
    Nothing,
    File {
        mode: u32,
        content: Content,
    },
    Link(#[serde(with = "stored_path")] PathBuf),
    /// A folder and its permissions.
    Folder(u32),
    /// A pipe, socket or device; left alone.
    Special,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Content {
    /// SHA-256 in hex; empty if not read.
    pub hash: String,
    pub size: u64,
    /// Where git has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<Blob>,
    /// Why they are unavailable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<Lost>,
    /// The file's identity; all names of a file change together.
    #[serde(default)]
    pub inode: u64,
}

/// Ignores where bytes are kept and in which file. Unread bytes equal no others.
impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        !self.hash.is_empty() && self.hash == other.hash
    }
}

impl Eq for Content {}

/// Bytes in a git repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Blob {
    #[serde(with = "stored_path")]
    pub git_dir: PathBuf,
    /// The blob id.
    pub id: String,
    /// Whether the file has CRLF line ends where git has LF.
    #[serde(default)]
    pub crlf: bool,
}

/// Why a file has no copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Lost {
    /// It exceeds the size limit for one file.
    TooLarge,
    /// The turn's copies would exceed their limit.
    TooMuch,
    Unreadable,
    Changing,
    /// Git no longer has this content.
    NotInGit,
    /// It is the home folder, or a parent of it.
    Home,
    /// It is too large to scan in time.
    TooSlow,
    /// Git ignores it.
    Ignored,
}

impl Lost {
    /// The reason, to follow a file name.
    pub fn why(self) -> &'static str {
        match self {
            Self::TooLarge => "too large to copy",
            Self::TooMuch => "no space left within undo.max_bytes",
            Self::Unreadable => "unreadable",
            Self::Changing => "changed while tiller copied it",
            Self::NotInGit => "git might not restore it byte for byte",
            Self::Home => "a home folder; only edits by file tools are covered",
            Self::TooSlow => "too large to check before each command",
            Self::Ignored => "git ignores it, so tiller has no copy",
        }
    }
}
