//! Parses editor text that starts with `/` or `!`: an action, a shell command, or a mistake. A
//! mistake is never sent, because the model would act on it.

use super::queue;
use crate::app::action::Action;
use crate::app::commands::{Run, Unknown, known, word_of};
use crate::app::tui::app::App;
use crate::app::tui::effects::effect::{Effect, Lookup};

/// The meaning of the editor text as a command.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// An action and the argument after its name.
    Action(Action, String),
    Shell(String),
    /// An unknown command, with the message for the user.
    Unknown(String),
    /// The same, but the user may have a file for it.
    Custom(Lookup),
}

impl Command {
    /// Whether it may stand for a message to the model.
    pub(super) fn sends_prompt(&self) -> bool {
        match self {
            Self::Action(Action::Command(command), _) => matches!(command.run, Run::Prompt(_)),
            Self::Custom(_) => true,
            _ => false,
        }
    }
}

/// The command in the editor, or `None` if the text is a message. `//` starts a message with a
/// slash; text that came back from the queue is always a message.
pub(super) fn parse(app: &App) -> Option<Command> {
    let text = app.composer.text();
    if app.composer.is_message() {
        return None;
    }
    let answers = app.text_answers();
    if !answers && let Some(command) = without_slash(text.trim()) {
        return Some(command);
    }
    if text.starts_with('!') && !answers {
        return Some(Command::Shell(text));
    }
    let command = text.trim().strip_prefix('/')?;
    let word = word_of(command)?;
    let help = app.key(Action::Help);
    Some(match Action::from_slash(command) {
        Some((action, argument)) => Command::Action(action, argument.to_owned()),
        None if answers => return None,
        None if known().any(|it| it == word) => Command::Unknown(match word {
            "undo" | "redo" | "revert" => {
                format!(
                    "/{word} takes no argument: each /{word} is one prompt; /rewind goes further back"
                )
            }
            _ => format!("/{word} takes no argument; nothing was sent"),
        }),
        None => {
            let meaning = Unknown::of(word);
            let answers_alone = word == command && !word.contains(':');
            Command::Custom(Lookup {
                clears: answers_alone && matches!(meaning, Unknown::Elsewhere(_)),
                typed: text.clone(),
                otherwise: match meaning {
                    Unknown::Elsewhere(instead) => format!("/{word}: {instead}"),
                    Unknown::Typo(near) => {
                        format!("No command /{word}: did you mean /{near}? {help} lists all")
                    }
                    Unknown::Anything => {
                        format!("No command /{word}; {help} lists all, //{word} sends it as text")
                    }
                },
            })
        }
    })
}

/// Looks for the file of the typed command, which leaves the editor: what the user types next isn't a part of
/// it.
pub(super) fn look_up(app: &mut App, lookup: Lookup) -> Vec<Effect> {
    app.hint = None;
    app.composer.take();
    app.mentions.looked_for = Some(lookup.typed.clone());
    vec![Effect::FindCustomCommand(lookup)]
}

/// Sends the prompt of a command from a file, or says why there is none.
pub(super) fn looked_up(
    app: &mut App,
    lookup: Lookup,
    prompt: Result<Option<String>, String>,
) -> Vec<Effect> {
    let waits = &mut app.mentions.looked_for;
    if waits.take_if(|typed| *typed == lookup.typed).is_none() {
        // The user has left the session.
        return Vec::new();
    }
    let (otherwise, returns) = match prompt {
        Ok(Some(prompt)) => return queue::send_for(app, &lookup.typed, prompt),
        Ok(None) => (lookup.otherwise, !lookup.clears),
        Err(why) => (why, true),
    };
    if returns && app.composer.is_empty() {
        app.composer.set(&lookup.typed);
        app.composer.select_all();
    }
    app.say_for(otherwise, 5000);
    // As an answer to the key, the next key removes it.
    app.hint.iter_mut().for_each(|hint| hint.answers = true);
    Vec::new()
}

/// The command that a word alone means, as in shells and in other agents. As a prompt it would cost a
/// model call. As an answer to a question it's text.
fn without_slash(word: &str) -> Option<Command> {
    let action = match word {
        "?" | "help" => Action::Help,
        "exit" | "quit" | "bye" | ":q" | ":q!" | ":wq" => Action::Quit,
        "logout" => match Unknown::of(word) {
            Unknown::Elsewhere(instead) => {
                return Some(Command::Unknown(format!("{word}: {instead}")));
            }
            _ => return None,
        },
        _ => return None,
    };
    Some(Command::Action(action, String::new()))
}
