//! Reads a command line, within limits. The parser recurses into nested parts, so it runs on a separate
//! stack large enough for everything the limits allow.

use std::thread;

use brush_parser::{ParserOptions, Token, parse_tokens, uncached_tokenize_str};

use super::inner::Inner;
use super::line::{Input, Line, SimpleCommand};
use super::programs;
use super::walk::Walker;
use super::wrappers::look_through;

const MAX_BYTES: usize = 64 * 1024;
/// The most openings of nestable constructs.
const MAX_OPENINGS: usize = 2000;
const MAX_NESTED: usize = 500;
const MAX_DEPTH: usize = 24;
/// Bytes of stack; only the used part takes memory.
const STACK: usize = 64 * 1024 * 1024;
/// Lines up to this many bytes and openings fit on any thread's stack.
const SHORT: (usize, usize) = (1024, 8);

/// Reads a command line. Anything not understood becomes a doubt.
pub fn read(command: &str) -> Line {
    let doubt = |what: &str| Line {
        doubts: vec![what.to_owned()],
        ..Line::default()
    };
    if command.contains('\0') {
        return doubt("a NUL byte");
    }
    if command.len() > MAX_BYTES {
        return doubt("the command line is longer than 64 KiB");
    }
    let openings = openings(command);
    if openings > MAX_OPENINGS {
        return doubt("too much nesting");
    }
    let line = if command.len() <= SHORT.0 && openings <= SHORT.1 {
        std::panic::catch_unwind(|| read_here(command)).ok()
    } else {
        thread::scope(|scope| {
            let thread = thread::Builder::new().stack_size(STACK);
            let reading = thread.spawn_scoped(scope, || read_here(command));
            reading.ok()?.join().ok()
        })
    };
    line.unwrap_or_else(|| doubt("a command line that tiller can't parse"))
}

/// The number of possible openings of a level, even if some are only text here.
fn openings(command: &str) -> usize {
    let marks = command
        .bytes()
        .filter(|byte| b"({[`!".contains(byte))
        .count();
    let words = command.split(|c: char| !c.is_ascii_alphanumeric());
    let opens = |word: &&str| {
        matches!(
            *word,
            "if" | "elif" | "while" | "until" | "for" | "case" | "coproc" | "function" | "select"
        )
    };
    marks + words.filter(opens).count()
}

enum Waiting {
    Script(String, usize),
    Command(SimpleCommand, usize),
}

fn read_here(command: &str) -> Line {
    let mut line = Line::default();
    let mut waiting = vec![Waiting::Script(command.to_owned(), 0)];
    let mut nested = 0;
    while let Some(next) = waiting.pop() {
        nested += 1;
        if nested > MAX_NESTED {
            line.doubts.push("too many nested commands".to_owned());
            break;
        }
        match next {
            Waiting::Script(_, depth) | Waiting::Command(_, depth) if depth > MAX_DEPTH => {
                line.doubts.push("commands nested too deeply".to_owned());
            }
            Waiting::Script(script, depth) => read_script(&script, depth, &mut line, &mut waiting),
            Waiting::Command(command, depth) => {
                add_command(command, depth, &mut line, &mut waiting);
            }
        }
    }
    line
}

fn read_script(script: &str, depth: usize, line: &mut Line, waiting: &mut Vec<Waiting>) {
    let program = match parse(script) {
        Ok(program) => program,
        Err(why) => {
            line.doubts.push(why);
            return;
        }
    };
    line.calculates |= calculates(script);
    if splits_ansi_c(script) {
        line.doubts.push("a line break inside $'...'".to_owned());
    }
    if quotes_in_document(script) {
        let doubt = "quotes in a here-document beside a substitution";
        line.doubts.push(doubt.to_owned());
    }
    let mut walker = Walker::new(script, &is_script);
    walker.program(&program);
    let found = walker.found;
    line.writes.extend(found.writes);
    line.overwrites.extend(found.overwrites);
    line.sets.extend(found.sets);
    line.doubts.extend(found.doubts);
    let scripts = found.scripts.into_iter();
    waiting.extend(scripts.map(|script| Waiting::Script(script, depth + 1)));
    for command in found.commands {
        let sets = command.sets.iter();
        let started = sets.filter_map(|(name, value)| programs::variable(name, value));
        add_inner(started, &Input::Plain, depth, line, waiting);
        line.sets
            .extend(command.sets.into_iter().map(|(name, _)| name));
        if !command.words.is_empty() {
            let command = SimpleCommand::new(command.words, command.input);
            waiting.push(Waiting::Command(command, depth));
        }
    }
}

/// Whether `$'...'` may contain a backslash and a line break. bash keeps both there; the parser removes
/// them as everywhere else.
fn splits_ansi_c(script: &str) -> bool {
    script.split("$'").skip(1).any(|text| {
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match c {
                '\'' => return false,
                '\\' if chars.next() == Some('\n') => return true,
                _ => {}
            }
        }
        false
    })
}

/// Whether a here-document may contain quotes that the parser pairs with others, because a
/// substitution or arithmetic follows on its line. bash reads its lines as text.
fn quotes_in_document(script: &str) -> bool {
    // `<<<` is a word, not a document.
    let script = script.replace("<<<", "");
    script.split("<<").skip(1).any(|behind| {
        behind.split_once('\n').is_some_and(|(line, document)| {
            line.contains(['(', '`']) && document.contains(['\'', '"', '`'])
        })
    })
}

/// Whether `script` may contain arithmetic, a `[[` test or an indirect variable, even as mere text.
fn calculates(script: &str) -> bool {
    let script = script.replace("\\\n", "");
    let parameter = |text: &str| {
        let name = text.trim_start_matches('#');
        let rest = name.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
        match rest.strip_prefix(':') {
            Some(rest) => !rest.starts_with(['-', '=', '?', '+']),
            None => rest.starts_with(['[', '!']),
        }
    };
    let marks = ["((", "[[", "$["];
    marks.iter().any(|mark| script.contains(mark)) || script.split("${").skip(1).any(parameter)
}

fn add_command(
    mut command: SimpleCommand,
    depth: usize,
    line: &mut Line,
    waiting: &mut Vec<Waiting>,
) {
    if command.name().is_none() {
        line.doubts.push(format!(
            "a command with an unknown name: {}",
            command.text()
        ));
    }
    let through = look_through(&command);
    command.wraps = through.wraps;
    command.raises = through.raises;
    line.sets.extend(through.sets);
    line.writes.extend(through.writes);
    add_inner(through.inner, &command.input, depth, line, waiting);
    line.commands.push(command);
}

fn add_inner(
    inner: impl IntoIterator<Item = Inner>,
    input: &Input,
    depth: usize,
    line: &mut Line,
    waiting: &mut Vec<Waiting>,
) {
    for inner in inner {
        match inner {
            Inner::MaybeScript(text) if !is_script(&text) => {}
            Inner::Script(script) | Inner::MaybeScript(script) => {
                waiting.push(Waiting::Script(script, depth + 1));
            }
            Inner::Command(words) => {
                let command = SimpleCommand::new(words, input.clone());
                waiting.push(Waiting::Command(command, depth + 1));
            }
            Inner::Doubt(doubt) => line.doubts.push(doubt),
        }
    }
}

fn parse(script: &str) -> Result<brush_parser::ast::Program, String> {
    let options = ParserOptions::default();
    let fault = "an incomplete bash command line";
    let tokens = uncached_tokenize_str(script, &options.tokenizer_options());
    let tokens = tokens.map_err(|_| fault.to_owned())?;
    parse_tokens(&tokens, &options).map_err(|_| fault.to_owned())
}

/// Whether `text` is a complete script: nothing is open at its end, not even a comment.
fn is_script(text: &str) -> bool {
    let options = ParserOptions::default();
    let closed = uncached_tokenize_str(&format!("{text} ;"), &options.tokenizer_options());
    let closed = closed.is_ok_and(
        |tokens| matches!(tokens.last(), Some(Token::Operator(operator, _)) if operator == ";"),
    );
    closed && parse(text).is_ok()
}
