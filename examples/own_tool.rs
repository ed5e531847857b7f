//! An agent with one tool of its own: the model asks for dice, this program rolls them. A script
//! plays the model, so no key is needed.
//!
//! `cargo run --example own_tool`
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tiller_agent::tool::{Details, Effects, TextDetails, Tool, ToolContext, ToolError, ToolOutput};
use tiller_agent::{AgentEvent, AgentOptions, SlowReader, Toolbox};
use tiller_llm::scripted::{Script, Scripted, demo_model};
use tiller_llm::{Content, ToolSpec};

struct Dice(ToolSpec);

impl Dice {
    fn new() -> Self {
        Self(ToolSpec {
            name: "roll_dice".to_owned(),
            description: "Rolls dice and returns their sum.".to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {"dice": {"type": "integer", "minimum": 1, "maximum": 100}},
                "required": ["dice"],
            }),
            custom: None,
        })
    }
}

/// What the user sees.
fn line(text: String) -> Details {
    Details::Text(TextDetails {
        text,
        ..TextDetails::default()
    })
}

impl Tool for Dice {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    /// It touches nothing, so no permission is needed. By default a tool may do anything.
    fn effects(&self, _args: &Value) -> Effects {
        Effects::default()
    }

    fn preview(&self, args: &Value) -> Details {
        line(format!("{} dice", args["dice"]))
    }

    fn execute(
        &self,
        args: Value,
        _context: ToolContext,
    ) -> BoxFuture<'_, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            // The arguments match the schema here. A real tool would use a random number.
            let sum = args["dice"].as_u64().unwrap_or(1) * 4;
            Ok(ToolOutput::new(
                sum.to_string(),
                line(format!("rolled {sum}")),
            ))
        })
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let script = Script::parse(
        r#"reply = [
            { steps = [{ call = "roll_dice", args = { dice = 3 } }] },
            { steps = [{ text = "You rolled 12." }] },
        ]"#,
    )?;
    let provider = Arc::new(Scripted::new(script));
    let mut options = AgentOptions::new(provider, demo_model(), std::env::current_dir()?);
    options.toolbox = Toolbox::new(vec![Arc::new(Dice::new())]);
    let agent = tiller_agent::start(options);

    let mut events = agent.subscribe(SlowReader::Wait);
    agent.prompt(vec![Content::text("Roll three dice")]);
    while let Some(event) = events.recv().await {
        match &event.kind {
            AgentEvent::ToolEnd { name, details, .. } => println!("{name}: {details:?}"),
            AgentEvent::MessageEnd { message } => println!("{}", message.text()),
            AgentEvent::AgentSettled { .. } => break,
            _ => {}
        }
    }
    agent.shutdown().await;
    Ok(())
}
