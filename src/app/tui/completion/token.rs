//! Finds the token before the caret that can be completed.

use crate::app::action::{Action, actions};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// `/word`: the word.
    Command(&'a str),
    /// `/word text`: the action of the word, and the text.
    Argument(Action, &'a str),
    /// `@path`: all of it.
    Mention(&'a str),
}

/// The token right before the caret that can be completed.
pub(crate) fn token(before: &str) -> Option<Token<'_>> {
    if let Some(start) = mention_start(before) {
        return Some(Token::Mention(&before[start..]));
    }
    let command = before.strip_prefix('/')?;
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    if command.chars().all(is_name) {
        return Some(Token::Command(command));
    }
    let (word, rest) = command.split_once(' ')?;
    let spec = actions().find(|spec| spec.slash == Some(word))?;
    let rest = rest.trim_start();
    (spec.argument.is_some() && !rest.contains('\n')).then_some(Token::Argument(spec.action, rest))
}

/// The start of the mention at the caret. An `@` within a word, as in an email, starts none.
fn mention_start(before: &str) -> Option<usize> {
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    let begins = |at: usize| {
        let c = before[..at].chars().next_back();
        c.is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '[' | '{' | '<' | '"' | '\'' | '`'))
    };
    let mut found = before[line..].rmatch_indices('@').map(|(at, _)| line + at);
    let start = found.find(|at| begins(*at))?;
    let path = &before[start + 1..];
    let inside = match path.strip_prefix('"') {
        Some(quoted) => !quoted.contains('"'),
        None => !path.contains(char::is_whitespace),
    };
    inside.then_some(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_before_the_caret_are_found() {
        use Token::{Argument, Command, Mention};
        for (before, expected) in [
            ("", None),
            ("/", Some(Command(""))),
            ("/mod", Some(Command("mod"))),
            ("/model ", Some(Argument(Action::Models, ""))),
            ("/model  son net", Some(Argument(Action::Models, "son net"))),
            ("/keys now", None),
            ("/etc/hosts", None),
            ("fix /mod", None),
            ("//mod", None),
            ("@", Some(Mention("@"))),
            ("see @src/a.rs:3-9", Some(Mention("@src/a.rs:3-9"))),
            ("see (@src", Some(Mention("@src"))),
            ("me@home", None),
            ("see @src and", None),
            ("see @\"a b", Some(Mention("@\"a b"))),
            ("see @\"a b\" ", None),
            ("/try fix @src", Some(Mention("@src"))),
            ("@one\ntwo", None),
        ] {
            assert_eq!(token(before), expected, "{before:?}");
        }
    }
}
