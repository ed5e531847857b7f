//! What to do instead of a slash command that tiller doesn't have.

use crate::app::action::{ALIASES, ELSEWHERE, actions};
use crate::llm::nearest::typo_of;

/// What a command that tiller doesn't have may mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// One of other agents, with what to do instead.
    Elsewhere(&'static str),
    /// A typo of this command.
    Typo(&'static str),
    Anything,
}

/// Other agents' commands from files, such as `/prompts:fix`, have these.
const FILES: &str = "no such file; `tiller docs skills` says where your own commands are";

impl Unknown {
    /// The meaning of `/word`.
    pub(crate) fn of(word: &str) -> Self {
        if let Some(instead) = elsewhere(word) {
            return Self::Elsewhere(instead);
        }
        if word.contains(':') {
            return Self::Elsewhere(FILES);
        }
        if let Some(near) = typo_of(word, known()) {
            return Self::Typo(near);
        }
        let rows = ELSEWHERE.lines().filter_map(|line| line.split_once(": "));
        let names = rows.flat_map(|(names, _)| names.split(' '));
        let near = typo_of(word, names).filter(|_| word.len() > 3);
        near.and_then(elsewhere)
            .map_or(Self::Anything, Self::Elsewhere)
    }
}

/// What to do instead of this command of other agents.
fn elsewhere(word: &str) -> Option<&'static str> {
    let mut rows = ELSEWHERE.lines().filter_map(|line| line.split_once(": "));
    let row = rows.find(|(names, _)| names.split(' ').any(|name| name == word));
    row.map(|(_, instead)| instead)
}

/// All commands and aliases.
pub(crate) fn known() -> impl Iterator<Item = &'static str> {
    let aliases = ALIASES.iter().map(|(alias, _)| *alias);
    actions().filter_map(|spec| spec.slash).chain(aliases)
}

/// The name of the command in a text after its `/`. `/etc/hosts is wrong` isn't a command, nor is `// a
/// comment`.
pub(crate) fn word_of(command: &str) -> Option<&str> {
    let word = command.split(char::is_whitespace).next()?;
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    let mut parts = word.split(':');
    let is_command = parts.all(|part| !part.is_empty() && part.chars().all(is_name));
    is_command.then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_command_has_an_answer() {
        for (text, expected) in [
            ("cots", Some(Unknown::Typo("cost"))),
            ("modle gpt", Some(Unknown::Typo("model"))),
            ("prompts:u x", Some(Unknown::Elsewhere(FILES))),
            ("user:fix", Some(Unknown::Elsewhere(FILES))),
            ("frontend:fix 12", Some(Unknown::Elsewhere(FILES))),
            ("vimm", elsewhere("vim").map(Unknown::Elsewhere)),
            ("fix", Some(Unknown::Anything)),
            ("etc/hosts is wrong", None),
            ("note: this", None),
            (" a comment", None),
            ("", None),
        ] {
            assert_eq!(word_of(text).map(Unknown::of), expected, "{text}");
        }
        for word in
            "save ask image upload file web cd history ps ide add-dir statusline pr-comments \
                     security-review retry edit delete log version shell upgrade keybindings \
                     release-notes editor reload goal vim doctor bug terminal-setup output-style agents \
                     plugin memory logout"
                .split_whitespace()
        {
            assert!(matches!(Unknown::of(word), Unknown::Elsewhere(_)), "{word}");
            assert!(known().all(|name| name != word), "{word}");
        }
        for word in
            "exit cost usage rewind permissions revert restore cancel tokens tools".split(' ')
        {
            assert!(known().any(|name| name == word), "{word}");
        }
    }
}
