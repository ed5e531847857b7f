//! Parses a git index: which files git tracks, and their state when it last checked. Never writes
//! one, and rejects unknown formats.

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tracked {
    /// Relative to the top of the working tree.
    pub path: Box<[u8]>,
    /// The blob id.
    pub id: Box<[u8]>,
    /// True if git certainly has this file's content.
    pub is_file: bool,
    pub modified: (u32, u32),
    pub changed: (u32, u32),
    pub inode: u32,
    pub size: u32,
}

const FILE_TYPE: u32 = 0o170_000;
const FILE: u32 = 0o100_000;
const EXTENDED: u16 = 0x4000;
const STAGE: u16 = 0x3000;
/// Extended flag: git will add it later.
const INTENT_TO_ADD: u16 = 0x2000;

/// Parses the index in `bytes`, with blob ids of `id_len` bytes.
pub(super) fn read(bytes: &[u8], id_len: usize) -> Option<Vec<Tracked>> {
    let mut rest = bytes.strip_prefix(b"DIRC")?;
    let version = take_u32(&mut rest)?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let count = take_u32(&mut rest)? as usize;
    let mut entries: Vec<Tracked> = Vec::with_capacity(count.min(bytes.len() / 62));
    for _ in 0..count {
        let start = rest.len();
        let changed = (take_u32(&mut rest)?, take_u32(&mut rest)?);
        let modified = (take_u32(&mut rest)?, take_u32(&mut rest)?);
        let _device = take_u32(&mut rest)?;
        let inode = take_u32(&mut rest)?;
        let mode = take_u32(&mut rest)?;
        let (_user, _group) = (take_u32(&mut rest)?, take_u32(&mut rest)?);
        let size = take_u32(&mut rest)?;
        let id = Box::from(take(&mut rest, id_len)?);
        let flags = take_u16(&mut rest)?;
        let more = match flags & EXTENDED {
            0 => 0,
            _ => take_u16(&mut rest)?,
        };
        let path = if version == 4 {
            let before = entries.last().map_or(&[][..], |entry| &*entry.path);
            let cut = take_varint(&mut rest)?;
            let mut path = before.get(..before.len().checked_sub(cut)?)?.to_vec();
            path.extend(take_until_nul(&mut rest)?);
            path.into_boxed_slice()
        } else {
            let path = Box::from(take_until_nul(&mut rest)?);
            // At least one NUL, then padding to a multiple of eight.
            let taken = start - rest.len() - 1;
            take(&mut rest, 7 - taken % 8)?;
            path
        };
        entries.push(Tracked {
            path,
            id,
            is_file: mode & FILE_TYPE == FILE && flags & STAGE == 0 && more & INTENT_TO_ADD == 0,
            modified,
            changed,
            inode,
            size,
        });
    }
    // The extensions may say that entries are missing, as in split and sparse indexes.
    while rest.len() >= id_len + 8 {
        let name = take(&mut rest, 4)?;
        if matches!(name, b"link" | b"sdir") {
            return None;
        }
        let size = take_u32(&mut rest)? as usize;
        take(&mut rest, size)?;
    }
    Some(entries)
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, after) = rest.split_at_checked(count)?;
    *rest = after;
    Some(taken)
}

fn take_u32(rest: &mut &[u8]) -> Option<u32> {
    let (number, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(u32::from_be_bytes(*number))
}

fn take_u16(rest: &mut &[u8]) -> Option<u16> {
    let (number, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(u16::from_be_bytes(*number))
}

fn take_until_nul<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let end = memchr::memchr(0, rest)?;
    let path = take(rest, end)?;
    take(rest, 1)?;
    Some(path)
}

/// A varint, as in pack offsets.
fn take_varint(rest: &mut &[u8]) -> Option<usize> {
    let mut byte = *take(rest, 1)?.first()?;
    let mut number = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        byte = *take(rest, 1)?.first()?;
        number = number.checked_add(1)?.checked_mul(128)? + usize::from(byte & 0x7f);
    }
    Some(number)
}
