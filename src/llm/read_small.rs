//! Reads the small text files of users: settings, keys, models, themes. They may be links to anything.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Most bytes of such a file.
pub(crate) const MAX_BYTES: u64 = 8 * 1024 * 1024;

/// The text of the file. Waits for nothing and takes no terminal: a FIFO or a device is not read.
///
/// # Errors
/// Besides those of reading: it is not a plain file, or larger than 8 MiB.
pub(crate) fn read_small(path: &Path) -> io::Result<String> {
    let other = |why: &str| Err(io::Error::other(why));
    // Opening some devices has effects.
    if !path.metadata()?.is_file() {
        return other("it is not a plain file");
    }
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    let found = file.metadata()?;
    if !found.is_file() {
        return other("it is not a plain file");
    }
    if found.len() > MAX_BYTES {
        return other("it is larger than 8 MiB");
    }
    let mut text = String::new();
    file.take(MAX_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_is_no_small_file_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("plain"), "x = 1\n").unwrap();
        symlink(at("plain"), at("link")).unwrap();
        assert_eq!(read_small(&at("link")).unwrap(), "x = 1\n");
        nix::unistd::mkfifo(&at("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        symlink("/dev/zero", at("zero")).unwrap();
        symlink("/dev/tty", at("tty")).unwrap();
        File::create(at("holes")).unwrap().set_len(8 << 30).unwrap();
        for (name, why) in [
            ("fifo", "not a plain file"),
            ("zero", "not a plain file"),
            ("tty", "not a plain file"),
            (".", "not a plain file"),
            ("holes", "larger than 8 MiB"),
        ] {
            let error = read_small(&at(name)).unwrap_err().to_string();
            assert!(error.contains(why), "{name}: {error}");
        }
    }
}
