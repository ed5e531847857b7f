//! Reads small files whose content and kind are unknown: settings, keys, models, themes, git's own
//! files.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The largest such file.
pub const MAX_BYTES: u64 = 8 * 1024 * 1024;

/// The text of a settings file.
///
/// # Errors
/// Besides read errors: it isn't a plain file, or is larger than 8 MiB.
pub fn read_small(path: &Path) -> io::Result<String> {
    let bytes = read_plain(path, MAX_BYTES)?;
    String::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it isn't UTF-8"))
}

/// The bytes of a file of at most `most` bytes. Never blocks or opens a terminal: it refuses FIFOs and
/// devices.
///
/// # Errors
/// Besides read errors: it isn't a plain file, or is larger.
pub fn read_plain(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open_plain(path)?;
    if file.metadata()?.len() > most {
        let why = format!("it is larger than {} MiB", most >> 20);
        return Err(io::Error::other(why));
    }
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a file to read it. Never blocks or opens a terminal: it refuses FIFOs and devices.
///
/// # Errors
/// It can't be opened, or isn't a plain file.
pub fn open_plain(path: &Path) -> io::Result<File> {
    let other = || Err(io::Error::other("it is not a plain file"));
    // Opening some devices has side effects.
    if !path.metadata()?.is_file() {
        return other();
    }
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        other()
    }
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
