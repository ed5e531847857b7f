//! The macOS sandbox: a profile for `sandbox-exec`, which starts the shell.
//!
//! macOS has no private loopback, so a command without network access has none at all.

#![cfg_attr(
    target_os = "linux",
    allow(dead_code, reason = "tested everywhere, used on macOS")
)]

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::spec::{Network, Sandbox, between};

/// The program that applies a profile, independent of PATH.
pub(in crate::process) const PROGRAM: &str = "/usr/bin/sandbox-exec";

const DEVICES: [&str; 8] = [
    "/dev/null",
    "/dev/zero",
    "/dev/tty",
    "/dev/random",
    "/dev/urandom",
    "/dev/ptmx",
    "/dev/dtracehelper",
    "/dev/stdout",
];

/// The profile for `sandbox`. The last matching rule wins.
pub(in crate::process) fn profile(sandbox: &Sandbox) -> String {
    let mut text = "(version 1)\n(allow default)\n(deny file-write*)\n".to_owned();
    let devices = DEVICES.map(PathBuf::from);
    rule(&mut text, "allow file-write*", "literal", &devices);
    let writable: Vec<_> = sandbox
        .writable
        .iter()
        .chain(&sandbox.tmp)
        .cloned()
        .collect();
    rule(&mut text, "allow file-write*", "subpath", &writable);
    rule(&mut text, "deny file-write*", "subpath", &sandbox.read_only);
    // A parent of a protected folder could be renamed and replaced.
    let above = sandbox.read_only.iter().chain(&sandbox.hidden);
    let above = above.filter_map(|path| {
        let folder = writable.iter().find(|folder| path.starts_with(folder))?;
        Some(between(path, folder))
    });
    let above: Vec<_> = above.flatten().map(Path::to_owned).collect();
    rule(&mut text, "deny file-write-unlink", "literal", &above);
    rule(
        &mut text,
        "deny file-read* file-write*",
        "subpath",
        &sandbox.hidden,
    );
    rule(&mut text, "allow file-read*", "subpath", &sandbox.readable);
    if sandbox.network != Network::Host {
        text.push_str("(deny network*)\n");
    }
    text.push_str(
        "(deny signal)\n(allow signal (target same-sandbox))\n\
         (deny process-info-pidinfo)\n(allow process-info-pidinfo (target same-sandbox))\n\
         (deny appleevent-send)\n(deny lsopen)\n(deny job-creation)\n",
    );
    text
}

fn rule(text: &mut String, what: &str, filter: &str, paths: &[PathBuf]) {
    if paths.is_empty() {
        return;
    }
    let _ = write!(text, "({what}");
    for path in paths {
        let _ = write!(text, "\n  ({filter} {})", quote(path));
    }
    text.push_str(")\n");
}

fn quote(path: &Path) -> String {
    let text = path.to_string_lossy();
    format!("\"{}\"", text.replace('\\', r"\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sandbox_is_a_profile() {
        let sandbox = Sandbox {
            writable: vec![r#"/ws "a\b""#.into()],
            read_only: vec![r#"/ws "a\b"/.git/config"#.into()],
            hidden: vec!["/home/.ssh".into()],
            tmp: Some("/private/tmp/session".into()),
            ..Sandbox::default()
        };
        let text = profile(&sandbox);
        let expected = r#"(allow file-write*
  (subpath "/ws \"a\\b\"")
  (subpath "/private/tmp/session"))
(deny file-write*
  (subpath "/ws \"a\\b\"/.git/config"))
(deny file-write-unlink
  (literal "/ws \"a\\b\"/.git"))
(deny file-read* file-write*
  (subpath "/home/.ssh"))
(deny network*)
"#;
        assert!(text.contains(expected), "{text}");
        assert_eq!(text.matches('(').count(), text.matches(')').count());
        let host = Sandbox {
            network: Network::Host,
            ..sandbox
        };
        assert!(!profile(&host).contains("network"));
    }
}
