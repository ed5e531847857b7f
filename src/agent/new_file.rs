//! Writes the user's files, for everybody who does: file tools, undo, trials. New content is whole on
//! the disk, beside its place, before the old file is touched, and takes over its owner, mode, access
//! control list and other extended attributes. A rename puts it in place, so that a crash leaves the
//! old file or the new one. Where a rename would break something (other names of the file, an owner
//! that cannot be given) the file is overwritten: once there is room for it, and with the old content
//! at hand. No link is ever written through.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::Path;

use uuid::Uuid;
use xattr::FileExt;

use crate::agent::tools::kind;
use crate::agent::workspace::Place;

/// How the names of files begin and end that wait beside their place.
pub const PREFIX: &str = ".tiller-";
/// See [`PREFIX`].
pub const SUFFIX: &str = ".tmp";
/// Larger files are not overwritten: the old content is kept in memory, to be put back if that fails.
const MAX_BACKUP: u64 = 64 * 1024 * 1024;

/// A file beside the place that it will take. Dropped instead, it leaves nothing behind.
#[derive(Debug)]
pub struct NewFile {
    place: Place,
    file: File,
}

impl NewFile {
    /// An empty one beside `place`, with this mode as far as the umask allows.
    pub fn beside(place: &Place, mode: u32) -> io::Result<Self> {
        let place = place.beside(name(PREFIX));
        let file = place.create(mode)?;
        Ok(Self { place, file })
    }

    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Gives it owner, mode, access control list and other extended attributes of `from`.
    pub fn copy_attributes(&self, from: &File) -> io::Result<()> {
        let (to, meta) = (&self.file, from.metadata()?);
        to.set_permissions(meta.permissions())?;
        let own = to.metadata()?;
        if own.uid() != meta.uid() || own.gid() != meta.gid() {
            fchown(to, Some(meta.uid()), Some(meta.gid()))?;
            // A change of owner takes the set-user-id bit away.
            to.set_permissions(meta.permissions())?;
        }
        let names = match from.list_xattr() {
            Ok(names) => names,
            // This file system has none.
            Err(error) if error.kind() == io::ErrorKind::Unsupported => return Ok(()),
            Err(error) => return Err(error),
        };
        for name in names {
            let value = from.get_xattr(&name)?;
            if let Some(value) =
                value.filter(|value| to.get_xattr(&name).ok().flatten().as_ref() != Some(value))
            {
                to.set_xattr(&name, &value)?;
            }
        }
        Ok(())
    }

    /// Puts it at `place`, instead of what is there.
    pub fn replace(self, place: &Place) -> io::Result<()> {
        self.place.rename(place)
    }

    /// Puts it at `place`, where nothing may be.
    pub fn put(self, place: &Place) -> io::Result<()> {
        self.place.rename_to_free(place)
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        let _ = self.place.remove();
    }
}

/// A name that no file has.
pub fn name(prefix: &str) -> String {
    format!("{prefix}{}{SUFFIX}", Uuid::new_v4().simple())
}

/// Puts a link to `target` at `place`, instead of what is there.
pub fn put_link(place: &Place, target: &Path) -> io::Result<()> {
    let new = place.beside(name(PREFIX));
    new.symlink(target)?;
    new.rename(place).inspect_err(|_| drop(new.remove()))
}

/// Overwrites `file`, opened for reading and writing, with `bytes`, so that its other names stay names
/// of it.
///
/// # Errors
/// The file holds what it held before. Only where putting that back failed too, which the error says,
/// it may hold a part of the new content (see [`is_cut_off`]).
pub fn overwrite(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    let size = file.metadata()?.len();
    if size > MAX_BACKUP {
        let (size, most) = (kind::size(size), kind::size(MAX_BACKUP));
        let text = format!(
            "it has {size}, and tiller overwrites a file in place only up to {most}. It can't replace \
             this one (hard links, another owner or a read-only folder)"
        );
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
    }
    let mut old = Vec::with_capacity(size as usize);
    file.rewind()?;
    file.read_to_end(&mut old)?;
    reserve(file, bytes.len() as u64)?;
    write_over(file, bytes).map_err(|error| match write_over(file, &old) {
        Ok(()) => error,
        Err(again) => {
            let text = format!("{error}; restoring the old content failed too: {again}");
            io::Error::new(error.kind(), text)
        }
    })
}

/// Fails where the disk has no room for `size` bytes in the file, while nothing is changed yet.
#[cfg_attr(not(target_os = "linux"), allow(unused_variables))]
fn reserve(file: &File, size: u64) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    if size > 0 {
        use rustix::fs::{FallocateFlags, fallocate};
        use rustix::io::Errno;
        // Not every file system can.
        if let Err(error @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) =
            fallocate(file, FallocateFlags::KEEP_SIZE, 0, size)
        {
            return Err(error.into());
        }
    }
    Ok(())
}

/// Nothing is cut off before the end: what is not overwritten yet is still the old content.
fn write_over(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    file.rewind()?;
    file.write_all(bytes)?;
    file.set_len(bytes.len() as u64)?;
    file.sync_all()
}

/// Whether a file that holds `now` is one that was being overwritten, `old` with `new`, when the
/// program was killed: it begins as `new`, and goes on as `old` or ends there.
pub fn is_cut_off(now: &[u8], old: &[u8], new: &[u8]) -> bool {
    let same = now.iter().zip(new).take_while(|(a, b)| a == b).count();
    same == now.len() || old.get(same..) == Some(&now[same..])
}

#[cfg(test)]
mod tests {
    use super::*;

    // Every point at which a kill can stop it.
    #[test]
    fn what_a_kill_leaves_of_an_overwritten_file_is_recognized_and_nothing_else_is() {
        for (old, new) in [
            ("old text", "new"),
            ("old", "new text"),
            ("", "x"),
            ("x", ""),
        ] {
            let (old, new) = (old.as_bytes(), new.as_bytes());
            for written in 0..=new.len() {
                let rest = old.get(written..).unwrap_or_default();
                let now = [&new[..written], rest].concat();
                assert!(is_cut_off(&now, old, new), "{now:?}");
            }
        }
        for now in ["mine", "new and more", "nex text", "old tex"] {
            assert!(!is_cut_off(now.as_bytes(), b"old text", b"new"), "{now}");
        }
    }
}
