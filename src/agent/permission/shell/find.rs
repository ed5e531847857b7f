//! find and fd: what they start, and what they delete.

use super::inner::{Inner, Through, fill};
use super::word::{Atom, Word};
use crate::word_list::WordList;

/// `find`: what `-exec` starts, what `-delete` removes, and the files it writes.
pub(super) fn find(words: &[Word]) -> Through {
    let mut through = Through::default();
    let operands = words[1..].iter();
    let roots = operands
        .skip_while(|word| matches!(word.exact().as_deref(), Some("-H" | "-L" | "-P")))
        .take_while(|word| !word.head().starts_with(['-', '(', '!']));
    let mut roots: Vec<Word> = roots.cloned().collect();
    if roots.is_empty() {
        roots.push(Word::literal("."));
    }
    let found = found_by(&roots, words);
    let mut at = 1;
    while let Some(word) = words.get(at) {
        at += 1;
        match word.exact().as_deref() {
            Some("-exec" | "-execdir" | "-ok" | "-okdir") => {
                let rest = &words[at..];
                let is_end = |word: &Word| matches!(word.exact().as_deref(), Some(";" | "+"));
                let length = rest.iter().position(is_end).unwrap_or(rest.len());
                for found in &found {
                    through.add(Inner::Command(place(&rest[..length], found)));
                }
                at += length;
            }
            Some("-delete") => {
                let rm = [Word::literal("rm"), Word::literal("-rf")];
                let command = rm.into_iter().chain(found.iter().cloned()).collect();
                through.add(Inner::Command(command));
            }
            Some("-fprint" | "-fprint0" | "-fls" | "-fprintf") => {
                through.writes.extend(words.get(at).cloned());
            }
            Some(_) => {}
            None if word.may_split() && at > 2 => {
                through.add(Inner::doubt(
                    "find: an argument that may expand to several words",
                ));
            }
            None => {}
        }
    }
    through
}

/// Name tests that determine the end of a path.
const NAMES: [&str; 3] = ["-name", "-path", "-wholename"];
/// Tests with one value whose negation says nothing about the name.
const WITH_VALUE: WordList = WordList("-name -path -wholename -iname -ipath -regex -type");

/// The possible values of `{}`: a path below one of the roots, with one of the wanted names.
fn found_by(roots: &[Word], words: &[Word]) -> Vec<Word> {
    let tails = tails(words);
    let below = |root: &Word, tail: &String| {
        let slash = (!root.tail().ends_with('/')).then_some(Atom::Quoted('/'));
        let gap = [Atom::Gap]
            .into_iter()
            .chain(tail.chars().map(Atom::Quoted));
        let root = root.atoms().iter().copied();
        Word::new(root.chain(slash).chain(gap).collect())
    };
    let of_root = |root| tails.iter().map(move |tail| below(root, tail));
    roots.iter().flat_map(of_root).collect()
}

/// The possible endings of wanted names. Every hit matches all endings of at least one alternative,
/// wherever the parentheses are.
fn tails(words: &[Word]) -> Vec<String> {
    let exact: Vec<Option<String>> = words.iter().map(Word::exact).collect();
    let mut tails = vec![None];
    let mut at = 1;
    while at < words.len() {
        match exact[at].as_deref() {
            Some("-o" | "-or" | ",") => tails.push(None),
            Some("!" | "-not") => {
                let denied = exact.get(at + 1).and_then(Option::as_deref);
                if !denied.is_some_and(|test| WITH_VALUE.contains(test)) {
                    return vec![String::new()];
                }
                at += 2;
            }
            Some(test) if NAMES.contains(&test) => {
                at += 1;
                let name = words.get(at).map(|name| unquote(name).tail());
                if let Some(tail @ None) = tails.last_mut() {
                    *tail = name;
                }
            }
            _ => {}
        }
        at += 1;
    }
    tails.into_iter().map(Option::unwrap_or_default).collect()
}

/// A pattern that find itself reads: its wildcards work although they are quoted.
fn unquote(word: &Word) -> Word {
    let atoms = word.atoms().iter().map(|atom| match atom {
        Atom::Quoted(c) => Atom::Plain(*c),
        other => *other,
    });
    Word::new(atoms.collect())
}

/// `words` with `found` in the place of `{}`.
fn place(words: &[Word], found: &Word) -> Vec<Word> {
    let filled = words.iter().map(|word| match word.pattern().as_deref() {
        Some("{}") => found.clone(),
        _ => fill(std::slice::from_ref(word), "{}", Atom::Gap).remove(0),
    });
    filled.collect()
}

/// `fd`: what its `-x` starts.
pub(super) fn fd(words: &[Word]) -> Through {
    let is_exec = |word: &Word| {
        let exact = word.exact();
        matches!(
            exact.as_deref(),
            Some("-x" | "--exec" | "-X" | "--exec-batch")
        )
    };
    let unclear = |word: &&Word| {
        let head = word.head();
        let short = head.starts_with('-') && !head.starts_with("--");
        !is_exec(word) && short && head.contains(['x', 'X']) || head.starts_with("--exec=")
    };
    if let Some(word) = words.iter().find(unclear) {
        return Through::doubt(format!("fd: {word}"));
    }
    let Some(at) = words.iter().position(is_exec) else {
        return Through::default();
    };
    let mut command = fill(&words[at + 1..], "{}", Atom::Gap);
    command.push(Word::unknown());
    Through::starts(vec![Inner::Command(command)])
}
