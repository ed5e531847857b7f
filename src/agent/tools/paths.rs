//! From a path as a model writes it to a path of this machine, and back to one that users and
//! models can read. Does not check whether a path is allowed, and opens nothing.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use unicode_normalization::UnicodeNormalization;

/// Symbolic links followed before a path counts as a loop; the kernel's own limit.
const MAX_LINKS: usize = 40;

/// What a path is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To use what is there.
    Existing,
    /// To put something there: a new file must not land in one that merely looks alike.
    MayBeNew,
}

/// The file or folder that `raw` means, absolute. `~`, `file://` URLs and a leading `@` are
/// understood. What does not exist as written is looked for with other blanks, quotes and Unicode
/// compositions, since models cannot tell those apart.
pub fn resolve(raw: &str, cwd: &Path, purpose: Purpose) -> PathBuf {
    let expanded = expand(raw);
    let written = cwd.join(&expanded);
    if exists(&written) {
        return written;
    }
    let stripped = expanded
        .to_str()
        .and_then(|text| text.strip_prefix('@'))
        .filter(|rest| !rest.is_empty())
        .map(|rest| (expand(rest), cwd.join(expand(rest))));
    if let Some((_, path)) = &stripped
        && exists(path)
    {
        return path.clone();
    }
    if purpose == Purpose::Existing {
        let found = look_alike(&written)
            .or_else(|| stripped.as_ref().and_then(|(_, path)| look_alike(path)));
        if let Some(found) = found {
            return found;
        }
    }
    // A new file: `@` is a part of its name unless only the folder without it is there.
    let folder_exists = |path: &Path| path.parent().is_some_and(exists);
    let own_folder = written.parent() != Some(cwd) && folder_exists(&written);
    match stripped {
        Some((rest, path)) if !own_folder && folder_exists(&path) => with_plain_blanks(&rest, cwd),
        _ => with_plain_blanks(&expanded, cwd),
    }
}

/// `path` for users: relative to `cwd` where it is below, with nothing in it that could disturb a
/// terminal or a line.
pub fn display(path: &Path, cwd: &Path) -> String {
    let shown = match path.strip_prefix(cwd) {
        Ok(rest) if rest.as_os_str().is_empty() => Path::new("."),
        Ok(rest) => rest,
        Err(_) => path,
    };
    readable(shown.as_os_str())
}

/// A name as text: invalid UTF-8 and control characters become U+FFFD.
pub fn readable(name: &OsStr) -> String {
    let text = name.to_string_lossy();
    if text.chars().any(char::is_control) {
        text.chars()
            .map(|c| if c.is_control() { '\u{fffd}' } else { c })
            .collect()
    } else {
        text.into_owned()
    }
}

/// The path behind all symbolic links, also when the last parts do not exist yet.
pub fn real(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        match fs::canonicalize(&path) {
            Ok(real) => return Ok(real),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        // A link to something that does not exist yet: what is written goes there.
        if let Ok(target) = fs::read_link(&path) {
            path = path.parent().unwrap_or(Path::new("/")).join(target);
            continue;
        }
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Ok(path);
        };
        return Ok(real(parent)?.join(name));
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

fn expand(raw: &str) -> PathBuf {
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
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = (bytes[at] == b'%')
            .then(|| text.get(at + 1..at + 3))
            .flatten()
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        if let Some(code) = code {
            out.push(code);
            at += 3;
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    OsString::from_vec(out)
}

/// An existing path whose parts read the same as those of `path`, if each step has just one.
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

/// `raw` below `cwd`, with plain spaces in the names that do not exist as they are written.
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

/// Blanks that look like a space and are not one.
pub fn is_odd_blank(c: char) -> bool {
    matches!(
        c,
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_understood_as_models_write_them() {
        let dir = tempfile::tempdir().unwrap();
        let cwd = dir.path();
        fs::create_dir(cwd.join("@types")).unwrap();
        for name in [
            "a.txt",
            "@b.txt",
            "it\u{2019}s 5\u{202f}PM.png",
            "caf\u{e9}.md",
        ] {
            fs::write(cwd.join(name), "x").unwrap();
        }
        let url = format!("file://{}/a%2Etxt", cwd.display());
        let cases = [
            ("a.txt", "a.txt"),
            ("@a.txt", "a.txt"),
            ("@b.txt", "@b.txt"),
            ("it's 5 PM.png", "it\u{2019}s 5\u{202f}PM.png"),
            ("cafe\u{301}.md", "caf\u{e9}.md"),
            (url.as_str(), "a.txt"),
            ("@types/new.ts", "@types/new.ts"),
            ("@new.ts", "new.ts"),
            ("@scope/new.ts", "@scope/new.ts"),
            ("new\u{a0}file", "new file"),
        ];
        for (raw, expected) in cases {
            assert_eq!(
                resolve(raw, cwd, Purpose::Existing),
                cwd.join(expected),
                "{raw}"
            );
        }
        let new = resolve("it's 5 PM.png", cwd, Purpose::MayBeNew);
        assert_eq!(new, cwd.join("it's 5 PM.png"));
        assert_eq!(
            resolve("~", cwd, Purpose::Existing),
            std::env::home_dir().unwrap()
        );
    }

    #[test]
    fn real_follows_dangling_links_and_refuses_loops() {
        let dir = tempfile::tempdir().unwrap();
        let cwd = dir.path().canonicalize().unwrap();
        std::os::unix::fs::symlink("deep/target", cwd.join("dangling")).unwrap();
        std::os::unix::fs::symlink("loop", cwd.join("loop")).unwrap();
        assert_eq!(
            real(&cwd.join("dangling")).unwrap(),
            cwd.join("deep/target")
        );
        assert!(real(&cwd.join("loop")).is_err());
    }

    #[test]
    fn names_cannot_disturb_a_line() {
        use std::os::unix::ffi::OsStrExt;
        assert_eq!(
            readable(OsStr::from_bytes(b"a\x1b[31m\n\xff")),
            "a\u{fffd}[31m\u{fffd}\u{fffd}"
        );
    }
}
