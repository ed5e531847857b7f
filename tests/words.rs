//! Checks the words that users and models read: every string of the program, the help of the
//! command line, and the texts in `assets/`. CONTRIBUTING.md describes the rules, as far as a
//! machine can check them.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::LitStr;

/// Words that make sentences hard to read, and their replacements.
const BANNED: &[(&str, &str)] = &[
    ("goes on", "continues"),
    ("go on", "continue"),
    ("of its own", "its own"),
    ("of their own", "their own"),
    ("is no", "isn't a"),
    ("are no", "aren't"),
    ("as it is", "unchanged"),
    ("as they are", "unchanged"),
    ("what is there", "name it"),
    ("way out", "say what to do"),
    ("takes in", "loads"),
    ("by itself", "automatically"),
    ("by themselves", "automatically"),
    ("whatever", "name it"),
    ("anew", "again"),
    ("nobody", "no one, or name who"),
    ("somebody", "someone, or name who"),
    ("is told", "say who tells"),
    ("are told", "say who tells"),
    ("is asked", "say who asks"),
    ("are asked", "say who asks"),
    ("is said", "say who says it"),
    ("are said", "say who says it"),
    ("is kept", "say who keeps it"),
    ("are kept", "say who keeps them"),
    ("held to", "limited to"),
    ("behind", "after, or where exactly"),
    ("stands in", "is in"),
    ("stands at", "is at"),
    ("stands there", "is there"),
    ("may not", "can't, or must not"),
];
/// Maximum words in a sentence.
const MAX_WORDS: usize = 20;
/// Maximum characters in a hint.
const MAX_HINT: usize = 100;
/// How hints write keys.
const KEYS: &[&str] = &[
    "Enter", "Esc", "Tab", "Space", "↑↓", "←→", "↑", "↓", "F1", "PgUp", "PgDn",
];
/// Base forms that look like a verb in the third person.
const BASE_FORMS: &[&str] = &[
    "dismiss", "focus", "less", "press", "process", "pass", "across",
];
/// Texts that break a rule for a good reason.
const EXCEPTIONS: &[(&str, &str)] = &[(
    "[The conversation will continue from an earlier point.",
    "its longest sentence is a list",
)];

/// A text and its place.
struct Text {
    place: String,
    text: String,
}

#[test]
fn every_text_follows_the_rules() {
    let mut faults = String::new();
    let mut unused: BTreeSet<&str> = EXCEPTIONS.iter().map(|(part, _)| *part).collect();
    for Text { place, text } in texts() {
        let exception = EXCEPTIONS.iter().find(|(part, _)| text.contains(part));
        if let Some((part, _)) = exception {
            unused.remove(part);
            continue;
        }
        for fault in faults_of(&text) {
            let shown: String = text.chars().take(160).collect();
            let _ = writeln!(faults, "{place}: {fault}: {shown:?}");
        }
    }
    assert!(faults.is_empty(), "{faults}");
    assert!(unused.is_empty(), "unused exceptions: {unused:?}");
}

#[test]
fn each_rule_finds_a_text_that_breaks_it() {
    let long = "word ".repeat(MAX_WORDS + 1);
    for (text, part) in [
        ("It goes on with the next file.", "goes on"),
        ("The model is told so.", "is told"),
        (long.as_str(), "21 words"),
        ("Enter sends · Esc cancel", "`Enter sends`"),
    ] {
        let found = faults_of(text).join(", ");
        assert!(found.contains(part), "{text}: {found}");
    }
    for text in [
        "Enter send · Esc cancel",
        "`goes on` is code here.",
        "Standing in a queue.",
    ] {
        assert_eq!(faults_of(text), Vec::<String>::new(), "{text}");
    }
}

fn faults_of(text: &str) -> Vec<String> {
    let prose = without_code(text);
    let words: Vec<String> = words_of(&prose);
    let spoken = format!(" {} ", words.join(" ").to_lowercase());
    let spoken = spoken
        .replace("there is no ", "")
        .replace("is no longer ", "");
    let banned = BANNED
        .iter()
        .filter(|(word, _)| spoken.contains(&format!(" {word} ")));
    let mut faults: Vec<String> = banned
        .map(|(word, instead)| format!("`{word}` (write: {instead})"))
        .collect();
    for sentence in prose.split_inclusive(['.', '!', '?', ':', ';', '\n', '·', '|']) {
        let count = sentence
            .split_whitespace()
            .filter(|it| it.chars().filter(|c| c.is_alphabetic()).count() > 1)
            .count();
        if count > MAX_WORDS {
            faults.push(format!("a sentence of {count} words"));
        }
    }
    if prose.contains(" · ") {
        for part in prose.split(" · ") {
            let part = part.trim();
            let key = KEYS.iter().find(|key| part.starts_with(&format!("{key} ")));
            let verb = key.and_then(|key| part[key.len()..].split_whitespace().next());
            if let (Some(key), Some(verb)) = (key, verb)
                && verb.ends_with('s')
                && !BASE_FORMS.contains(&verb)
            {
                faults.push(format!(
                    "`{key} {verb}` (write the key and the verb's base form)"
                ));
            }
        }
        if prose.chars().count() > MAX_HINT {
            faults.push("a hint wider than the screen".to_owned());
        }
    }
    faults
}

/// `text` with `X` in place of code between backticks and of placeholders.
fn without_code(text: &str) -> String {
    let mut prose = String::new();
    for (at, part) in text.split('`').enumerate() {
        prose.push_str(if at % 2 == 0 { part } else { "X" });
    }
    let mut plain = String::new();
    let mut depth = 0usize;
    for c in prose.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => {
                depth -= 1;
                plain.push('X');
            }
            c if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    plain
}

fn words_of(text: &str) -> Vec<String> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '-' | '/' | '_');
    let words = text
        .split(|c: char| !is_part(c))
        .filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// True for more than one word, at least some with letters.
fn is_prose(text: &str) -> bool {
    let is_word =
        |word: &&str| word.len() > 1 && word.chars().all(|c| c.is_alphabetic() || c == '\'');
    text.trim().contains(' ') && text.split_whitespace().filter(is_word).count() > 1
}

fn texts() -> Vec<Text> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for path in files_below(&root.join("src"), "rs") {
        let source = fs::read_to_string(&path).unwrap();
        let tokens: TokenStream = source.parse().unwrap();
        let name = path.strip_prefix(root).unwrap().display().to_string();
        let mut scanner = Scanner {
            reads_docs: name.starts_with("src/app/args"),
            name,
            found: &mut found,
        };
        scanner.scan(tokens);
    }
    let mut assets = files_below(&root.join("assets"), "toml");
    // Contains data, with comments for maintainers.
    assets.retain(|path| !path.ends_with("models.toml"));
    for path in assets {
        let name = path.strip_prefix(root).unwrap().display().to_string();
        for (at, text) in paragraphs(&fs::read_to_string(&path).unwrap()) {
            let place = format!("{name}:{at}");
            found.push(Text { place, text });
        }
    }
    found.retain(|it| is_prose(&it.text));
    found
}

/// The comments of a TOML file, joined where they form one text, and its strings.
fn paragraphs(source: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut is_open = false;
    for (at, line) in source.lines().enumerate() {
        let comment = line.trim_start().strip_prefix('#');
        // An example in a comment is indented.
        let comment = comment.map(|text| {
            if text.starts_with("   ") {
                ""
            } else {
                text.trim()
            }
        });
        match comment {
            Some("") | None => is_open = false,
            Some(text) if is_open => {
                let last = &mut found.last_mut().unwrap().1;
                last.push(' ');
                last.push_str(text);
            }
            Some(text) => {
                found.push((at + 1, text.to_owned()));
                is_open = true;
            }
        }
        if comment.is_none()
            && let Some((_, value)) = line.split_once('=')
        {
            found.push((at + 1, value.trim().trim_matches(['"', '\'']).to_owned()));
        }
    }
    found
}

fn files_below(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_below(&path, extension));
        } else if path.extension().is_some_and(|it| it == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Finds the strings in a file's tokens that can reach a reader.
struct Scanner<'a> {
    name: String,
    /// True where doc comments are help texts.
    reads_docs: bool,
    found: &'a mut Vec<Text>,
}

/// Places whose texts no user reads: logs, failed tests, lists of words to compare with.
const SILENT: &[&str] = &[
    "WordList",
    "assert",
    "assert_eq",
    "assert_ne",
    "debug",
    "debug_assert",
    "debug_assert_eq",
    "error",
    "expect",
    "expect_err",
    "include_bytes",
    "include_str",
    "info",
    "panic",
    "trace",
    "unreachable",
    "warn",
];

impl Scanner<'_> {
    fn scan(&mut self, tokens: TokenStream) {
        let mut tokens = tokens.into_iter().peekable();
        let mut last_name = String::new();
        let mut is_test = false;
        let mut docs = String::new();
        while let Some(token) = tokens.next() {
            if !matches!(&token, TokenTree::Punct(mark) if mark.as_char() == '#') {
                self.add_docs(&mut docs);
            }
            match token {
                TokenTree::Punct(mark) if mark.as_char() == '#' => {
                    if let Some(TokenTree::Punct(_)) = tokens.peek() {
                        tokens.next();
                    }
                    if let Some(TokenTree::Group(group)) = tokens.next_if(is_bracketed) {
                        let text = group.stream().to_string();
                        is_test |= text.starts_with("cfg (test)") || text == "test";
                        Self::read_doc(&group, &mut docs);
                    }
                    continue;
                }
                TokenTree::Punct(mark) if mark.as_char() == ';' => is_test = false,
                TokenTree::Punct(mark) if mark.as_char() == '!' => continue,
                TokenTree::Ident(name) => {
                    last_name = name.to_string();
                    continue;
                }
                TokenTree::Group(group) => {
                    let is_body = group.delimiter() == Delimiter::Brace;
                    if !(is_test || SILENT.contains(&last_name.as_str())) {
                        self.scan(group.stream());
                    }
                    is_test &= !is_body;
                }
                TokenTree::Literal(literal) => {
                    let line = literal.span().start().line;
                    if let Ok(text) = syn::parse_str::<LitStr>(&literal.to_string()) {
                        self.add(line, text.value());
                    }
                }
                TokenTree::Punct(_) => {}
            }
            last_name.clear();
        }
    }

    /// Adds a complete doc comment.
    fn add_docs(&mut self, docs: &mut String) {
        let text = std::mem::take(docs);
        if self.reads_docs && !text.is_empty() {
            self.add(0, text);
        }
    }

    /// Joins the lines of one doc comment.
    fn read_doc(group: &Group, docs: &mut String) {
        let text = group.stream().to_string();
        let Some(line) = text.strip_prefix("doc =") else {
            return;
        };
        if let Ok(line) = syn::parse_str::<LitStr>(line.trim()) {
            docs.push_str(line.value().trim());
            docs.push('\n');
        }
    }

    fn add(&mut self, line: usize, text: String) {
        let place = format!("{}:{line}", self.name);
        self.found.push(Text { place, text });
    }
}

fn is_bracketed(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket)
}
