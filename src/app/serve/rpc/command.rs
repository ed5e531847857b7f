//! The commands of a client, as it writes them.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::agent::QueueMode;
use crate::app::serve::lines::ReadLine;
use crate::llm::ThinkingLevel;
use crate::llm::message::Image;
use crate::llm::nearest::nearest;

/// One line of the client.
#[derive(Debug)]
pub(super) enum Line {
    /// A command with its id, which the response repeats.
    Command(Option<Value>, Box<Command>),
    /// The answer to a dialog.
    Dialog(DialogResponse),
}

/// A line that can't be carried out.
#[derive(Debug, PartialEq)]
pub(super) struct BadLine {
    pub id: Option<Value>,
    /// The command's name; `parse` if it isn't JSON.
    pub command: String,
    pub error: String,
}

/// A command.
#[derive(Debug, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub(super) enum Command {
    Prompt {
        message: String,
        #[serde(default)]
        images: Vec<Image>,
        streaming_behavior: Option<StreamingBehavior>,
    },
    Steer {
        message: String,
        #[serde(default)]
        images: Vec<Image>,
    },
    FollowUp {
        message: String,
        #[serde(default)]
        images: Vec<Image>,
    },
    Abort,
    ClearQueue,
    NewSession,
    GetState,
    GetMessages,
    SetModel {
        provider: String,
        model_id: String,
    },
    CycleModel,
    GetAvailableModels,
    SetThinkingLevel {
        level: ThinkingLevel,
    },
    CycleThinkingLevel,
    GetAvailableThinkingLevels,
    SetSteeringMode {
        mode: Mode,
    },
    SetFollowUpMode {
        mode: Mode,
    },
    Compact {
        custom_instructions: Option<String>,
    },
    SetAutoCompaction {
        enabled: bool,
    },
    SetAutoRetry {
        enabled: bool,
    },
    AbortRetry,
    Bash {
        command: String,
        #[serde(default)]
        exclude_from_context: bool,
    },
    AbortBash,
    GetSessionStats,
    ExportHtml {
        output_path: Option<String>,
    },
    SwitchSession {
        session_path: String,
    },
    Fork {
        entry_id: String,
    },
    Clone,
    GetForkMessages,
    GetEntries {
        since: Option<String>,
    },
    GetTree,
    GetLastAssistantText,
    SetSessionName {
        name: String,
    },
    GetCommands,
    /// tiller's own: changes the permission mode from the next call on.
    #[serde(rename = "tiller_set_permission")]
    SetPermission {
        mode: String,
    },
    /// tiller's own: refuses the call of a question, with what to do instead.
    #[serde(rename = "tiller_refuse")]
    Refuse {
        question_id: u64,
        reason: Option<String>,
    },
}

/// The queue of a prompt during a run.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum StreamingBehavior {
    Steer,
    FollowUp,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Mode {
    All,
    OneAtATime,
}

impl From<Mode> for QueueMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::All => Self::All,
            Mode::OneAtATime => Self::One,
        }
    }
}

/// The answer to a dialog. One of the last three is set.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct DialogResponse {
    pub id: String,
    pub value: Option<String>,
    pub confirmed: Option<bool>,
    pub cancelled: bool,
}

/// Longest line that is parsed whole, in bytes.
const SHORT: usize = 1024 * 1024;
/// What to send, for errors.
const EXAMPLE: &str = "Send one JSON object per line, such as {\"type\":\"get_state\"}";
/// Where the commands are described.
const MANUAL: &str = "`tiller docs rpc`";

/// The error for a command that isn't one; serde's `error` lists them all.
fn unknown(name: &str, error: &str) -> String {
    let known = error.split('`').skip(3).step_by(2);
    match nearest(name, known) {
        Some(near) => format!("Unknown command: {name}; did you mean {near}?"),
        None => format!("Unknown command: {name}; {MANUAL} lists all"),
    }
}

/// The line as JSON. Of a long one only what a command can have: as values, a list takes a multiple of its
/// length.
fn fields(line: &[u8]) -> serde_json::Result<Value> {
    if line.len() <= SHORT {
        return serde_json::from_slice(line);
    }
    let fields: HashMap<String, &RawValue> = serde_json::from_slice(line)?;
    let mut known = serde_json::Map::new();
    for (name, raw) in fields {
        let value = match raw.get().as_bytes() {
            [b'[', ..] if name == "images" => {
                let images: Vec<Image> = serde_json::from_str(raw.get())?;
                serde_json::to_value(images)?
            }
            [b'[' | b'{', ..] => continue,
            _ => serde_json::from_str(raw.get())?,
        };
        known.insert(name, value);
    }
    Ok(Value::Object(known))
}

impl Line {
    /// Parses what was read.
    pub fn of(line: ReadLine) -> Result<Self, BadLine> {
        let unread = |error: String| BadLine {
            id: None,
            command: "parse".to_owned(),
            error: format!("Failed to parse command: {error}"),
        };
        Self::parse(&line.map_err(unread)?)
    }

    fn parse(line: &[u8]) -> Result<Self, BadLine> {
        let value = fields(line).map_err(|error| BadLine {
            id: None,
            command: "parse".to_owned(),
            error: format!("Failed to parse command: {error}. {EXAMPLE}"),
        })?;
        let id = value.get("id").cloned();
        let Some(name) = value.get("type").and_then(Value::as_str) else {
            return Err(BadLine {
                id,
                command: "parse".to_owned(),
                error: format!(
                    "Failed to parse command: expected an object with a \"type\". {EXAMPLE}"
                ),
            });
        };
        let name = name.to_owned();
        if name == "extension_ui_response" {
            // As pi does, an answer that makes no sense cancels nothing and says nothing.
            return Ok(Self::Dialog(
                serde_json::from_value(value).unwrap_or_default(),
            ));
        }
        match serde_json::from_value(value) {
            Ok(command) => Ok(Self::Command(id, Box::new(command))),
            Err(error) => {
                let error = error.to_string();
                let error = if error.starts_with("unknown variant") && error.contains(&name) {
                    unknown(&name, &error)
                } else {
                    format!("{name}: {error}; {MANUAL} describes its fields")
                };
                let command = name;
                Err(BadLine { id, command, error })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_bad_line_is_answered_by_name() {
        for (line, id, command, error) in [
            ("{", None, "parse", "such as {\"type\":\"get_state\"}"),
            ("[1]", None, "parse", "expected an object"),
            (r#"{"id":"a"}"#, Some(json!("a")), "parse", "\"type\""),
            (
                r#"{"type":"jump","id":7}"#,
                Some(json!(7)),
                "jump",
                "Unknown command: jump; `tiller docs rpc` lists all",
            ),
            (
                r#"{"type":"set_modle"}"#,
                None,
                "set_modle",
                "did you mean set_model?",
            ),
            (
                r#"{"type":"steer"}"#,
                None,
                "steer",
                "missing field `message`",
            ),
            (
                r#"{"type":"set_thinking_level","level":"most"}"#,
                None,
                "set_thinking_level",
                "unknown variant `most`",
            ),
        ] {
            let bad = Line::parse(line.as_bytes()).unwrap_err();
            assert_eq!((bad.id, bad.command.as_str()), (id, command), "{line}");
            assert!(bad.error.contains(error), "{line}: {}", bad.error);
        }
    }

    #[test]
    fn a_long_line_keeps_what_a_command_can_have() {
        let zeros = "0,".repeat(SHORT);
        let line = format!(
            r#"{{"type":"prompt","id":1,"message":"hi","x":[{zeros}0],
            "images":[{{"type":"image","data":"AA==","mimeType":"image/png"}}]}}"#
        );
        let value = fields(line.as_bytes()).unwrap();
        assert!(value.get("x").is_none());
        let Ok(Line::Command(Some(id), command)) = Line::parse(line.as_bytes()) else {
            panic!()
        };
        let Command::Prompt {
            message, images, ..
        } = *command
        else {
            panic!()
        };
        assert_eq!((id, &*message, images.len()), (json!(1), "hi", 1));
    }

    #[test]
    fn fields_are_named_as_in_pi() {
        let line = r#"{"type":"prompt","message":"hi","streamingBehavior":"followUp","id":"1"}"#;
        let Ok(Line::Command(Some(id), command)) = Line::parse(line.as_bytes()) else {
            panic!()
        };
        assert_eq!(id, "1");
        let Command::Prompt {
            streaming_behavior, ..
        } = *command
        else {
            panic!()
        };
        assert!(matches!(
            streaming_behavior,
            Some(StreamingBehavior::FollowUp)
        ));
    }
}
