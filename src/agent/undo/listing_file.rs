//! A tree as a file: what a turn that was cut short is completed from.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::state::{Lost, Stamp};
use super::tree::{Folder, Image, Kind, Seen, Tree};

const MAGIC: &[u8] = b"tiller tree 2\n";
const LOST: [Lost; 5] = [
    Lost::TooLarge,
    Lost::TooMuch,
    Lost::Unreadable,
    Lost::Changing,
    Lost::NotInGit,
];

pub(super) fn to_bytes(tree: &Tree) -> Vec<u8> {
    let count: usize = tree.folders.iter().map(|it| it.entries.len()).sum();
    let mut out = Vec::with_capacity(64 + tree.folders.len() * 64 + count * 96);
    out.extend_from_slice(MAGIC);
    let taken = tree.taken.duration_since(SystemTime::UNIX_EPOCH);
    let taken = taken.map_or(0, |taken| taken.as_nanos() as u64);
    number(&mut out, taken);
    out.push(u8::from(tree.is_whole));
    text(&mut out, tree.root.as_os_str().as_bytes());
    let mut git_dirs: Vec<Arc<Path>> = Vec::new();
    number(&mut out, tree.folders.len() as u64);
    for folder in &tree.folders {
        text(&mut out, folder.path.as_os_str().as_bytes());
        number(&mut out, folder.entries.len() as u64);
        for seen in &folder.entries {
            entry(&mut out, seen, &mut git_dirs);
        }
    }
    out
}

fn entry(out: &mut Vec<u8>, seen: &Seen, git_dirs: &mut Vec<Arc<Path>>) {
    text(out, seen.name.as_bytes());
    let Stamp {
        mode,
        inode,
        size,
        modified,
        changed,
    } = seen.stamp;
    for part in [u64::from(mode), inode, size] {
        number(out, part);
    }
    for (seconds, nanos) in [modified, changed] {
        out.extend_from_slice(&seconds.to_le_bytes());
        out.extend_from_slice(&nanos.to_le_bytes());
    }
    match &seen.kind {
        Kind::Folder => out.push(b'd'),
        Kind::Special => out.push(b's'),
        Kind::Link(target) => {
            out.push(b'l');
            text(out, target.as_os_str().as_bytes());
        }
        Kind::File(Image::Unknown) => out.push(b'u'),
        Kind::File(Image::Kept(hash)) => {
            out.push(b'k');
            text(out, hash.as_bytes());
        }
        Kind::File(Image::Lost(lost)) => {
            out.push(b'x');
            let at = LOST.iter().position(|it| it == lost);
            out.push(at.unwrap_or_default() as u8);
        }
        Kind::File(Image::Blob(git_dir, id)) => {
            out.push(b'g');
            let at = git_dirs.iter().position(|it| Arc::ptr_eq(it, git_dir));
            let at = at.unwrap_or(git_dirs.len());
            number(out, at as u64);
            if at == git_dirs.len() {
                text(out, git_dir.as_os_str().as_bytes());
                git_dirs.push(Arc::clone(git_dir));
            }
            text(out, id);
        }
    }
}

pub(super) fn from_bytes(bytes: &[u8]) -> io::Result<Tree> {
    let mut rest = Rest(bytes);
    rest.tree().ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn text(out: &mut Vec<u8>, bytes: &[u8]) {
    number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn tree(&mut self) -> Option<Tree> {
        (self.take(MAGIC.len())? == MAGIC).then_some(())?;
        let taken = SystemTime::UNIX_EPOCH + Duration::from_nanos(self.number()?);
        let is_whole = self.byte()? == 1;
        let root = path(self.text()?);
        let mut git_dirs: Vec<Arc<Path>> = Vec::new();
        let count = self.number()? as usize;
        let mut folders = Vec::with_capacity(count.min(self.0.len()));
        for _ in 0..count {
            let path = path(self.text()?);
            let count = self.number()? as usize;
            let entries: Option<Vec<Seen>> =
                (0..count).map(|_| self.entry(&mut git_dirs)).collect();
            folders.push(Arc::new(Folder {
                path,
                entries: entries?,
                ..Folder::default()
            }));
        }
        self.0.is_empty().then_some(Tree {
            root,
            folders,
            is_whole,
            taken,
            rule_files: Vec::new(),
            indexes: None,
        })
    }

    fn entry(&mut self, git_dirs: &mut Vec<Arc<Path>>) -> Option<Seen> {
        let name = OsString::from_vec(self.text()?.to_vec());
        let mode = u32::try_from(self.number()?).ok()?;
        let (inode, size) = (self.number()?, self.number()?);
        let (modified, changed) = (self.time()?, self.time()?);
        let kind = match self.byte()? {
            b'd' => Kind::Folder,
            b's' => Kind::Special,
            b'l' => Kind::Link(path(self.text()?)),
            b'u' => Kind::File(Image::Unknown),
            b'k' => {
                let hash = String::from_utf8(self.text()?.to_vec()).ok()?;
                Kind::File(Image::Kept(hash))
            }
            b'x' => {
                let lost = LOST.get(usize::from(self.byte()?))?;
                Kind::File(Image::Lost(*lost))
            }
            b'g' => {
                let at = self.number()? as usize;
                if at == git_dirs.len() {
                    git_dirs.push(Arc::from(path(self.text()?)));
                }
                let git_dir = Arc::clone(git_dirs.get(at)?);
                Kind::File(Image::Blob(git_dir, Box::from(self.text()?)))
            }
            _ => return None,
        };
        let stamp = Stamp {
            mode,
            inode,
            size,
            modified,
            changed,
        };
        Some(Seen { name, stamp, kind })
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn text(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        self.take(length)
    }

    fn time(&mut self) -> Option<(i64, u32)> {
        let seconds = i64::from_le_bytes(self.take(8)?.try_into().ok()?);
        let nanos = u32::from_le_bytes(self.take(4)?.try_into().ok()?);
        Some((seconds, nanos))
    }
}

fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}
