//! Finds sockets in the file system where other programs listen.
//!
//! A read-only mount doesn't prevent connections, and a system call filter can't see the path, so
//! sockets must be hidden. Folders that usually contain them are hidden as a whole; this finds the
//! rest.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

/// User and group lookups, without which directory users have no name.
const HARMLESS: [&str; 2] = ["/run/systemd/userdb/", "/var/lib/sss/pipes/"];

/// The sockets bound to a path in this network namespace.
pub(super) fn bound() -> BTreeSet<PathBuf> {
    parse(&fs::read("/proc/self/net/unix").unwrap_or_default())
}

fn parse(table: &[u8]) -> BTreeSet<PathBuf> {
    String::from_utf8_lossy(table)
        .lines()
        .filter_map(|line| line.find(" /").map(|at| &line[at + 1..]))
        .filter(|path| !HARMLESS.iter().any(|harmless| path.starts_with(harmless)))
        .map(PathBuf::from)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_with_a_path_are_found() {
        let table = b"Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000002 00000000 00010000 0001 01 11 /run/a b.sock
0000000000000000: 00000003 00000000 00000000 0001 03 12
0000000000000000: 00000002 00000000 00010000 0001 01 13 @/tmp/.X11-unix/X0
0000000000000000: 00000002 00000000 00000000 0002 01 14 /run/a b.sock
0000000000000000: 00000002 00000000 00010000 0001 01 15 /run/systemd/userdb/x
";
        assert_eq!(parse(table), BTreeSet::from(["/run/a b.sock".into()]));
    }
}
