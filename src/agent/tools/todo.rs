//! The `todo` tool: the model's list of tasks, shown to the user. It changes nothing, so tiller never
//! asks.

use std::fmt::Write;

use serde::Deserialize;
use serde_json::json;

use crate::todo::{TodoDetails, TodoItem};
use crate::tool::{Details, Effects, ToolContext, ToolError, ToolOutput};
use crate::tools::typed::{self, TypedTool};
use tiller_llm::ToolSpec;

const NAME: &str = "todo";

pub struct Todo;

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub struct Args {
    todos: Vec<TodoItem>,
}

impl TypedTool for Todo {
    type Args = Args;

    fn spec(&self) -> ToolSpec {
        typed::spec(
            NAME,
            "Keep a todo list that the user sees. Send the whole list each time.",
            &["todos"],
            json!({
                "todos": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "content": {"type": "string"},
                            "status": {"type": "string", "enum": ["pending", "in_progress", "completed"]}
                        },
                        "required": ["content", "status"]
                    }
                }
            }),
        )
    }

    fn effects(&self, _args: Args) -> Effects {
        Effects::default()
    }

    fn preview(&self, args: Args) -> Details {
        Details::Todo(TodoDetails::new(args.todos))
    }

    async fn run(&self, args: Args, _context: ToolContext) -> Result<ToolOutput, ToolError> {
        let list = TodoDetails::new(args.todos);
        let mut text = list.progress();
        if let Some(next) = list.current() {
            let _ = write!(text, "; now: {}", next.content);
        }
        Ok(ToolOutput::new(text, Details::Todo(list)))
    }
}
