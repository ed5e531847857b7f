//! Two tools in place of very many: one finds tools by words, the other calls one by its name. So a
//! request stays small, and the tools of all servers can still be called.

use std::fmt::Write;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::tool::{
    Details, Effects, MCP_PREFIX, OtherDetails, Tool, ToolContext, ToolError, ToolOutput,
};
use tiller_llm::nearest::nearest;
use tiller_llm::{ToolCall, ToolSpec};

/// The most bytes of JSON that tools of servers take in a request, before these two replace them.
const MAX_OFFERED: usize = 16 * 1024;
/// The most tools that a search returns.
const MAX_FOUND: usize = 10;
/// The most bytes of a search's answer, except for names. The first tool is always whole.
const MAX_ANSWER: usize = 16 * 1024;

const SEARCH: &str = "mcp_search";
const CALL: &str = "mcp_call";

/// The two tools, if `tools` take too much of a request.
pub(crate) fn tools_for_many(tools: &[Arc<dyn Tool>]) -> Option<Vec<Arc<dyn Tool>>> {
    let size = |tool: &Arc<dyn Tool>| serde_json::to_string(tool.spec()).map_or(0, |it| it.len());
    let total: usize = tools.iter().map(size).sum();
    if total <= MAX_OFFERED {
        return None;
    }
    let specs: Arc<[ToolSpec]> = tools.iter().map(|tool| tool.spec().clone()).collect();
    let search = Search {
        spec: search_spec(specs.len()),
        tools: Arc::clone(&specs),
    };
    let call = Call {
        spec: call_spec(),
        tools: specs,
    };
    Some(vec![Arc::new(search), Arc::new(call)])
}

/// For a call of `mcp_call`, the call of the server's tool that it names.
pub(crate) fn meant(call: &ToolCall) -> Option<ToolCall> {
    if call.name != CALL || !call.partial_arguments.trim().is_empty() {
        return None;
    }
    let name = call.arguments["name"].as_str()?;
    let arguments = match &call.arguments["arguments"] {
        Value::Null => json!({}),
        // Models write objects as texts too.
        Value::String(text) => serde_json::from_str(text).ok()?,
        arguments => arguments.clone(),
    };
    Some(ToolCall {
        name: name.to_owned(),
        arguments,
        ..call.clone()
    })
}

fn search_spec(count: usize) -> ToolSpec {
    ToolSpec {
        name: SEARCH.to_owned(),
        description: format!(
            "Find tools of the user's MCP servers, of which there are {count}. Returns up to {MAX_FOUND} \
             with their arguments. Call one with {CALL}."
        ),
        parameters: json!({
            "type": "object",
            "properties": {"words": {"type": "string", "description": "Words of a name or description"}},
            "required": ["words"]
        }),
        ..ToolSpec::default()
    }
}

fn call_spec() -> ToolSpec {
    ToolSpec {
        name: CALL.to_owned(),
        description: format!("Call a tool that {SEARCH} has found."),
        parameters: json!({
            "type": "object",
            "properties": {"name": {"type": "string"}, "arguments": {"type": "object"}},
            "required": ["name"]
        }),
        ..ToolSpec::default()
    }
}

struct Search {
    spec: ToolSpec,
    tools: Arc<[ToolSpec]>,
}

impl Search {
    /// The tools that have the most of these words, best first. A word in the name counts double.
    fn find(&self, words: &str) -> Vec<&ToolSpec> {
        let words = words.to_lowercase();
        let words: Vec<&str> = words
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .collect();
        let score = |tool: &ToolSpec| -> usize {
            let (name, about) = (tool.name.to_lowercase(), tool.description.to_lowercase());
            let each = words.iter().map(|word| {
                2 * usize::from(name.contains(word)) + usize::from(about.contains(word))
            });
            each.sum()
        };
        let mut found: Vec<_> = (self.tools.iter())
            .map(|tool| (score(tool), tool))
            .filter(|(score, _)| *score > 0)
            .collect();
        found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        found.truncate(MAX_FOUND);
        found.into_iter().map(|(_, tool)| tool).collect()
    }

    fn answer(&self, words: &str) -> String {
        let found = self.find(words);
        if found.is_empty() {
            let mut names: Vec<&str> = self.tools.iter().map(server_of).collect();
            names.dedup();
            return format!("No tool has these words. Servers: {}", names.join(", "));
        }
        let mut text = String::new();
        for tool in found {
            let whole = json!({
                "name": tool.name,
                "description": tool.description,
                "arguments": tool.parameters,
            });
            let whole = whole.to_string();
            if text.is_empty() || text.len() + whole.len() <= MAX_ANSWER {
                let _ = writeln!(text, "{whole}");
            } else {
                let _ = writeln!(
                    text,
                    "{} (too long to show with others: search its name)",
                    tool.name
                );
            }
        }
        text.trim_end().to_owned()
    }
}

fn server_of(tool: &ToolSpec) -> &str {
    let name = tool.name.strip_prefix(MCP_PREFIX).unwrap_or(&tool.name);
    name.split_once("__").map_or(name, |(server, _)| server)
}

impl Tool for Search {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effects(&self, _args: &Value) -> Effects {
        Effects::default()
    }

    fn preview(&self, args: &Value) -> Details {
        shown(args["words"].as_str().unwrap_or_default(), Value::Null)
    }

    fn execute(
        &self,
        args: Value,
        _context: ToolContext,
    ) -> BoxFuture<'_, Result<ToolOutput, ToolError>> {
        let words = args["words"].as_str().unwrap_or_default();
        let text = self.answer(words);
        let details = shown(words, text.clone().into());
        Box::pin(async move { Ok(ToolOutput::new(text, details)) })
    }
}

/// Only names the tools: a call of it that names one is a call of that tool (see [`meant`]).
struct Call {
    spec: ToolSpec,
    tools: Arc<[ToolSpec]>,
}

impl Tool for Call {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effects(&self, _args: &Value) -> Effects {
        Effects::default()
    }

    fn preview(&self, args: &Value) -> Details {
        shown(args["name"].as_str().unwrap_or_default(), Value::Null)
    }

    fn execute(
        &self,
        args: Value,
        _context: ToolContext,
    ) -> BoxFuture<'_, Result<ToolOutput, ToolError>> {
        let name = args["name"].as_str().unwrap_or_default();
        if self.tools.iter().any(|tool| tool.name == name) {
            let error = ToolError::new(format!("{name}: its arguments aren't a JSON object"));
            return Box::pin(async move { Err(error) });
        }
        let near = nearest(name, self.tools.iter().map(|tool| tool.name.as_str()));
        let near = near.map_or_else(String::new, |near| format!(" Did you mean '{near}'?"));
        let error = ToolError::new(format!(
            "There is no MCP tool '{name}'.{near} {SEARCH} finds tools by words."
        ));
        Box::pin(async move { Err(error) })
    }
}

fn shown(title: &str, value: Value) -> Details {
    Details::Other(OtherDetails {
        title: title.to_owned(),
        value,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(name: &str, description: &str) -> ToolSpec {
        ToolSpec {
            name: name.to_owned(),
            description: description.to_owned(),
            ..ToolSpec::default()
        }
    }

    #[test]
    fn words_find_tools_by_name_first() {
        let search = Search {
            spec: search_spec(3),
            tools: Arc::new([
                spec("mcp__db__query", "Run SQL on an issue table"),
                spec("mcp__hub__list_issues", "All issues"),
                spec("mcp__hub__merge", "Merge"),
            ]),
        };
        let found =
            |words: &str| -> Vec<&str> { search.find(words).iter().map(|it| &*it.name).collect() };
        assert_eq!(found("Issue"), ["mcp__hub__list_issues", "mcp__db__query"]);
        assert_eq!(found("sql"), ["mcp__db__query"]);
        let large = |name: &str| ToolSpec {
            parameters: json!({"x": "y".repeat(MAX_ANSWER)}),
            ..spec(name, "")
        };
        let search_large = Search {
            spec: search_spec(2),
            tools: Arc::new([large("mcp__a__big"), large("mcp__b__big")]),
        };
        let answer = search_large.answer("big");
        assert!(answer.len() < MAX_ANSWER + 200, "{}", answer.len());
        assert!(answer.contains("\nmcp__b__big (too long"), "{answer}");
        assert_eq!(
            search.answer("xyz"),
            "No tool has these words. Servers: db, hub"
        );
    }

    #[test]
    fn a_call_by_name_is_a_call_of_that_tool() {
        let call = |arguments| ToolCall {
            name: CALL.to_owned(),
            id: "1".to_owned(),
            arguments,
            ..ToolCall::default()
        };
        let of = |arguments| meant(&call(arguments)).map(|it| (it.name, it.arguments, it.id));
        let meant = |args| Some(("t".to_owned(), args, "1".to_owned()));
        assert_eq!(of(json!({"name": "t"})), meant(json!({})));
        let args = json!({"name": "t", "arguments": {"a": 1}});
        assert_eq!(of(args), meant(json!({"a": 1})));
        let args = json!({"name": "t", "arguments": "{\"a\": 1}"});
        assert_eq!(of(args), meant(json!({"a": 1})));
        assert_eq!(of(json!({})), None);
    }
}
