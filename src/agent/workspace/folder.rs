//! An open folder. Operations on names in it stay in this folder, even if its path now leads elsewhere.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::iter;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

#[cfg(target_os = "linux")]
use rustix::fs::chmod;
#[cfg(not(target_os = "linux"))]
use rustix::fs::fchmod;
use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, RenameFlags, Stat, linkat, mkdirat, renameat,
    renameat_with, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;

use super::exact;

#[derive(Debug)]
pub(crate) struct Folder(OwnedFd);

/// A name in an open folder, whether or not something exists there.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    folder: Arc<Folder>,
    name: OsString,
}

/// A folder that was created for a file.
#[derive(Debug)]
pub(crate) struct MadeFolder(Place);

impl From<OwnedFd> for Folder {
    fn from(folder: OwnedFd) -> Self {
        Self(folder)
    }
}

impl Folder {
    /// Opens the folder at the real path `path`.
    pub fn open(path: &Path) -> io::Result<Self> {
        exact::open(path, exact::FOLDER).map(Self)
    }

    /// Opens the folder at the real path `path`, creating it and its parents if needed. Returns the
    /// created folders, outermost first.
    pub fn make(path: &Path) -> io::Result<(Self, Vec<MadeFolder>)> {
        let mut made = Vec::new();
        let folder = Self::open_or_make(path, &mut made);
        let folder = folder.inspect_err(|_| remove_folders(&made))?;
        Ok((folder, made))
    }

    fn open_or_make(path: &Path, made: &mut Vec<MadeFolder>) -> io::Result<Self> {
        let missing = match Self::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => error,
            opened => return opened,
        };
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(missing);
        };
        let place = Place {
            folder: Arc::new(Self::open_or_make(parent, made)?),
            name: name.to_owned(),
        };
        match mkdirat(&place.folder.0, name, Mode::from_raw_mode(0o777)) {
            Ok(()) => made.push(MadeFolder(place.clone())),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        exact::open_in(&place.folder.0, name, exact::FOLDER, Mode::empty()).map(Self)
    }

    /// Reopens the folder so that its names can be read.
    pub fn to_list(&self) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        exact::open_in(&self.0, OsStr::new("."), flags, Mode::empty()).map(Self)
    }

    /// Returns the names in it with their status, without following links. Needs read access.
    pub fn stats(self) -> io::Result<Vec<(OsString, Stat)>> {
        let mut entries = Dir::new(self.0)?;
        let mut found = Vec::new();
        while let Some(entry) = entries.read() {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            match statat(entries.fd()?, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => found.push((OsStr::from_bytes(name.to_bytes()).to_owned(), stat)),
                // Removed in the meantime.
                Err(Errno::NOENT) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(found)
    }

    /// Returns the names in it with their types, without following links. Needs read access.
    pub fn names(self) -> io::Result<impl Iterator<Item = io::Result<(OsString, FileType)>>> {
        let mut entries = Dir::new(self.0)?;
        Ok(iter::from_fn(move || {
            loop {
                let entry = match entries.read()? {
                    Ok(entry) => entry,
                    Err(error) => return Some(Err(error.into())),
                };
                let name = OsStr::from_bytes(entry.file_name().to_bytes());
                if name == "." || name == ".." {
                    continue;
                }
                let kind = match entry.file_type() {
                    // Not every file system reports the type.
                    FileType::Unknown => kind_of(&entries, name),
                    kind => Ok(kind),
                };
                return Some(kind.map(|kind| (name.to_owned(), kind)));
            }
        }))
    }
}

impl Place {
    /// Opens the place at the real path `path`, in an existing folder.
    pub fn open(path: &Path) -> io::Result<Self> {
        let folder = path.parent().unwrap_or(Path::new("/"));
        Self::named(Folder::open(folder)?, path)
    }

    /// Opens the place at the real path `path`, creating its folder if needed. Returns the created
    /// folders, outermost first.
    pub fn make(path: &Path) -> io::Result<(Self, Vec<MadeFolder>)> {
        let (folder, made) = Folder::make(path.parent().unwrap_or(Path::new("/")))?;
        let place = Self::named(folder, path).inspect_err(|_| remove_folders(&made))?;
        Ok((place, made))
    }

    fn named(folder: Folder, path: &Path) -> io::Result<Self> {
        let name = path.file_name().ok_or(Errno::ISDIR)?.to_owned();
        Ok(Self {
            folder: Arc::new(folder),
            name,
        })
    }

    /// Returns the place `name` in the same folder.
    pub fn beside(&self, name: impl Into<OsString>) -> Self {
        Self {
            folder: Arc::clone(&self.folder),
            name: name.into(),
        }
    }

    pub fn name(&self) -> &OsStr {
        &self.name
    }

    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    pub fn open_file(&self, flags: OFlags) -> io::Result<File> {
        let flags = flags | OFlags::NONBLOCK | OFlags::NOCTTY;
        exact::open_in(&self.folder.0, &self.name, flags, Mode::empty()).map(File::from)
    }

    /// Creates a file. Fails if one exists.
    pub fn create(&self, mode: u32) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
        let mode = Mode::from_raw_mode(mode as _);
        exact::open_in(&self.folder.0, &self.name, flags, mode).map(File::from)
    }

    pub fn symlink(&self, target: &Path) -> io::Result<()> {
        Ok(symlinkat(target, &self.folder.0, &self.name)?)
    }

    /// Returns the status of what is there, without following a link.
    pub fn stat(&self) -> io::Result<Stat> {
        let (folder, name) = (&self.folder.0, &self.name);
        Ok(statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// Renames it to `to`, replacing what is there.
    pub fn rename(&self, to: &Self) -> io::Result<()> {
        Ok(renameat(
            &self.folder.0,
            &self.name,
            &to.folder.0,
            &to.name,
        )?)
    }

    /// Renames it to `to`. Fails if something is there.
    pub fn rename_to_free(&self, to: &Self) -> io::Result<()> {
        let (from, into) = (&self.folder.0, &to.folder.0);
        match renameat_with(from, &self.name, into, &to.name, RenameFlags::NOREPLACE) {
            // Not every file system supports this.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                linkat(from, &self.name, into, &to.name, AtFlags::empty())?;
                self.remove()
            }
            renamed => Ok(renamed?),
        }
    }

    pub fn remove(&self) -> io::Result<()> {
        Ok(unlinkat(&self.folder.0, &self.name, AtFlags::empty())?)
    }

    pub fn remove_folder(&self) -> io::Result<()> {
        Ok(unlinkat(&self.folder.0, &self.name, AtFlags::REMOVEDIR)?)
    }

    /// Creates a folder unless it exists.
    pub fn make_folder(&self) -> io::Result<()> {
        match mkdirat(&self.folder.0, &self.name, Mode::from_raw_mode(0o777)) {
            Err(Errno::EXIST) if FileType::from_raw_mode(self.stat()?.st_mode).is_dir() => Ok(()),
            made => Ok(made?),
        }
    }

    pub fn set_folder_mode(&self, mode: u32) -> io::Result<()> {
        let folder = exact::open_in(&self.folder.0, &self.name, exact::FOLDER, Mode::empty())?;
        let mode = Mode::from_raw_mode(mode as _);
        // An `O_PATH` handle needs no permission to read the folder, and can't change it.
        #[cfg(target_os = "linux")]
        let set = chmod(format!("/proc/self/fd/{}", folder.as_raw_fd()), mode);
        #[cfg(not(target_os = "linux"))]
        let set = fchmod(folder, mode);
        Ok(set?)
    }
}

/// Removes those of the created folders that are empty.
pub(crate) fn remove_folders(made: &[MadeFolder]) {
    for MadeFolder(place) in made.iter().rev() {
        let _ = place.remove_folder();
    }
}

fn kind_of(folder: &Dir, name: &OsStr) -> io::Result<FileType> {
    let stat = statat(folder.fd()?, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(FileType::from_raw_mode(stat.st_mode))
}
