//! One run without a screen: sends the prompt, hands every event to a sink, and turns the way it
//! ended into an outcome. Signals and `--timeout` abort the run; the processes it started are told
//! to die before this returns.

use std::io;
use std::time::Duration;

use nix::sys::signal::Signal;
use tokio::time::Instant;

use super::out;
use crate::agent::{AgentEvent, AgentHandle, BudgetLimit, Event, RunOutcome, SlowReader};
use crate::app::outcome::Outcome;
use crate::app::signals::Signals;
use crate::llm::Content;
use crate::llm::message::content_text;

pub trait Sink {
    /// Nothing was asked yet. An error means that stdout cannot be written; then nothing is.
    fn start(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Takes one event. An error means that stdout cannot be written.
    fn event(&mut self, event: &Event) -> io::Result<()>;

    /// The run is over.
    fn end(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs once, at most for `timeout`. Returns when the agent has settled and is shut down.
pub async fn run_headless(
    handle: AgentHandle,
    prompt: Vec<Content>,
    timeout: Option<Duration>,
    sink: &mut dyn Sink,
) -> Outcome {
    let outcome = drive(&handle, prompt, timeout, sink).await;
    handle.shutdown().await;
    outcome
}

/// Says on stderr what scripts and users should know.
fn tell(text: &str) {
    out::eprint_line(&format!("tiller: {text}"));
}

async fn drive(
    handle: &AgentHandle,
    prompt: Vec<Content>,
    timeout: Option<Duration>,
    sink: &mut dyn Sink,
) -> Outcome {
    let signals = Signals::new([
        (Signal::SIGINT, Outcome::Interrupted),
        (Signal::SIGTERM, Outcome::Terminated),
        (Signal::SIGHUP, Outcome::HungUp),
    ]);
    let mut signals = match signals {
        Ok(signals) => signals,
        Err(error) => {
            tell(&format!("cannot listen for signals: {error}"));
            return Outcome::Failed;
        }
    };
    if let Err(error) = sink.start() {
        return out::write_failed(&error);
    }
    let mut events = handle.subscribe(SlowReader::Wait);
    handle.prompt(prompt);
    let deadline = timeout.map(|timeout| Instant::now() + timeout);
    // What ended the run from outside; the run then ends as aborted.
    let mut stopped = None;
    let mut ended = None;
    let mut waiting = Vec::new();
    loop {
        let event = tokio::select! {
            biased;
            outcome = signals.next() => {
                if stopped.is_some() {
                    return outcome;
                }
                stopped = Some(outcome);
                handle.abort();
                continue;
            }
            () = at(deadline), if stopped.is_none() => {
                stopped = Some(Outcome::TimedOut);
                handle.abort();
                continue;
            }
            event = events.recv() => event,
        };
        let Some(event) = event else {
            tell("the agent stopped before the end of the run");
            return stopped.unwrap_or(Outcome::Failed);
        };
        if let Err(error) = sink.event(&event) {
            let outcome = out::write_failed(&error);
            return stopped.unwrap_or(outcome);
        }
        match &event.kind {
            AgentEvent::AgentEnd { outcome, .. } => ended = Some(outcome.clone()),
            AgentEvent::QueueUpdate {
                steering,
                follow_up,
            } => waiting = [steering.as_slice(), follow_up].concat(),
            AgentEvent::QueueReturned { messages } => waiting.clone_from(messages),
            AgentEvent::AgentSettled { .. } => break,
            _ => {}
        }
    }
    for queued in waiting {
        let text = content_text(&queued.content);
        tell(&format!("not sent to the model: {text}"));
    }
    if let Err(error) = sink.end() {
        let outcome = out::write_failed(&error);
        return stopped.unwrap_or(outcome);
    }
    if let Some(outcome) = stopped {
        if outcome == Outcome::TimedOut {
            tell("the time given by --timeout ran out; the run was stopped");
        }
        return outcome;
    }
    match ended {
        Some(RunOutcome::Done) => Outcome::Done,
        Some(RunOutcome::Truncated) => {
            tell(
                "the answer was cut at the model's output limit\nask for less at once, or raise max_output of the model in models.toml",
            );
            Outcome::Failed
        }
        Some(RunOutcome::Failed { message }) => {
            tell(&message);
            Outcome::Failed
        }
        Some(RunOutcome::LimitReached { limit }) => {
            tell(&format!(
                "Max iterations ({limit}) exceeded\nallow more with --max-iterations N, 0 for no limit"
            ));
            Outcome::Failed
        }
        Some(RunOutcome::BudgetReached(reached)) => {
            let flag = match reached.limit {
                BudgetLimit::Usd(_) => "--budget-usd",
                BudgetLimit::Tokens(_) => "--budget-tokens",
            };
            tell(&format!(
                "{reached}\nallow more with {flag} N, 0 for no limit"
            ));
            Outcome::Failed
        }
        Some(RunOutcome::Aborted) | None => Outcome::Failed,
    }
}

async fn at(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
