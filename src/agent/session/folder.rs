//! Where session files are: one folder per working folder, named as in pi.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Longest folder name in bytes; file systems allow 255.
const MAX_NAME: usize = 200;

/// The folder in `root` for sessions of the working folder `cwd`.
pub fn folder_for(root: &Path, cwd: &Path) -> PathBuf {
    root.join(folder_name(&cwd.to_string_lossy()))
}

/// The file name of a session begun at `timestamp` (ISO 8601).
pub fn file_name(timestamp: &str, id: &str) -> String {
    let stamp = timestamp.replace([':', '.'], "-");
    format!("{stamp}_{id}.jsonl")
}

/// Creates a folder and its parents, private to the owner.
pub fn make_private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn folder_name(cwd: &str) -> String {
    let path = cwd.strip_prefix(['/', '\\']).unwrap_or(cwd);
    let name = path.replace(['/', '\\', ':'], "-");
    if name.len() + 4 <= MAX_NAME {
        return format!("--{name}--");
    }
    // Long paths may share their beginning, so a shortened name contains a hash of the whole path.
    let cut = name.floor_char_boundary(MAX_NAME - 4);
    format!("--{}--{:08x}", &name[..cut], fnv1a(cwd.as_bytes()))
}

/// A hash that is stable across machines and versions.
fn fnv1a(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811C_9DC5, |hash, byte| {
        (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_named_as_pi_names_them() {
        for (cwd, name) in [
            ("/home/me/shop", "--home-me-shop--"),
            ("/", "----"),
            ("C:\\work\\shop", "--C--work-shop--"),
            ("/a:b/c", "--a-b-c--"),
        ] {
            assert_eq!(folder_name(cwd), name);
        }
        let long = format!("/{}", "ä/".repeat(300));
        let other = format!("{long}x");
        assert!(folder_name(&long).len() <= MAX_NAME + 8);
        assert_ne!(folder_name(&long), folder_name(&other));
        assert_eq!(
            file_name("2026-11-21T22:01:02.003Z", "id"),
            "2026-11-21T22-01-02-003Z_id.jsonl"
        );
    }
}
