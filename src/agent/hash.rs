//! Content hashes: the SHA-256 of bytes, and git's names for them.

use std::fmt::Write as _;
use std::io::{self, Read};

use ring::digest::{Algorithm, Context, SHA1_FOR_LEGACY_USE_ONLY, SHA256};

/// Size of one read, in bytes.
const CHUNK: usize = 256 * 1024;

/// Returns the SHA-256 of some bytes.
pub(super) fn of_bytes(bytes: &[u8]) -> String {
    hex(ring::digest::digest(&SHA256, bytes).as_ref())
}

/// Returns the SHA-256 and the size of everything in `from`. Passes the data to `take` piece by piece.
pub(super) fn of_reader(
    from: &mut impl Read,
    take: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<(String, u64)> {
    let (hash, size) = digest(Context::new(&SHA256), from, take)?;
    Ok((hex(&hash), size))
}

/// Returns git's name for a file of `size` bytes in a repository with ids of `id_len` bytes.
pub(super) fn of_blob(from: &mut impl Read, size: u64, id_len: usize) -> io::Result<Vec<u8>> {
    let algorithm: &Algorithm = match id_len {
        20 => &SHA1_FOR_LEGACY_USE_ONLY,
        _ => &SHA256,
    };
    let mut context = Context::new(algorithm);
    context.update(format!("blob {size}\0").as_bytes());
    Ok(digest(context, from, |_| Ok(()))?.0)
}

fn digest(
    mut context: Context,
    from: &mut impl Read,
    mut take: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<(Vec<u8>, u64)> {
    let mut chunk = vec![0; CHUNK];
    let mut size = 0;
    loop {
        let read = match from.read(&mut chunk) {
            Ok(0) => return Ok((context.finish().as_ref().to_vec(), size)),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        context.update(&chunk[..read]);
        take(&chunk[..read])?;
        size += read as u64;
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}
