//! An agent in thirty lines: a prompt in, the answer out, with tiller's own tools in this folder.
//!
//! `ANTHROPIC_API_KEY=... cargo run --example agent -- "What does this project do?"`
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::sync::Arc;

use tiller_agent::{AgentEvent, AgentOptions, SlowReader};
use tiller_llm::{BlockKind, Catalog, Client, Content, Keys, StreamEvent};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let catalog = Arc::new(Catalog::default());
    let keys: Keys = std::env::vars().collect();
    let (model, _) = catalog.resolve("anthropic/claude-sonnet-5-5", &keys, |_| Ok(None))?;
    let client = Arc::new(Client::new(catalog, keys, None));
    let options = AgentOptions::new(client, model, std::env::current_dir()?);
    let agent = tiller_agent::start(options);

    let mut events = agent.subscribe(SlowReader::Wait);
    let prompt = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "hello".to_owned());
    agent.prompt(vec![Content::text(prompt)]);
    while let Some(event) = events.recv().await {
        match &event.kind {
            AgentEvent::MessageUpdate {
                event:
                    StreamEvent::BlockDelta {
                        kind: BlockKind::Text,
                        delta,
                        ..
                    },
            } => print!("{delta}"),
            AgentEvent::AgentSettled { .. } => break,
            _ => {}
        }
    }
    agent.shutdown().await;
    Ok(())
}
