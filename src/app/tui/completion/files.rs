//! Completes files after `@`, and paths.

use super::candidate::Candidate;
use super::token::{Token, token};
use crate::app::attachments::mention;

/// The part of a mention to search for: without `@`, quotes and line numbers.
pub(crate) fn wanted(mention: &str) -> &str {
    split_lines(unquoted(mention)).0
}

/// The candidates for a mention: the paths, with the line numbers typed after them.
pub(crate) fn file_candidates(typed: &str, paths: Vec<String>) -> Vec<Candidate> {
    let (_, lines) = split_lines(unquoted(typed));
    let candidate = |path: String| {
        let insert = if path.ends_with('/') {
            let whole = mention(&path, "");
            // Leave the quote open: the folder's contents come next.
            whole.strip_suffix('"').unwrap_or(&whole).to_owned()
        } else {
            format!("{} ", mention(&path, lines))
        };
        Candidate {
            insert,
            label: path,
            ..Candidate::default()
        }
    };
    paths.into_iter().map(candidate).collect()
}

/// The candidates for a path: the contents of its folder.
pub(crate) fn path_candidates(typed: &str, names: Vec<String>) -> Vec<Candidate> {
    let sign = if typed.starts_with('@') { "@" } else { "" };
    let folder = typed.rfind('/').map_or(sign, |slash| &typed[..=slash]);
    let candidate = |name: String| Candidate {
        insert: format!("{folder}{name}"),
        label: name,
        ..Candidate::default()
    };
    names.into_iter().map(candidate).collect()
}

/// Whether a text ends in a mention and the space after it, so that a colon begins its lines.
pub(crate) fn takes_lines(before: &str) -> bool {
    let mention = before.strip_suffix(' ').unwrap_or_default();
    let mention = mention.strip_suffix('"').unwrap_or(mention);
    let Some(Token::Mention(mention)) = token(mention) else {
        return false;
    };
    let (path, lines) = split_lines(unquoted(mention));
    lines.is_empty() && path.contains(['.', '/']) && !path.ends_with('/')
}

fn unquoted(mention: &str) -> &str {
    let path = mention.strip_prefix('@').unwrap_or(mention);
    path.strip_prefix('"').unwrap_or(path)
}

/// Splits a path from the `:7` or `:7-9` after it.
fn split_lines(path: &str) -> (&str, &str) {
    let is_lines = |lines: &str| lines.chars().all(|c| c.is_ascii_digit() || c == '-');
    match path.rsplit_once(':') {
        Some((file, lines)) if is_lines(lines) => (file, &path[file.len()..]),
        _ => (path, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mention_keeps_its_lines_and_quotes_spaces() {
        for (mention, query, path, insert) in [
            ("@au", "au", "src/auth.rs", "@src/auth.rs "),
            ("@au:3-9", "au", "src/auth.rs", "@src/auth.rs:3-9 "),
            ("@\"a b", "a b", "a b.rs", "@\"a b.rs\" "),
            ("@s", "s", "src/", "@src/"),
            ("@m", "m", "my docs/", "@\"my docs/"),
        ] {
            assert_eq!(wanted(mention), query);
            let found = file_candidates(mention, vec![path.to_owned()]);
            assert_eq!(found[0].insert, insert, "{mention}");
        }
        for (before, expected) in [
            ("see @src/auth.rs ", true),
            ("@\"a b.rs\" ", true),
            ("@src/auth.rs", false),
            ("@src/auth.rs:3 ", false),
            ("@src/ ", false),
            ("@param ", false),
            ("me@home.org ", false),
            ("see ", false),
        ] {
            assert_eq!(takes_lines(before), expected, "{before:?}");
        }
        for (typed, insert) in [
            ("./src/ma", "./src/main.rs"),
            ("ma", "main.rs"),
            ("@ma", "@main.rs"),
            ("@src/ma", "@src/main.rs"),
        ] {
            let names = vec!["main.rs".to_owned()];
            assert_eq!(path_candidates(typed, names)[0].insert, insert, "{typed}");
        }
    }
}
