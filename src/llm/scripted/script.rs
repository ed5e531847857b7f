//! The script as it is written in TOML. Nothing is played here.

use serde::Deserialize;
use serde_json::{Map, Value};

/// A whole script. The format is on the page of [`scripted`](super).
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Script {
    /// The message that starts the show.
    pub prompt: String,
    /// Milliseconds before each piece of text.
    pub text_ms: u64,
    /// Milliseconds before each piece of thinking.
    pub thinking_ms: u64,
    /// Milliseconds before each piece of a call's arguments.
    pub arguments_ms: u64,
    /// The project the script is played in.
    #[serde(rename = "file")]
    pub files: Vec<File>,
    /// What is said, one for each model call.
    #[serde(rename = "reply")]
    pub replies: Vec<Reply>,
    /// What is said to messages the script did not expect.
    #[serde(rename = "on_message")]
    pub answers: Vec<Answer>,
}

/// One file of the project a script is played in.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Relative to the project's folder.
    pub path: String,
    /// Its content.
    pub text: String,
}

/// One response.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// In order.
    pub steps: Vec<Step>,
}

/// One response to a message of the user.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// Words of which the message must contain one, in any case; empty: any message will do.
    #[serde(default)]
    pub when: Vec<String>,
    /// In order. `{message}` in a text stands for the first line of what was said.
    pub steps: Vec<Step>,
}

/// One step of a response.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Step {
    /// A block of reasoning.
    Thinking(ThinkingStep),
    /// A block of text.
    Text(TextStep),
    /// A tool call.
    Call(CallStep),
    /// Silence.
    Pause(PauseStep),
}

/// `{ thinking = "..." }`
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThinkingStep {
    /// What is thought.
    pub thinking: String,
}

/// `{ text = "..." }`
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextStep {
    /// What is said.
    pub text: String,
}

/// `{ call = "grep", args = { pattern = "x" } }`
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallStep {
    /// The tool.
    pub call: String,
    /// Its arguments.
    #[serde(default)]
    pub args: Map<String, Value>,
}

/// `{ pause_ms = 300 }`
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PauseStep {
    /// How long.
    pub pause_ms: u64,
}

impl Script {
    /// Reads a script; the error says where it is wrong.
    pub fn parse(toml: &str) -> Result<Self, String> {
        toml::from_str(toml).map_err(|error| error.to_string())
    }

    /// The answer to `message`: the first that fits.
    pub fn answer_to(&self, message: &str) -> Option<&Answer> {
        let message = message.to_lowercase();
        self.answers.iter().find(|answer| {
            answer.when.is_empty()
                || answer
                    .when
                    .iter()
                    .any(|word| message.contains(&word.to_lowercase()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_step_is_read() {
        let script = Script::parse(
            r#"
            [[reply]]
            steps = [
                { thinking = "hm" }, { text = "hi" }, { pause_ms = 5 },
                { call = "grep", args = { pattern = "x", limit = 2 } }, { call = "ls" },
            ]
            "#,
        )
        .unwrap();
        let kinds: Vec<&str> = script.replies[0]
            .steps
            .iter()
            .map(|step| match step {
                Step::Thinking(_) => "thinking",
                Step::Text(_) => "text",
                Step::Call(_) => "call",
                Step::Pause(_) => "pause",
            })
            .collect();
        assert_eq!(kinds, ["thinking", "text", "pause", "call", "call"]);
    }

    #[test]
    fn a_misspelt_key_is_refused() {
        for wrong in [
            "replies = []",
            "[[reply]]\nsteps = [{ txt = 'a' }]",
            "[[reply]]\nsteps = [{ text = 'a', args = {} }]",
        ] {
            assert!(Script::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_first_fitting_answer_is_taken() {
        let script = Script::parse(
            r#"
            [[on_message]]
            when = ["key", "Model"]
            steps = [{ text = "keys" }]
            [[on_message]]
            steps = [{ text = "anything" }]
            "#,
        )
        .unwrap();
        for (message, expected) in [
            ("which MODEL?", "keys"),
            ("hello", "anything"),
            ("a key!", "keys"),
        ] {
            let answer = script.answer_to(message).unwrap();
            let Step::Text(step) = &answer.steps[0] else {
                panic!("not a text");
            };
            assert_eq!(step.text, expected, "{message}");
        }
    }
}
