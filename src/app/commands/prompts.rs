//! Commands that only send a prompt to the model.

use super::custom::as_typed;
use super::{Run, SlashCommand, find};
use crate::app::attachments::typed_text;
use crate::llm::Content;

// `PROMPTS`, from the files of `assets/prompts`.
include!(concat!(env!("OUT_DIR"), "/prompts.rs"));

/// Precedes what the user adds to a prompt.
pub(super) const ADDED: &str = "\n\nThe user adds: ";

/// The prompt for `typed`, if that is a command that sends one.
pub fn expand(typed: &str) -> Option<String> {
    let (command, argument) = find(typed)?;
    command.prompt(argument)
}

/// The message as typed: turns a prompt back into its command.
pub fn message_as_typed(content: &[Content]) -> String {
    let text = typed_text(content);
    let typed = PROMPTS.iter().find_map(|command| {
        let Run::Prompt(prompt) = command.run else {
            return None;
        };
        let behind = text.strip_prefix(prompt.trim_end())?;
        let added = behind.strip_prefix(ADDED).unwrap_or_default();
        Some(format!("/{} {added}", command.name()))
    });
    let typed = typed.map(|typed| typed.trim_end().to_owned());
    typed.or_else(|| as_typed(content)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_stands_for_its_prompt() {
        for (typed, end) in [
            ("/init", Some("could not find out.")),
            (" /init  in German \n", Some("\n\nThe user adds: in German")),
            ("/initial", None),
            ("say /init", None),
            ("/compact", None),
        ] {
            let prompt = expand(typed);
            assert_eq!(prompt.is_some(), end.is_some(), "{typed}");
            if let (Some(prompt), Some(end)) = (prompt, end) {
                assert!(prompt.starts_with("Write `AGENTS.md`"), "{prompt}");
                assert!(prompt.ends_with(end), "{prompt}");
            }
        }
    }

    #[test]
    fn each_prompt_is_shown_as_its_command() {
        for command in PROMPTS {
            for typed in ["", " and be brief"] {
                let typed = format!("/{}{typed}", command.name());
                let prompt = expand(&typed).expect("a prompt");
                assert_eq!(message_as_typed(&[Content::text(prompt)]), typed);
            }
        }
    }
}
