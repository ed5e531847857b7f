//! Which calls may run. Today that is: the tool exists, policy allows it, its arguments are whole
//! and fit. Asking the user comes in here later. Runs nothing.

use std::sync::Arc;

use serde_json::Value;

use super::link::Turn;
use crate::agent::tool::Tool;
use crate::agent::toolbox::Lookup;
use crate::llm::ToolCall;

/// Characters of broken arguments quoted back to the model.
const QUOTED: usize = 200;

/// A call that may run.
pub(super) struct Allowed {
    /// What runs.
    pub tool: Arc<dyn Tool>,
    /// With what; coerced and valid.
    pub args: Value,
}

/// Judges one call, right before it starts: lets it pass, or says to the model why not.
#[expect(clippy::unused_async, reason = "asking the user comes in here")]
pub(super) async fn judge(turn: &Turn, call: &ToolCall) -> Result<Allowed, String> {
    let name = &call.name;
    let tool = match turn.toolbox.find(name) {
        Lookup::Tool(tool) => Arc::clone(tool),
        Lookup::Blocked => {
            tracing::warn!("Tool blocked by policy: {name}");
            return Err(format!("Tool '{name}' not available"));
        }
        Lookup::Unknown => return Err(format!("Tool '{name}' not found")),
    };
    let invalid = |why: String| format!("error: invalid input: {why}");
    let args = whole_arguments(call).map_err(invalid)?;
    let args = turn.toolbox.check(name, args).map_err(invalid)?;
    Ok(Allowed { tool, args })
}

/// The call's arguments, unless their text is not the JSON object it should be.
fn whole_arguments(call: &ToolCall) -> Result<Value, String> {
    let text = &call.partial_arguments;
    if text.trim().is_empty() {
        return Ok(call.arguments.clone());
    }
    let why = match serde_json::from_str(text) {
        Ok(value @ Value::Object(_)) => return Ok(value),
        Ok(_) => String::from("they must be a JSON object"),
        Err(error) => error.to_string(),
    };
    let mut quote: String = text.chars().take(QUOTED).collect();
    if quote.len() < text.len() {
        quote.push('…');
    }
    Err(format!("the arguments are not valid JSON ({why}): {quote}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(arguments: Value, text: &str) -> ToolCall {
        ToolCall {
            name: "t".into(),
            arguments,
            partial_arguments: text.into(),
            ..ToolCall::default()
        }
    }

    #[test]
    fn broken_argument_text_is_quoted_with_its_fault() {
        assert_eq!(
            whole_arguments(&call(json!({"a": 1}), "")),
            Ok(json!({"a": 1}))
        );
        assert_eq!(
            whole_arguments(&call(json!({}), r#"{"a":2}"#)),
            Ok(json!({"a": 2}))
        );
        let text = whole_arguments(&call(json!({}), r#"{"a": "#)).unwrap_err();
        assert!(text.contains("EOF while parsing"), "{text}");
        assert!(text.ends_with(r#": {"a": "#), "{text}");
        let text = whole_arguments(&call(json!({}), "[1]")).unwrap_err();
        assert!(text.contains("they must be a JSON object"), "{text}");
        let text = whole_arguments(&call(json!({}), &"ä".repeat(10_000))).unwrap_err();
        assert!(text.len() < 600);
    }
}
