//! Converts paths from models to paths on this machine, and back to readable ones for users and
//! models. Opens nothing, and doesn't check whether a path is allowed.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::iter;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use unicode_normalization::UnicodeNormalization;

/// Most symbolic links to follow before assuming a loop. The same as the kernel's limit.
const MAX_LINKS: usize = 40;

/// The purpose of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To use an existing file or folder.
    Existing,
    /// To create something. A new file must not overwrite one that merely looks alike.
    MayBeNew,
}

/// Returns the absolute path of the file or folder that `raw` means. Understands `~`, `file://`
/// URLs and a leading `@`. If it doesn't exist as written, also tries other spaces, quotes and
/// Unicode compositions, since models can't tell these apart.
pub fn resolve(raw: &str, cwd: &Path, purpose: Purpose) -> PathBuf {
    let written = expand(raw);
    let stripped = raw.strip_prefix('@').filter(|rest| !rest.is_empty());
    let stripped = stripped.map(expand);
    let mut candidates = iter::once(&written)
        .chain(&stripped)
        .map(|path| cwd.join(path));
    if let Some(path) = candidates.clone().find(|path| exists(path)) {
        return path;
    }
    if purpose == Purpose::Existing
        && let Some(path) = candidates.find_map(|path| look_alike(&path))
    {
        return path;
    }
    // For a new file, `@` is part of its name unless only the folder without it exists.
    let folder = |path: &Path| cwd.join(path).parent().map(Path::to_path_buf);
    let own_folder = folder(&written).is_some_and(|folder| folder != cwd && exists(&folder));
    let stripped =
        stripped.filter(|path| !own_folder && folder(path).is_some_and(|it| exists(&it)));
    with_plain_blanks(&stripped.unwrap_or(written), cwd)
}

/// Returns `path` for users: relative to `cwd` if below it, and harmless to a terminal.
pub fn display(path: &Path, cwd: &Path) -> String {
    let shown = match path.strip_prefix(cwd) {
        Ok(rest) if rest.as_os_str().is_empty() => Path::new("."),
        Ok(rest) => rest,
        Err(_) => path,
    };
    readable(shown.as_os_str())
}

/// Lists the first `most` of `names`, and how many more there are.
pub fn name_some(names: &[String], most: usize) -> String {
    let more = match names.len().saturating_sub(most) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", names[..names.len().min(most)].join(", "))
}

/// Returns a name as text. Invalid UTF-8 and control characters become U+FFFD.
pub fn readable(name: &OsStr) -> String {
    name.to_string_lossy().replace(char::is_control, "\u{fffd}")
}

/// Resolves all symbolic links, even if the last parts of the path don't exist yet. The result
/// contains no `..`: after a missing folder it means the parent folder.
pub fn real(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        match fs::canonicalize(&path) {
            Ok(real) => return Ok(real),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        // A link to something that doesn't exist yet. Writing through it creates its target.
        if let Ok(target) = fs::read_link(&path) {
            path = path.parent().unwrap_or(Path::new("/")).join(target);
            continue;
        }
        let mut parts = path.components();
        let Some(last) = parts.next_back() else {
            return std::env::current_dir();
        };
        let mut folder = real(parts.as_path())?;
        match last {
            Component::Normal(name) => folder.push(name),
            Component::ParentDir => drop(folder.pop()),
            _ => {}
        }
        return Ok(folder);
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

/// Removes `.` and `..` from `path` without looking at the disk.
pub fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Expands `~` and `file://` URLs in `raw`.
pub fn expand(raw: &str) -> PathBuf {
    if let Some(rest) = raw.strip_prefix("file://") {
        let rest = rest.strip_prefix("localhost").unwrap_or(rest);
        return PathBuf::from(percent_decode(rest));
    }
    if (raw == "~" || raw.starts_with("~/"))
        && let Some(home) = std::env::home_dir()
    {
        return home.join(raw[1..].trim_start_matches('/'));
    }
    PathBuf::from(raw)
}

fn percent_decode(text: &str) -> OsString {
    let mut parts = text.split('%');
    let mut out = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let code = part.get(..2).map(|hex| u8::from_str_radix(hex, 16));
        if let Some(Ok(byte)) = code {
            out.push(byte);
            out.extend_from_slice(&part.as_bytes()[2..]);
        } else {
            out.push(b'%');
            out.extend_from_slice(part.as_bytes());
        }
    }
    OsString::from_vec(out)
}

/// Returns the one existing path whose parts look the same as those of `path`.
fn look_alike(path: &Path) -> Option<PathBuf> {
    let mut found = PathBuf::new();
    for part in path.components() {
        let Component::Normal(name) = part else {
            found.push(part);
            continue;
        };
        let exact = found.join(name);
        if exists(&exact) {
            found = exact;
            continue;
        }
        let wanted = folded(name.to_str()?);
        let mut matches = fs::read_dir(&found)
            .ok()?
            .flatten()
            .map(|entry| entry.file_name())
            .filter(|name| name.to_str().is_some_and(|name| folded(name) == wanted));
        let name = matches.next()?;
        if matches.next().is_some() {
            return None;
        }
        found.push(name);
    }
    Some(found)
}

fn folded(name: &str) -> String {
    name.nfc()
        .map(|c| match c {
            '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' => '\'',
            '\u{201c}'..='\u{201f}' => '"',
            _ if is_odd_blank(c) => ' ',
            _ => c,
        })
        .collect()
}

/// Joins `raw` to `cwd`, with plain spaces in names that don't exist as written.
fn with_plain_blanks(raw: &Path, cwd: &Path) -> PathBuf {
    let mut path = cwd.to_path_buf();
    for part in raw.components() {
        let written = path.join(part);
        path = match part.as_os_str().to_str() {
            Some(name) if name.contains(is_odd_blank) && !exists(&written) => {
                path.join(name.replace(is_odd_blank, " "))
            }
            _ => written,
        };
    }
    path
}

/// Returns `true` for characters that look like a space but aren't one.
pub fn is_odd_blank(c: char) -> bool {
    matches!(
        c,
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
    )
}
