//! Guesses from its output whether a command failed because of the sandbox. Sandbox errors look
//! like ordinary system errors.

use std::path::{Path, PathBuf};

use super::Sandbox;
use crate::paths::without_dots;
use crate::process::ExitStatus;

/// The kind of access that seems to have been blocked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confined {
    /// Files or other protected things.
    Files,
    /// The network.
    Network,
}

/// Bytes of output to examine; errors are at its end.
const LOOKED_AT: usize = 32 * 1024;
/// The shell found a program without execute permission, which isn't the sandbox.
const NOT_EXECUTABLE: i32 = 126;

const OF_NETWORK: &[&str] = &[
    "network is unreachable",
    "enetunreach",
    "could not resolve",
    "couldn't resolve",
    "unable to resolve",
    "name resolution",
    "name or service not known",
    "nodename nor servname",
    "no such host",
    "failed to lookup address",
    "getaddrinfo",
    "eai_again",
    "enotfound",
    "dns error",
    "unknownhostexception",
    // A server on this machine's loopback.
    "connection refused",
    "econnrefused",
    "connectionrefused",
    // As curl words it.
    "couldn't connect to server",
    "could not connect to server",
    // conda, poetry, and the clients of S3.
    "connection failed for url",
    "all attempts to connect",
    "could not connect to the endpoint",
];
const OF_FILES: &[&str] = &[
    "read-only file system",
    "erofs",
    "permission denied",
    "eacces",
    "operation not permitted",
    "eperm",
    "invalid cross-device link",
    // Read-only files can't be moved or removed either.
    "device or resource busy",
    "ebusy",
    // Git's messages about its settings and signing keys.
    "couldn't load public key",
    "could not write config file",
    "could not lock config file",
];

/// What a sandboxed command with this exit seems to have been denied, and the evidence in its
/// output. `None` if it succeeded or shows no sign.
pub fn signs_of_confinement(output: &str, exit: &ExitStatus) -> Option<(Confined, &'static str)> {
    if matches!(exit, ExitStatus::Exited(0 | NOT_EXECUTABLE)) {
        return None;
    }
    let start = output.ceil_char_boundary(output.len().saturating_sub(LOOKED_AT));
    let end = output[start..].to_lowercase();
    let shown = |signs: &[&'static str]| signs.iter().copied().find(|sign| has_words(&end, sign));
    let of_network = shown(OF_NETWORK).map(|words| (Confined::Network, words));
    of_network.or_else(|| Some((Confined::Files, shown(OF_FILES)?)))
}

/// The protected place of the workspace that each line about a blocked file names. `None` if one names
/// another file, which more access might help. `cwd` is the folder that the command ran in.
pub fn protected_place<'a>(output: &str, sandbox: &'a Sandbox, cwd: &Path) -> Option<&'a Path> {
    let roots = sandbox.writable.iter().map(PathBuf::as_path);
    let roots = roots.filter(|root| cwd.starts_with(root));
    let roots: Vec<&Path> = std::iter::once(cwd).chain(roots).collect();
    let is_inside = |place: &&PathBuf| roots.iter().any(|root| place.starts_with(root));
    let places: Vec<&PathBuf> = sandbox.hidden.iter().filter(is_inside).collect();
    let named = |line: &str| {
        let words = line.split(|c: char| c.is_whitespace() || "'\"`‘’(),:".contains(c));
        let mut paths = words
            .filter(|word| !word.is_empty())
            .flat_map(|word| roots.iter().map(move |root| root.join(word)));
        paths.find_map(|path| {
            let path = without_dots(&path);
            let excepted = sandbox.readable.iter().any(|it| path.starts_with(it));
            let place = places.iter().find(|place| path.starts_with(place));
            place.filter(|_| !excepted).copied()
        })
    };
    let mut found = None;
    for line in output.lines() {
        let lower = line.to_lowercase();
        if OF_FILES.iter().any(|sign| has_words(&lower, sign)) {
            match named(line) {
                Some(place) => found = found.or(Some(place.as_path())),
                // A line like `code: 'EACCES'` names no file.
                None if line.contains('/') => return None,
                None => {}
            }
        }
    }
    found
}

/// At most five files that git couldn't replace or remove because they are mounts, by its own
/// messages. Git continues without them and may succeed.
pub fn files_git_left(output: &str) -> Vec<&str> {
    let mut paths: Vec<&str> = Vec::new();
    for line in output.lines() {
        let named = line.split_once("unable to unlink ").map(|(_, named)| named);
        let named = named.map(|named| named.strip_prefix("old ").unwrap_or(named));
        let path = named.and_then(|named| {
            let named = named.strip_prefix('\'')?;
            named.strip_suffix("': Device or resource busy")
        });
        if let Some(path) = path.filter(|path| paths.len() < 5 && !paths.contains(path)) {
            paths.push(path);
        }
    }
    paths
}

/// True if `text` contains `words` as whole words: "createAccessToken" isn't EACCES.
fn has_words(text: &str, words: &str) -> bool {
    let is_inner = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(words).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + words.len()..]);
        !before.ends_with(is_inner) && !after.starts_with(is_inner)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_protected_place_is_blamed_only_if_nothing_else_was_blocked() {
        let sandbox = Sandbox {
            writable: vec!["/w".into(), "/cache".into()],
            hidden: vec!["/w/secrets".into(), "/home/u/.ssh".into()],
            readable: vec!["/w/secrets/open".into()],
            ..Sandbox::default()
        };
        for (output, expected) in [
            ("cat: secrets/a.txt: Permission denied", true),
            ("cat: ../secrets/a.txt: Permission denied", true),
            ("error: open(\"secrets/a\"): Permission denied", true),
            ("bash: line 1: cd: secrets: Permission denied", true),
            (
                "Error: EACCES: permission denied, open '/w/secrets/a'\n  code: 'EACCES'",
                true,
            ),
            ("cat: secrets/open/a: Permission denied", false),
            ("cat: secrets.md: Permission denied", false),
            ("cat: /home/u/.ssh/config: Permission denied", false),
            ("reads secrets/a.txt\ntouch: /x: Permission denied", false),
            (
                "cat: secrets/a: Permission denied\ntouch: /x: Read-only file system",
                false,
            ),
        ] {
            let found = protected_place(output, &sandbox, Path::new("/w/sub"));
            let expected = expected.then_some(Path::new("/w/secrets"));
            assert_eq!(found, expected, "{output}");
        }
    }

    #[test]
    fn a_sign_is_a_word_of_its_own() {
        for (output, expected) in [
            ("expected createAccessToken() to be called", None),
            ("filePermissions: 1 failed", None),
            ("Error: EACCES: permission denied", Some(Confined::Files)),
            ("open() = -1 (EPERM)", Some(Confined::Files)),
            (
                "getaddrinfo EAI_AGAIN registry.npmjs.org",
                Some(Confined::Network),
            ),
            (
                "connect ECONNREFUSED 127.0.0.1:5432",
                Some(Confined::Network),
            ),
            ("psql: error: Connection refused", Some(Confined::Network)),
            (
                "CondaHTTPError: HTTP 000 CONNECTION FAILED for url <https://repo>",
                Some(Confined::Network),
            ),
            (
                "curl: (7) Failed to connect to localhost port 5432 after 0 ms: Couldn't connect to server",
                Some(Confined::Network),
            ),
        ] {
            let signs = signs_of_confinement(output, &ExitStatus::Exited(1));
            assert_eq!(signs.map(|signs| signs.0), expected, "{output}");
            assert!(signs.is_none_or(|(_, words)| output.to_lowercase().contains(words)));
        }
    }
}
