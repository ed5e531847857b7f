//! `/init`: the prompt that makes the model write or improve `AGENTS.md`.

use super::attachments::typed_text;
use crate::llm::Content;

const PROMPT: &str = include_str!("../../assets/init.md");
const COMMAND: &str = "/init";
/// Precedes the user's own words.
const ADDED: &str = "\n\nThe user adds: ";

/// The prompt, with the user's additions.
pub fn init_prompt(wishes: &str) -> String {
    let prompt = PROMPT.trim_end();
    match wishes.trim() {
        "" => prompt.to_owned(),
        wishes => format!("{prompt}{ADDED}{wishes}"),
    }
}

/// The message as typed: turns the prompt back into the command.
pub(crate) fn message_as_typed(content: &[Content]) -> String {
    let text = typed_text(content);
    let Some(behind) = text.strip_prefix(PROMPT.trim_end()) else {
        return text;
    };
    match behind.strip_prefix(ADDED) {
        Some(wishes) if !wishes.is_empty() => format!("{COMMAND} {wishes}"),
        _ => COMMAND.to_owned(),
    }
}

/// The prompt for `typed`, if it is the command.
pub fn expand(typed: &str) -> Option<String> {
    let wishes = typed.trim().strip_prefix(COMMAND)?;
    let whole_word = wishes.is_empty() || wishes.starts_with(char::is_whitespace);
    whole_word.then(|| init_prompt(wishes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_stands_for_its_prompt() {
        for (typed, end) in [
            ("/init", Some("could not find out.")),
            (" /init  in German \n", Some("\n\nThe user adds: in German")),
            ("/initial", None),
            ("say /init", None),
        ] {
            let prompt = expand(typed);
            assert_eq!(prompt.is_some(), end.is_some(), "{typed}");
            if let (Some(prompt), Some(end)) = (prompt, end) {
                assert!(
                    prompt.starts_with("Write `AGENTS.md`") && prompt.ends_with(end),
                    "{prompt}"
                );
            }
        }
    }
}
