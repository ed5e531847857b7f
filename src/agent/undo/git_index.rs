//! Reads the index of a git repository: which files git tracks, and what they were like when it last
//! looked. Never writes one, and takes a form that it does not know for none.

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tracked {
    /// Below the top of the working tree.
    pub path: Box<[u8]>,
    /// How git names its content.
    pub id: Box<[u8]>,
    /// Whether it is a file whose content git surely has.
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
/// In the extended flags: git is to add it later.
const INTENT_TO_ADD: u16 = 0x2000;

/// The entries of the index in `bytes`, whose names of content are `id_len` bytes long.
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
            // One NUL at least, and then up to a multiple of eight.
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
    // What follows may say that entries are missing: of an index in two files, of a sparse one.
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

/// A number as in the offsets of a pack.
fn take_varint(rest: &mut &[u8]) -> Option<usize> {
    let mut byte = *take(rest, 1)?.first()?;
    let mut number = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        byte = *take(rest, 1)?.first()?;
        number = number.checked_add(1)?.checked_mul(128)? + usize::from(byte & 0x7f);
    }
    Some(number)
}
