//! Writes the user's files, for file tools, undo and trials. New content is completely on the disk,
//! next to its destination, before the old file is touched. It takes over the old file's owner, mode,
//! access control list and other extended attributes. A rename puts it in place, so a crash leaves
//! either the old or the new file. If a rename would break something (other names of the file, an
//! owner that can't be set), the file is overwritten instead, after reserving space and with the old
//! content in memory. Never writes through a link.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::Path;

use uuid::Uuid;
use xattr::FileExt;

use crate::tools::kind;
use crate::workspace::Place;

/// Prefix and suffix of temporary files next to their destination.
pub const PREFIX: &str = ".tiller-";
/// See [`PREFIX`].
pub const SUFFIX: &str = ".tmp";
/// Larger files aren't overwritten: memory holds the old content to restore it if that fails.
const MAX_BACKUP: u64 = 64 * 1024 * 1024;

/// A file next to the destination that it will replace. Removed if dropped instead.
#[derive(Debug)]
pub struct NewFile {
    place: Place,
    file: File,
}

impl NewFile {
    /// Creates an empty file beside `place`, with this mode minus the umask.
    pub fn beside(place: &Place, mode: u32) -> io::Result<Self> {
        let place = place.beside(name(PREFIX));
        let file = place.create(mode)?;
        Ok(Self { place, file })
    }

    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Copies owner, mode, access control list and other extended attributes of `from`.
    pub fn copy_attributes(&self, from: &File) -> io::Result<()> {
        let (to, meta) = (&self.file, from.metadata()?);
        to.set_permissions(meta.permissions())?;
        let own = to.metadata()?;
        if own.uid() != meta.uid() || own.gid() != meta.gid() {
            fchown(to, Some(meta.uid()), Some(meta.gid()))?;
            // Changing the owner clears the set-user-id bit.
            to.set_permissions(meta.permissions())?;
        }
        let names = match from.list_xattr() {
            Ok(names) => names,
            // This file system has no attributes.
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

    /// Moves it to `place`, replacing what is there.
    pub fn replace(self, place: &Place) -> io::Result<()> {
        self.place.rename(place)
    }

    /// Moves it to `place`. Fails if something is there.
    pub fn put(self, place: &Place) -> io::Result<()> {
        self.place.rename_to_free(place)
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        let _ = self.place.remove();
    }
}

/// Returns an unused name.
pub fn name(prefix: &str) -> String {
    format!("{prefix}{}{SUFFIX}", Uuid::new_v4().simple())
}

/// Creates a link to `target` at `place`, replacing what is there.
pub fn put_link(place: &Place, target: &Path) -> io::Result<()> {
    let new = place.beside(name(PREFIX));
    new.symlink(target)?;
    new.rename(place).inspect_err(|_| drop(new.remove()))
}

/// Overwrites `file`, opened for reading and writing, with `bytes`, so that its other names still
/// refer to it.
///
/// # Errors
/// The file keeps its old content. If restoring that failed too, the error says so and the file may
/// contain part of the new content (see [`is_cut_off`]).
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

/// Fails if the disk has no room for `size` bytes in the file, before anything is changed.
#[cfg_attr(not(target_os = "linux"), allow(unused_variables))]
fn reserve(file: &File, size: u64) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    if size > 0 {
        use rustix::fs::{FallocateFlags, fallocate};
        use rustix::io::Errno;
        // Not every file system supports this.
        if let Err(error @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) =
            fallocate(file, FallocateFlags::KEEP_SIZE, 0, size)
        {
            return Err(error.into());
        }
    }
    Ok(())
}

/// Truncates only at the end: until then, whatever isn't overwritten is still the old content.
fn write_over(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    file.rewind()?;
    file.write_all(bytes)?;
    file.set_len(bytes.len() as u64)?;
    file.sync_all()
}

/// Returns `true` if `now` is what remains of overwriting `old` with `new` when tiller was killed:
/// it starts like `new`, and ends there or continues like `old`.
pub fn is_cut_off(now: &[u8], old: &[u8], new: &[u8]) -> bool {
    let same = now.iter().zip(new).take_while(|(a, b)| a == b).count();
    same == now.len() || old.get(same..) == Some(&now[same..])
}

#[cfg(test)]
mod tests {
    use super::*;

    // Every point at which a kill can interrupt it.
    #[test]
    fn only_files_left_by_a_killed_overwrite_are_recognized() {
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
