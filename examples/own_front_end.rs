//! A front end of its own: it reads prompts from stdin, shows the answer as it arrives, steers with
//! what is typed during a run, asks before a command, and saves the session.
//!
//! `ANTHROPIC_API_KEY=... cargo run --example own_front_end`
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::io::Write as _;
use std::sync::Arc;

use tiller_agent::session::Session;
use tiller_agent::{AgentEvent, AgentOptions, Answer, Question, SlowReader, Subject};
use tiller_llm::{BlockKind, Catalog, Client, Content, Keys, StreamEvent};

fn ask(question: &Question) {
    match &question.subject {
        Subject::Permission(subject) => {
            println!(
                "\n{} may run? {} (y, or a reason not to)",
                question.tool, subject.reason
            );
        }
        Subject::Choice(subject) => println!("\n{} {:?}", subject.question, subject.choices),
    }
}

fn answer(question: &Question, line: String) -> Answer {
    match question.subject {
        Subject::Choice(_) => Answer::Reply(line),
        Subject::Permission(_) if line == "y" => Answer::once(),
        Subject::Permission(_) => Answer::Refuse { reason: Some(line) },
    }
}

fn show(event: &AgentEvent) {
    match event {
        AgentEvent::MessageUpdate {
            event:
                StreamEvent::BlockDelta {
                    kind: BlockKind::Text,
                    delta,
                    ..
                },
        } => {
            print!("{delta}");
            let _ = std::io::stdout().flush();
        }
        AgentEvent::ToolStart { name, args, .. } => println!("\n[{name} {args}]"),
        AgentEvent::Notice { text, .. } => println!("\n! {text}"),
        AgentEvent::AgentSettled { .. } => println!(),
        _ => {}
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let catalog = Arc::new(Catalog::default());
    let keys: Keys = std::env::vars().collect();
    let (model, _) = catalog.resolve("anthropic/claude-sonnet-5-5", &keys, |_| Ok(None))?;
    let client = Arc::new(Client::new(catalog, keys, None));
    let cwd = std::env::current_dir()?;
    let mut options = AgentOptions::new(client, model, &cwd);
    options.session = Session::create(&std::env::temp_dir().join("own-front-end"), &cwd);
    options.facts = options.session.facts();
    options.permission.has_user = true;
    let agent = tiller_agent::start(options);

    let mut events = agent.subscribe(SlowReader::Wait);
    let (typed, mut lines) = tokio::sync::mpsc::unbounded_channel();
    std::thread::spawn(move || {
        std::io::stdin()
            .lines()
            .map_while(Result::ok)
            .for_each(|line| {
                let _ = typed.send(line);
            });
    });
    let mut question: Option<Arc<Question>> = None;
    loop {
        tokio::select! {
            event = events.recv() => {
                let Some(event) = event else { break };
                show(&event.kind);
                if let AgentEvent::Questions { open } = &event.kind {
                    question = open.first().cloned();
                    question.as_deref().inspect(|question| ask(question));
                }
            }
            line = lines.recv() => match (line, question.take()) {
                (None, _) => break,
                (Some(line), Some(asked)) => agent.answer(asked.id, answer(&asked, line)),
                // Starts a run, or steers the one that is under way.
                (Some(line), None) => agent.prompt(vec![Content::text(line)]),
            },
        }
    }
    agent.shutdown().await;
    Ok(())
}
