//! Questions of a server to the user while one of its tools runs (elicitation): one for each field of its form.

use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::question::{Answer, Asker, ChoiceSubject, Subject};

/// Most fields of a form.
const MAX_FIELDS: usize = 10;
/// Most choices that a question offers. The text of the question lists more.
const MAX_CHOICES: usize = 4;
/// How often a field is asked until its answer is valid.
const TRIES: usize = 3;

/// Who asks, and how.
pub(super) struct Form {
    pub server: String,
    pub call_id: String,
    pub tool: String,
    pub asker: Asker,
    /// Withdraws the question.
    pub stop: CancellationToken,
}

impl Form {
    /// Asks the user. Returns the result for the server.
    pub async fn answer(self, params: Value) -> Value {
        match self.fill(&params).await {
            Ok(content) => json!({"action": "accept", "content": content}),
            Err(action) => json!({"action": action}),
        }
    }

    async fn fill(&self, params: &Value) -> Result<Map<String, Value>, &'static str> {
        let schema = &params["requestedSchema"];
        let none = Map::new();
        let fields = schema["properties"].as_object().unwrap_or(&none);
        if params["mode"] == "url" || fields.len() > MAX_FIELDS || !fields.values().all(is_simple) {
            return Err("decline");
        }
        let message = params["message"].as_str().unwrap_or_default();
        let message = format!("MCP server {} asks: {message}", self.server);
        let mut content = Map::new();
        if fields.is_empty() {
            let reply = self.ask(message, vec!["accept".to_owned(), "decline".to_owned()]);
            let accepts = reply.await?.trim().eq_ignore_ascii_case("accept");
            return if accepts { Ok(content) } else { Err("decline") };
        }
        for (name, field) in fields {
            let required = schema["required"].as_array();
            let is_needed = required.is_some_and(|it| it.contains(&json!(name)));
            let value = self.field(&message, name, field, is_needed).await?;
            content.extend(value.map(|value| (name.clone(), value)));
        }
        Ok(content)
    }

    async fn field(
        &self,
        message: &str,
        name: &str,
        field: &Value,
        is_needed: bool,
    ) -> Result<Option<Value>, &'static str> {
        let title = field["title"].as_str().unwrap_or(name);
        let mut question = format!("{message}\n{title}");
        if let Some(text) = field["description"].as_str() {
            question = format!("{question}: {text}");
        }
        let mut choices: Vec<String> = options(field).into_iter().map(|(shown, _)| shown).collect();
        if choices.len() > MAX_CHOICES - usize::from(!is_needed) {
            question = format!("{question}\nOne of: {}", choices.join(", "));
            choices.clear();
        }
        if !is_needed {
            choices.push(SKIP.to_owned());
        }
        for _ in 0..TRIES {
            let reply = self.ask(question.clone(), choices.clone()).await?;
            if !is_needed && reply.trim() == SKIP {
                return Ok(None);
            }
            match value(field, reply.trim()) {
                Some(value) => return Ok(Some(value)),
                None => question = format!("{question}\nNot valid: {reply}"),
            }
        }
        Err("cancel")
    }

    async fn ask(&self, question: String, choices: Vec<String>) -> Result<String, &'static str> {
        let subject = Subject::Choice(ChoiceSubject { question, choices });
        let asked = self
            .asker
            .ask(&self.call_id, &self.tool, subject, &self.stop);
        match asked.await {
            Some(Answer::Reply(text)) => Ok(text),
            Some(_) => Err("decline"),
            None => Err("cancel"),
        }
    }
}

/// The choice that leaves a field out.
const SKIP: &str = "skip";

/// Whether tiller can ask for a field and answer exactly what the server expects.
fn is_simple(field: &Value) -> bool {
    let is_known = ["string", "number", "integer", "boolean"]
        .map(Value::from)
        .contains(&field["type"]);
    let is_text = field["type"] == "string";
    let all = |list: &str, is_fine: fn(&Value) -> bool| match field.get(list) {
        None => true,
        Some(Value::Array(list)) => is_text && !list.is_empty() && list.iter().all(is_fine),
        Some(_) => false,
    };
    let has = |key: &str| field.get(key).is_some();
    is_known
        && !["anyOf", "allOf", "not", "const"].into_iter().any(has)
        && all("enum", Value::is_string)
        && all("oneOf", |option| option["const"].is_string())
}

/// What the user chooses from, and the value of each.
fn options(field: &Value) -> Vec<(String, Value)> {
    if field["type"] == "boolean" {
        return vec![
            ("yes".to_owned(), true.into()),
            ("no".to_owned(), false.into()),
        ];
    }
    if let Some(options) = field["oneOf"].as_array() {
        let options = options.iter().filter_map(|option| {
            let value = option["const"].as_str()?;
            let shown = option["title"].as_str().unwrap_or(value);
            Some((shown.to_owned(), value.into()))
        });
        return options.collect();
    }
    let values = field["enum"].as_array().into_iter().flatten();
    let values = values.filter_map(|it| Some((it.as_str()?.to_owned(), it.clone())));
    values.collect()
}

/// The value of a field for a reply of the user, if it is valid.
fn value(field: &Value, reply: &str) -> Option<Value> {
    match field["type"].as_str() {
        Some("number") => {
            let number = reply.parse::<f64>().ok();
            return number.filter(|it| it.is_finite()).map(Value::from);
        }
        Some("integer") => return reply.parse::<i64>().ok().map(Value::from),
        Some("boolean") => {
            return match &*reply.to_ascii_lowercase() {
                "yes" | "y" | "true" => Some(true.into()),
                "no" | "n" | "false" => Some(false.into()),
                _ => None,
            };
        }
        _ => {}
    }
    let options = options(field);
    if options.is_empty() {
        return Some(reply.into());
    }
    let chosen = options
        .into_iter()
        .find(|(shown, value)| shown == reply || *value == reply);
    chosen.map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_become_values_of_the_field() {
        for (field, reply, expected) in [
            (json!({"type": "string"}), "a b", Some(json!("a b"))),
            (json!({"type": "number"}), "1.5", Some(json!(1.5))),
            (json!({"type": "number"}), "nan", None),
            (json!({"type": "integer"}), "1.5", None),
            (json!({"type": "boolean"}), "Yes", Some(json!(true))),
            (json!({"type": "string", "enum": ["a"]}), "b", None),
            (
                json!({"oneOf": [{"const": "#f00", "title": "Red"}]}),
                "Red",
                Some(json!("#f00")),
            ),
        ] {
            assert_eq!(value(&field, reply), expected, "{field}");
        }
    }

    #[test]
    fn a_field_that_cannot_be_answered_exactly_is_declined() {
        for (field, expected) in [
            (json!({"type": "string", "enum": ["a"]}), true),
            (
                json!({"type": "string", "oneOf": [{"const": "a", "title": "A"}]}),
                true,
            ),
            (json!({"type": "string", "oneOf": [{"title": "A"}]}), false),
            (json!({"type": "string", "anyOf": [{"const": "a"}]}), false),
            (json!({"type": "integer", "enum": [1]}), false),
            (json!({"type": "array"}), false),
        ] {
            assert_eq!(is_simple(&field), expected, "{field}");
        }
    }
}
