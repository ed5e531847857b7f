//! Prompts of servers, which users send as slash commands.

use serde_json::{Map, Value, json};

use super::offers::RemotePrompt;
use super::output::text_of;
use super::servers::Mcp;
use super::tool::full_name;

/// A prompt of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpPrompt {
    /// Its name, without a slash: `mcp__SERVER__PROMPT`.
    pub name: String,
    /// The server.
    pub server: String,
    /// What it is for.
    pub description: String,
    /// Its arguments, such as `CITY [STATE]`.
    pub arguments: Option<String>,
}

impl Mcp {
    /// The prompts of the servers that run.
    pub fn prompts(&self) -> Vec<McpPrompt> {
        let mut prompts: Vec<McpPrompt> = Vec::new();
        for server in self.servers() {
            for prompt in &server.offers().prompts {
                let name = full_name(&server.spec.name, &prompt.name);
                if prompts.iter().all(|it| it.name != name) {
                    prompts.push(McpPrompt {
                        name,
                        server: server.spec.name.clone(),
                        description: prompt.description.clone(),
                        arguments: hint(prompt),
                    });
                }
            }
        }
        prompts
    }

    /// The text of the prompt `name` with these arguments, and its server. `None` if no server has it. Starts the
    /// servers if they don't run.
    ///
    /// # Errors
    /// Returns why there is no text.
    pub async fn prompt(
        &self,
        name: &str,
        words: &[String],
    ) -> Result<Option<(String, String)>, String> {
        self.begin().await;
        self.settled().await;
        for server in self.servers() {
            let offers = server.offers();
            let is_it = |it: &&RemotePrompt| full_name(&server.spec.name, &it.name) == name;
            let Some(prompt) = offers.prompts.iter().find(is_it) else {
                continue;
            };
            let arguments = arguments(prompt, words)?;
            let params = json!({"name": prompt.name, "arguments": arguments});
            let got = server.request("prompts/get", params).await?;
            let text = message_text(&got["messages"]);
            if text.trim().is_empty() {
                return Err(server.failed("the prompt is empty"));
            }
            return Ok(Some((text, server.spec.name.clone())));
        }
        Ok(None)
    }
}

fn hint(prompt: &RemotePrompt) -> Option<String> {
    let names = prompt.arguments.iter();
    let names = names.map(|(name, is_needed)| {
        let name = name.to_uppercase();
        if *is_needed {
            name
        } else {
            format!("[{name}]")
        }
    });
    let hint = names.collect::<Vec<_>>().join(" ");
    (!hint.is_empty()).then_some(hint)
}

/// One word for each argument, and the rest for the last.
fn arguments(prompt: &RemotePrompt, words: &[String]) -> Result<Map<String, Value>, String> {
    let mut arguments = Map::new();
    let count = prompt.arguments.len();
    for (at, (name, is_needed)) in prompt.arguments.iter().enumerate() {
        let end = if at + 1 == count { words.len() } else { at + 1 };
        match words.get(at..end.max(at)) {
            Some(words) if !words.is_empty() => {
                arguments.insert(name.clone(), words.join(" ").into());
            }
            _ if *is_needed => {
                let all = hint(prompt).unwrap_or_default();
                return Err(format!("The prompt needs more arguments: {all}"));
            }
            _ => {}
        }
    }
    Ok(arguments)
}

/// The texts of messages. Those of the assistant are marked.
fn message_text(messages: &Value) -> String {
    let messages = messages.as_array().into_iter().flatten();
    let texts = messages.map(|message| {
        let text = part(&message["content"]);
        if message["role"] == "assistant" {
            format!("Assistant: {text}")
        } else {
            text
        }
    });
    texts.collect::<Vec<_>>().join("\n\n")
}

fn part(content: &Value) -> String {
    let has_text = content["text"].is_string() || content["resource"]["text"].is_string();
    if has_text {
        return text_of(content);
    }
    let kind = content["type"].as_str().unwrap_or("part");
    format!("[{kind} left out]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_arguments_in_order_and_the_last_has_the_rest() {
        let prompt = RemotePrompt {
            name: String::new(),
            description: String::new(),
            arguments: vec![("city".to_owned(), true), ("state".to_owned(), false)],
        };
        assert_eq!(hint(&prompt).as_deref(), Some("CITY [STATE]"));
        for (typed, expected) in [
            ("Paris", Some(json!({"city": "Paris"}))),
            (
                "Paris FR now",
                Some(json!({"city": "Paris", "state": "FR now"})),
            ),
            ("", None),
        ] {
            let words: Vec<String> = typed.split_whitespace().map(str::to_owned).collect();
            let found = arguments(&prompt, &words).ok().map(Value::Object);
            assert_eq!(found, expected, "{typed}");
        }
    }
}
