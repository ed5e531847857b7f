//! The mounts of this process, from `/proc/self/mountinfo`.

use std::collections::HashSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use nix::mount::MsFlags;

const NO_SYMLINKS: MsFlags = MsFlags::from_bits_retain(1 << 8);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mount {
    pub point: PathBuf,
    /// Its own flags. A remount must repeat them, because the kernel allows none to be removed.
    pub flags: MsFlags,
}

/// The visible mounts: of several at one path, the last.
pub(super) fn read() -> io::Result<Vec<Mount>> {
    Ok(parse(&fs::read("/proc/self/mountinfo")?))
}

pub(super) fn flags_at(mounts: &[Mount], path: &Path) -> MsFlags {
    let on = mounts.iter().filter(|mount| path.starts_with(&mount.point));
    on.max_by_key(|mount| mount.point.as_os_str().len())
        .map_or(MsFlags::empty(), |mount| mount.flags)
}

fn parse(table: &[u8]) -> Vec<Mount> {
    let mut seen = HashSet::new();
    let lines = table.rsplit(|byte| *byte == b'\n');
    lines
        .filter_map(|line| {
            let mut fields = line.split(|byte| *byte == b' ').skip(4);
            Some(Mount {
                point: unescape(fields.next()?),
                flags: flags(fields.next()?),
            })
        })
        .filter(|mount| seen.insert(mount.point.clone()))
        .collect()
}

fn flags(options: &[u8]) -> MsFlags {
    let flag = |option: &[u8]| match option {
        b"ro" => MsFlags::MS_RDONLY,
        b"nosuid" => MsFlags::MS_NOSUID,
        b"nodev" => MsFlags::MS_NODEV,
        b"noexec" => MsFlags::MS_NOEXEC,
        b"noatime" => MsFlags::MS_NOATIME,
        b"nodiratime" => MsFlags::MS_NODIRATIME,
        b"relatime" => MsFlags::MS_RELATIME,
        b"nosymfollow" => NO_SYMLINKS,
        _ => MsFlags::empty(),
    };
    options.split(|byte| *byte == b',').map(flag).collect()
}

/// Blanks and backslashes are encoded as three octal digits.
fn unescape(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&first, after)) = rest.split_first() {
        let digits = after
            .get(..3)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match code.filter(|_| first == b'\\') {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[3..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_read_with_their_flags() {
        let table = br"24 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
25 24 0:21 / /a\040b/c\134d rw,noexec - tmpfs none rw
26 25 0:22 / /a\040b/c\134d ro,nosuid,nodev - tmpfs none rw
";
        let mounts = parse(table);
        assert_eq!(mounts.len(), 2);
        let expected = MsFlags::MS_RDONLY | MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
        assert_eq!(flags_at(&mounts, Path::new(r"/a b/c\d/e")), expected);
        assert_eq!(flags_at(&mounts, Path::new("/a")), MsFlags::MS_RELATIME);
    }
}
