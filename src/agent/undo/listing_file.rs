//! Stores a tree in a file, to complete an interrupted turn.

use std::io;

use super::tree::Tree;

/// Identifies the format; other versions have other trees.
const MAGIC: &[u8] = b"tiller tree 3\n";

pub(super) fn to_bytes(tree: &Tree) -> io::Result<Vec<u8>> {
    postcard::to_extend(tree, MAGIC.to_vec()).map_err(io::Error::other)
}

pub(super) fn from_bytes(bytes: &[u8]) -> io::Result<Tree> {
    let tree = bytes.strip_prefix(MAGIC).map(postcard::from_bytes);
    let tree = tree.ok_or(io::ErrorKind::InvalidData)?;
    tree.map_err(io::Error::other)
}
