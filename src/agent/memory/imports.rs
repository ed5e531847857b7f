//! Imports in instruction files: which words name a file, and which files to refuse. Reads no file.

use std::path::{Component, Path};

use pulldown_cmark::{Event, Parser, Tag};

use crate::word_list::WordList;

/// Names of files with secrets, in lower case; `*` matches anything.
const SECRET_NAMES: WordList = WordList(
    ".env .env.* *.env *.pem *.key *.p12 *.pfx *.jks *.keystore *.kdbx *.gpg *.age id_rsa* id_dsa* \
    id_ecdsa* id_ed25519* .netrc .npmrc .pypirc .pgpass .htpasswd .git-credentials credentials* \
    secret.* secrets.* *history",
);
/// Folders with secrets or without useful instructions.
const SECRET_FOLDERS: WordList = WordList(".ssh .aws .gnupg .kube .docker .git");
/// Templates of such files, without secrets.
const TEMPLATES: WordList = WordList("*.example *.sample *.template *.pub");
/// Characters allowed before the `@` of a word.
const OPENING: [char; 7] = ['(', '[', '<', '"', '\'', '*', '_'];
/// Characters allowed after a path.
const CLOSING: [char; 13] = [
    '.', ',', ';', ':', '!', '?', ')', ']', '>', '"', '\'', '*', '_',
];

/// The paths in words `@path` outside code. Most `@`s aren't files, so the caller checks.
pub fn imports(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut plain = 0;
    for (event, code) in Parser::new(text).into_offset_iter() {
        if matches!(event, Event::Code(_) | Event::Start(Tag::CodeBlock(_))) {
            found.extend(words(&text[plain..code.start]));
            plain = code.end;
        }
    }
    found.extend(words(&text[plain..]));
    found
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let paths = text
        .split_whitespace()
        .filter_map(|word| word.trim_start_matches(OPENING).strip_prefix('@'));
    let paths = paths.map(|path| path.trim_end_matches(CLOSING));
    paths.filter(|path| !path.is_empty())
}

/// True if a file with this path may contain a password or key.
pub fn is_secret(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.to_lowercase();
    let is_secret = |folder: Component| {
        let folder = folder.as_os_str().to_str();
        folder.is_some_and(|folder| SECRET_FOLDERS.contains(folder))
    };
    let mut folders = path.parent().into_iter().flat_map(Path::components);
    folders.any(is_secret) || SECRET_NAMES.matches(&name) && !TEMPLATES.matches(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_outside_of_code_are_imports() {
        for (text, expected) in [
            ("See @a.md, (@b/c.md) and **@d.md**.", "a.md b/c.md d.md"),
            ("- @~/x.md\n- @../y.md\n- @/z.md", "~/x.md ../y.md /z.md"),
            ("me@a.md @ @. `@b.md` ``x ` @c.md`` @d.md", "d.md"),
            ("a ` @b.md", "b.md"),
            ("```\n@a.md\n```\n@b.md", "b.md"),
            ("~~~ md\n@a.md\n```\n@b.md\n~~~\n@c.md", "c.md"),
            ("````\n```\n@a.md\n````\n@b.md", "b.md"),
            ("```@a.md``` @b.md", "b.md"),
            ("  ```\n@never ends", ""),
            ("An example:\n\n    @a.md\n\n- b\n\n  @c.md", "c.md"),
            ("See `@a.md\n@b.md` and @c.md", "c.md"),
        ] {
            assert_eq!(imports(text).join(" "), expected, "{text}");
        }
    }

    #[test]
    fn files_of_keys_and_passwords_are_secret() {
        for (path, expected) in [
            ("/p/.env", true),
            ("/p/.env.local", true),
            ("/p/prod.env", true),
            ("/p/.ENV", true),
            ("/p/.env.example", false),
            ("/p/certs/server.pem", true),
            ("/h/.ssh/config", true),
            ("/h/.ssh/id_ed25519", true),
            ("/p/id_ed25519.pub", false),
            ("/p/.git/config", true),
            ("/p/.github/CONTRIBUTING.md", false),
            ("/p/credentials.json", true),
            ("/p/docs/secrets.md", true),
            ("/p/environment.md", false),
            ("/h/.bash_history", true),
            ("/p/README.md", false),
        ] {
            assert_eq!(is_secret(Path::new(path)), expected, "{path}");
        }
    }
}
