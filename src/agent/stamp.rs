//! When a file was last touched.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

use rustix::fs::{FileType, Stat};
use serde::{Deserialize, Serialize};

/// Identifies a file's last change of any kind. Programs can't set it back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    pub mode: u32,
    pub inode: u64,
    pub size: u64,
    pub modified: (i64, u32),
    pub changed: (i64, u32),
}

impl Stamp {
    /// Returns the stamp for `stat`. A folder's stamp doesn't depend on its contents.
    #[allow(
        clippy::unnecessary_cast,
        reason = "not every system has the same types"
    )]
    pub fn of_stat(stat: &Stat) -> Self {
        let is_folder = FileType::from_raw_mode(stat.st_mode).is_dir();
        let whole = Self {
            mode: (stat.st_mode & 0o7777) as u32,
            inode: stat.st_ino as u64,
            size: stat.st_size as u64,
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as u32),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as u32),
        };
        if is_folder { whole.of_folder() } else { whole }
    }

    /// Returns the stamp without the parts that change with a folder's contents.
    pub fn of_folder(self) -> Self {
        Self {
            mode: self.mode,
            inode: self.inode,
            ..Self::default()
        }
    }

    pub fn of(meta: &Metadata) -> Self {
        Self {
            mode: meta.mode() & 0o7777,
            inode: meta.ino(),
            size: meta.len(),
            modified: (meta.mtime(), meta.mtime_nsec() as u32),
            changed: (meta.ctime(), meta.ctime_nsec() as u32),
        }
    }
}
