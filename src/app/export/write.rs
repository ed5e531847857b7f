//! Writes an export to a file, completely or not at all. Replaces an existing file only on request.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

const NAME: usize = 60;
/// Names to try before giving up.
const TRIES: usize = 1000;
/// Permissions of a new file, before the umask. Exports are meant to be shared.
const MODE: u32 = 0o666;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfExists {
    Refuse,
    Replace,
}

/// Writes `bytes` to `path`, or into it if it is a pipe or device. An existing file is the error
/// [`io::ErrorKind::AlreadyExists`].
pub fn write_file(path: &Path, bytes: &[u8], if_exists: IfExists) -> io::Result<()> {
    if let Ok(there) = fs::metadata(path)
        && !there.is_file()
        && !there.is_dir()
    {
        return OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    let path = match if_exists {
        // A link stays a link.
        IfExists::Replace => path.canonicalize().unwrap_or_else(|_| path.to_owned()),
        IfExists::Refuse => path.to_owned(),
    };
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if if_exists == IfExists::Refuse && path.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut file = tempfile::Builder::new()
        .prefix(".tiller-")
        .permissions(Permissions::from_mode(MODE))
        .tempfile_in(folder)
        .map_err(|error| io::Error::from(error.kind()))?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    let stored = match if_exists {
        IfExists::Replace => file.persist(&path),
        IfExists::Refuse => file.persist_noclobber(&path),
    };
    stored.map(drop).map_err(|error| error.error)
}

/// Writes a new file named after `title` into `folder`, which it creates if necessary. Returns its path,
/// with an error too.
pub fn write_new(
    folder: &Path,
    title: &str,
    extension: &str,
    bytes: &[u8],
) -> Result<PathBuf, (PathBuf, io::Error)> {
    let name = name_of(title);
    // Private: conversations aren't for other users of the machine.
    if let Err(error) = DirBuilder::new().recursive(true).mode(0o700).create(folder) {
        return Err((folder.to_owned(), error));
    }
    let mut number = 1;
    loop {
        let path = folder.join(match number {
            1 => format!("{name}.{extension}"),
            number => format!("{name}-{number}.{extension}"),
        });
        match write_file(&path, bytes, IfExists::Refuse) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < TRIES => {
                number += 1;
            }
            Err(error) => return Err((path, error)),
        }
    }
}

pub fn same_file(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

fn name_of(title: &str) -> String {
    let title = title.replace(['\'', '’'], "");
    let words = title.split(|c: char| !c.is_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let name: String = words.join("-").chars().take(NAME).collect();
    match name.trim_end_matches('-') {
        "" => String::from("session"),
        name => name.to_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_harmless_and_readable() {
        for (title, name) in [
            ("Fix the parser", "fix-the-parser"),
            ("../../etc/passwd", "etc-passwd"),
            ("Größe: ändern!", "größe-ändern"),
            ("\u{1b}[31m\u{202e}", "31m"),
            ("Don't! It’s done", "dont-its-done"),
            ("…", "session"),
            ("", "session"),
        ] {
            assert_eq!(name_of(title), name);
        }
        assert!(name_of(&"long ".repeat(100)).len() <= NAME);
    }
}
