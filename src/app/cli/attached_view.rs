//! The records of an attached session as plain text.

use serde_json::Value;

use crate::agent::is_from_user;
use crate::app::humanize::cut;

/// Longest line about a call, in characters.
const CALL: usize = 100;

/// What is on the screen so far.
#[derive(Debug, Default)]
pub(super) struct AttachedView {
    /// Whether the output ends within a line.
    is_open: bool,
}

impl AttachedView {
    /// What to print for `record`.
    pub fn show(&mut self, record: &Value) -> String {
        let text = |key: &str| record[key].as_str().unwrap_or_default();
        match text("type") {
            "message_update" => {
                let event = &record["assistantMessageEvent"];
                match (event["type"].as_str(), event["delta"].as_str()) {
                    (Some("text_delta"), Some(delta)) => {
                        self.is_open = !delta.ends_with('\n');
                        delta.to_owned()
                    }
                    (Some("text_end"), _) => self.paragraph(""),
                    _ => String::new(),
                }
            }
            "message_start" if is_users(&record["message"]) => {
                let content = &record["message"]["content"];
                // Files that it mentions follow it.
                let typed = content.get(0).map_or_else(|| words(content), words);
                self.paragraph(&format!("> {typed}"))
            }
            "tool_execution_start" => {
                let call = format!("• {} {}", text("toolName"), object(&record["args"]));
                self.paragraph(&cut(&call, CALL))
            }
            "tool_execution_end" if record["isError"] == true => {
                let why = words(&record["result"]["content"]);
                let first = why.lines().next().unwrap_or_default();
                self.paragraph(&format!(
                    "  {} failed: {}",
                    text("toolName"),
                    cut(first, CALL)
                ))
            }
            "agent_settled" => self.paragraph("(waits for a prompt)"),
            "notice" => self.paragraph(text("text")),
            "response" if record["success"] == false => self.paragraph(text("error")),
            "response" => {
                let said = record["data"]["text"].as_str();
                said.map_or_else(String::new, |said| self.paragraph(said))
            }
            _ => String::new(),
        }
    }

    /// A separate paragraph.
    pub fn paragraph(&mut self, text: &str) -> String {
        let before = if std::mem::take(&mut self.is_open) {
            "\n"
        } else {
            ""
        };
        format!("{before}{}\n", text.trim_end())
    }
}

/// What a call works on: its first text.
fn object(args: &Value) -> &str {
    ["command", "file_path", "path", "pattern", "question"]
        .iter()
        .find_map(|key| args[key].as_str())
        .unwrap_or_default()
}

/// Whether a user wrote it, here or in another program.
fn is_users(message: &Value) -> bool {
    message["role"] == "user" && is_from_user(message["origin"].as_str())
}

/// The text of a message's content, or of a block.
fn words(content: &Value) -> String {
    if let Some(text) = content.as_str().or(content["text"].as_str()) {
        return text.to_owned();
    }
    let blocks = content.as_array().into_iter().flatten();
    let texts: Vec<&str> = blocks.filter_map(|block| block["text"].as_str()).collect();
    texts.join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn records_read_as_text() {
        let mut view = AttachedView::default();
        let mut shown = String::new();
        for record in [
            json!({"type": "message_start", "message": {"role": "user", "content": [
                {"type": "text", "text": "Fix it"}, {"type": "text", "text": "<file>"}]}}),
            json!({"type": "message_start", "message": {"role": "user", "origin": "context", "content": "No."}}),
            json!({"type": "message_update", "assistantMessageEvent": {"type": "text_delta", "delta": "I look."}}),
            json!({"type": "tool_execution_start", "toolName": "bash", "args": {"command": "make"}}),
            json!({"type": "tool_execution_end", "toolName": "bash", "isError": true,
                   "result": {"content": [{"type": "text", "text": "exit code 2\nmore"}]}}),
            json!({"type": "agent_settled"}),
        ] {
            shown += &view.show(&record);
        }
        let expected = "> Fix it\nI look.\n• bash make\n  bash failed: exit code 2\n\
            (waits for a prompt)\n";
        assert_eq!(shown, expected);
    }
}
