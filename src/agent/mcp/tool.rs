//! A tool of a server, as a tool of the agent.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::select;
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::connection::{Connection, Failure, Listener, OnProgress};
use super::elicitation::Form;
use super::offers::RemoteTool;
use super::output::to_output;
use super::server::Server;
use super::spec::name_in_tools;
use crate::tool::{Details, Effects, OtherDetails, Progress, Tool};
use crate::tool::{MCP_PREFIX, ToolContext, ToolError, ToolOutput};
use crate::tools::ToolSettings;
use tiller_llm::ToolSpec;

/// How long a call may take.
pub const CALL_LIMIT: Duration = Duration::from_mins(10);
/// Most questions of a server that wait.
const MAX_QUESTIONS: usize = 4;
/// The longest name, in characters: providers accept no longer one.
const MAX_NAME: usize = 64;
/// The longest description, in characters.
const MAX_DESCRIPTION: usize = 2_000;

pub(super) struct McpTool {
    server: Arc<Server>,
    /// The server's name for it.
    name: String,
    title: String,
    reads_only: bool,
    spec: ToolSpec,
    settings: ToolSettings,
}

impl McpTool {
    pub fn new(server: &Arc<Server>, tool: &RemoteTool, settings: &ToolSettings) -> Self {
        let server_name = &server.spec.name;
        let description = tool.description.chars().take(MAX_DESCRIPTION);
        Self {
            server: Arc::clone(server),
            name: tool.name.clone(),
            title: format!("server {server_name}: {}", tool.name),
            reads_only: tool.reads_only,
            spec: ToolSpec {
                name: full_name(server_name, &tool.name),
                description: description.collect(),
                parameters: tool.parameters.clone(),
                ..ToolSpec::default()
            },
            settings: settings.clone(),
        }
    }

    fn on_progress(&self, progress: Progress) -> OnProgress {
        let title = self.title.clone();
        Box::new(move |params| {
            let text = progress_text(params);
            progress.set(Details::Other(OtherDetails {
                title: title.clone(),
                value: text.into(),
            }));
        })
    }

    fn failed(&self, why: &str) -> ToolError {
        ToolError::new(self.server.failed(why))
    }

    async fn call(&self, args: Value, context: &ToolContext) -> Result<Value, ToolError> {
        let mut is_first = true;
        loop {
            let link = self.server.connection().await;
            let link = link.map_err(|why| self.failed(&why))?;
            return match self.request(&link, &args, context).await {
                Ok(result) => Ok(result),
                // It did nothing: begin another session.
                Err(Failure::Expired) if std::mem::take(&mut is_first) => continue,
                Err(Failure::Gone(why)) => {
                    Err(self.failed(&format!("{why}. The next call starts it again")))
                }
                Err(failure) => Err(self.failed(&failure.text())),
            };
        }
    }

    /// Sends the call, and asks the user what the server wants to know before its result.
    async fn request(
        &self,
        link: &Connection,
        args: &Value,
        context: &ToolContext,
    ) -> Result<Value, Failure> {
        let (questions, mut asked) = mpsc::channel(MAX_QUESTIONS);
        let listener = Listener {
            on_progress: self.on_progress(context.progress.clone()),
            questions,
        };
        let params = json!({"name": self.name, "arguments": args});
        let mut result = pin!(link.request("tools/call", params, Some(listener)));
        loop {
            let (id, params) = select! {
                result = &mut result => return result,
                Some(question) = asked.recv() => question,
            };
            let stop = CancellationToken::new();
            let _withdraw = stop.clone().drop_guard();
            let form = Form {
                server: self.server.spec.name.clone(),
                call_id: context.call_id.clone(),
                tool: self.spec.name.clone(),
                asker: context.asker.clone(),
                stop,
            };
            // A task of its own, which withdraws the question if the call ends first.
            let answered = tokio::spawn(form.answer(params));
            select! {
                result = &mut result => return result,
                answer = answered => {
                    let answer = answer.unwrap_or_else(|_| json!({"action": "cancel"}));
                    link.answer(&id, &answer)?;
                }
            }
        }
    }
}

/// What models call tool `tool` of `server`, and users a prompt: letters, digits, `_` and `-`.
pub(super) fn full_name(server: &str, tool: &str) -> String {
    let name = name_in_tools(&format!("{MCP_PREFIX}{server}__{tool}"));
    name.chars().take(MAX_NAME).collect()
}

fn progress_text(params: &Value) -> String {
    let number = |name: &str| params[name].as_f64();
    let count = match (number("progress"), number("total")) {
        (Some(done), Some(total)) => format!("{done} of {total}"),
        (Some(done), None) => done.to_string(),
        _ => String::new(),
    };
    let text = params["message"].as_str().unwrap_or_default();
    format!("{count} {text}").trim().to_owned()
}

impl Tool for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effects(&self, _args: &Value) -> Effects {
        Effects {
            claims_to_read: self.reads_only,
            ..Effects::unknown()
        }
    }

    fn preview(&self, args: &Value) -> Details {
        Details::Other(OtherDetails {
            title: self.title.clone(),
            value: args.clone(),
        })
    }

    fn execute(
        &self,
        args: Value,
        context: ToolContext,
    ) -> BoxFuture<'_, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let cancel = context.cancel.clone();
            let result = select! {
                biased;
                () = cancel.cancelled() => return Err(ToolError::new("Tool execution cancelled")),
                result = self.call(args, &context) => result?,
                () = sleep(CALL_LIMIT) => {
                    let limit = CALL_LIMIT.as_secs() / 60;
                    return Err(self.failed(&format!("no result after {limit} minutes")));
                }
            };
            Ok(to_output(&result, &self.title, &self.settings, &context).await)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_ones_that_providers_accept() {
        assert_eq!(full_name("lab", "tool0"), "mcp__lab__tool0");
        assert_eq!(full_name("my lab", "a.b/ü"), "mcp__my_lab__a_b__");
        assert_eq!(full_name("lab", &"x".repeat(100)).len(), MAX_NAME);
    }

    #[test]
    fn progress_is_a_line() {
        let text = |value| progress_text(&value);
        assert_eq!(
            text(json!({"progress": 1, "total": 3, "message": "a"})),
            "1 of 3 a"
        );
        assert_eq!(text(json!({"progress": 0.5})), "0.5");
    }
}
