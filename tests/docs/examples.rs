//! Every example in a code block parses: TOML and JSON, settings and keys as the program reads
//! them, and each `tiller` command with the program's own command line.

use clap::Parser as _;
use clap::error::ErrorKind;
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

use super::{Page, none, pages};
use crate::app::args::Args;
use crate::app::config::Layers;
use crate::app::tui::keymap::Keymap;

/// Every code block of `page`, as its language and its text.
fn blocks(page: &Page) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open: Option<(String, String)> = None;
    for event in Parser::new(&page.text) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                let language = info.split([',', ' ']).next().unwrap_or_default().to_owned();
                open = Some((language, String::new()));
            }
            Event::Text(text) => {
                if let Some((_, block)) = &mut open {
                    block.push_str(&text);
                }
            }
            Event::End(TagEnd::CodeBlock) => found.extend(open.take()),
            _ => {}
        }
    }
    found
}

#[test]
fn every_example_parses() {
    let mut faults = Vec::new();
    for page in pages() {
        for (language, text) in blocks(&page) {
            let fault = match language.as_str() {
                "toml" => toml_fault(&text),
                "json" => json_fault(&text),
                "sh" | "bash" | "shell" | "console" => shell_fault(&text, language == "console"),
                _ => None,
            };
            faults.extend(fault.map(|fault| format!("{}: {fault}\n{text}", page.path)));
        }
    }
    none(&faults);
}

/// A table with the name of one in config.toml holds settings. A block with `keymap.toml` in a
/// comment holds keys.
fn toml_fault(text: &str) -> Option<String> {
    let table: toml::Table = match text.parse() {
        Ok(table) => table,
        Err(error) => return Some(error.to_string()),
    };
    if text.contains("keymap.toml") {
        let (_, faults) = Keymap::with("keymap.toml", text);
        return faults.first().map(ToString::to_string);
    }
    let defaults = Layers::defaults();
    let is_ours = |name: &str| {
        let entries = defaults.entries();
        entries
            .iter()
            .any(|(key, ..)| key.split('.').next() == Some(name))
    };
    if table.is_empty() || !table.keys().all(|name| is_ours(name)) {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    std::fs::write(&file, text).unwrap();
    let mut layers = Layers::defaults();
    let added = layers.add_user_file(&file);
    added.err().or(layers.left_out.pop())
}

/// What's wrong with one JSON value, or several in sequence.
fn json_fault(text: &str) -> Option<String> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<serde_json::Value>();
    values.find_map(Result::err).map(|error| error.to_string())
}

fn shell_fault(text: &str, is_console: bool) -> Option<String> {
    let text = text.replace("\\\n", " ");
    let lines = text
        .lines()
        .filter_map(|line| match line.strip_prefix("$ ") {
            Some(command) => Some(command),
            None => (!is_console).then_some(line),
        });
    lines
        .flat_map(commands)
        .find_map(|words| tiller_fault(&words))
}

/// What's wrong with `words` as a call of tiller. None if they call another program.
fn tiller_fault(words: &[String]) -> Option<String> {
    let start = words.iter().position(|word| word == "tiller")?;
    let before_is_plain = words[..start].iter().all(|word| {
        word.contains('=')
            || matches!(
                word.as_str(),
                "env" | "nohup" | "exec" | "if" | "while" | "!"
            )
    });
    if !before_is_plain {
        return None;
    }
    let said = words[start..].join(" ");
    match Args::try_parse_from(&words[start..]) {
        Ok(args) if args.command.is_none() => {
            let mistyped = args.run.mistyped_command();
            mistyped.map(|why| format!("{said}: {why}"))
        }
        Ok(_) => None,
        Err(error) => {
            let is_fine = matches!(
                error.kind(),
                // The example's folder doesn't exist here.
                ErrorKind::ValueValidation | ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
            );
            (!is_fine).then(|| format!("{said}: {error}"))
        }
    }
}

/// Splits a shell line into simple commands of words. Supports enough of the grammar for the
/// examples.
fn commands(line: &str) -> Vec<Vec<String>> {
    let mut found = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars().peekable();
    // The word after `>` or `<` is a file.
    let mut is_file = false;
    let end = |word: &mut Option<String>, found: &mut Vec<Vec<String>>, is_file: &mut bool| {
        if let Some(word) = word.take()
            && !std::mem::take(is_file)
            && let Some(last) = found.last_mut()
        {
            last.push(word);
        }
    };
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('"') | None, '$') if chars.peek() == Some(&'(') => {
                chars.next();
                // A substitution is a command too, and a word of the command around it.
                let inner: String = chars.by_ref().take_while(|c| *c != ')').collect();
                let at = found.len() - 1;
                for command in commands(&inner) {
                    found.insert(at, command);
                }
                word.get_or_insert_default().push_str("output");
            }
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => break,
            (None, '|' | ';' | '&' | '(' | ')') => {
                end(&mut word, &mut found, &mut is_file);
                found.push(Vec::new());
            }
            (None, '<' | '>') => {
                if word.as_deref() == Some("2") {
                    word = None;
                }
                end(&mut word, &mut found, &mut is_file);
                is_file = true;
            }
            (None, c) if c.is_whitespace() => end(&mut word, &mut found, &mut is_file),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    end(&mut word, &mut found, &mut is_file);
    found
}

#[test]
fn a_shell_line_is_split_into_commands() {
    for (line, expected) in [
        ("tiller -p \"a b\" # why", vec![vec!["tiller", "-p", "a b"]]),
        (
            "git diff | tiller -p 2> log",
            vec![vec!["git", "diff"], vec!["tiller", "-p"]],
        ),
        (
            "x=$(tiller status)",
            vec![vec!["tiller", "status"], vec!["x=output"]],
        ),
    ] {
        assert_eq!(commands(line), expected, "{line}");
    }
    assert!(shell_fault("tiller --moddel x", false).is_some());
    assert!(shell_fault("tiller sesions list", false).is_some());
    assert_eq!(shell_fault("$ tiller doctor\nall good", true), None);
}
