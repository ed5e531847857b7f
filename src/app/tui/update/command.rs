//! Parses editor text that starts with `/` or `!`: an action, a shell command, or a mistake. A
//! mistake is never sent, because the model would act on it.

use crate::app::action::{ALIASES, Action, ELSEWHERE, actions};
use crate::app::tui::app::App;
use crate::llm::nearest::typo_of;

/// The meaning of the editor text as a command.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// An action and the argument after its name.
    Action(Action, String),
    Shell(String),
    /// An unknown command, with the message for the user.
    Unknown(String),
}

/// The command in the editor, or `None` if the text is a message. `//` starts a message with a
/// slash; text that came back from the queue is always a message.
pub(super) fn parse(app: &App) -> Option<Command> {
    let text = app.composer.text();
    if app.composer.is_message() {
        return None;
    }
    let answers = app.text_answers();
    // As a prompt, `?` would cost a model call. As an answer to a question it's text.
    if text.trim() == "?" && !answers {
        return Some(Command::Action(Action::Help, String::new()));
    }
    // As in shells and in other agents.
    if matches!(text.trim(), "exit" | "quit" | ":q") && !answers {
        return Some(Command::Action(Action::Quit, String::new()));
    }
    if text.starts_with('!') && !answers {
        return Some(Command::Shell(text));
    }
    let command = text.trim().strip_prefix('/')?;
    let word = command.split_whitespace().next().unwrap_or_default();
    // `/etc/hosts is wrong` isn't a command, nor is `// a comment`.
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    if word.is_empty() || !word.chars().all(is_name) || command.starts_with(char::is_whitespace) {
        return None;
    }
    let aliases = ALIASES.iter().map(|(alias, _)| *alias);
    let known: Vec<&str> = actions()
        .filter_map(|spec| spec.slash)
        .chain(aliases)
        .collect();
    let mut elsewhere = ELSEWHERE.lines().filter_map(|line| line.split_once(": "));
    let elsewhere = elsewhere.find(|(names, _)| names.split(' ').any(|name| name == word));
    let help = app.key(Action::Help);
    Some(match Action::from_slash(command) {
        Some((action, argument)) => Command::Action(action, argument.to_owned()),
        None if answers => return None,
        None if known.contains(&word) => Command::Unknown(match &command[word.len()..] {
            id if word == "resume" => {
                format!("/resume takes no argument: choose in its list, or run `tiller -r{id}`")
            }
            _ => format!("/{word} takes no argument; nothing was sent"),
        }),
        None => Command::Unknown(match (elsewhere, typo_of(word, known.iter().copied())) {
            (Some((_, instead)), _) => format!("/{word}: {instead}"),
            (_, Some(near)) => {
                format!("No command /{word}: did you mean /{near}? {help} lists all")
            }
            _ => format!(
                "No command /{word}; {help} lists all, //{word} sends it as text, \
                 @.claude/commands/{word}.md a command file"
            ),
        }),
    })
}
