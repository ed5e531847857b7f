//! One run without a screen: sends the prompt, hands every event to a sink, and returns an outcome. A
//! signal or `--timeout` ends every wait: for a reader of stdout that has stopped, or for a run that
//! doesn't end. All processes of the run are dead when this returns.

use std::collections::HashSet;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::Either;
use nix::sys::signal::Signal;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

use super::refusal::{denial, refusal};
use crate::agent::event::NOT_PERMITTED;
use crate::agent::process::Processes;
use crate::agent::{
    AgentEvent, AgentHandle, BudgetLimit, Event, NoticeLevel, RunOutcome, SlowReader,
};
use crate::app::commands::{Running, SlashCommand};
use crate::app::host::Host;
use crate::app::out::{self, Writer};
use crate::app::outcome::Outcome;
use crate::app::records::TIMED_OUT;
use crate::app::signals::Signals;
use crate::llm::Content;
use crate::llm::message::content_text;
use crate::llm::os_error::plain;

/// After a signal or `--timeout`: time for the run to end and report.
const GRACE: Duration = Duration::from_millis(100);
/// After that: time for killed processes to exit.
const DYING: Duration = Duration::from_millis(50);
/// Time to close the session; it takes longer only on a hanging disk.
const CLOSING: Duration = Duration::from_secs(1);
/// After a completed run: time for its processes to end, SIGKILL included.
const STOPPING: Duration = Duration::from_secs(4);

#[derive(Debug, Default)]
pub struct Said {
    pub out: String,
    err: String,
}

impl Said {
    /// Reports on stderr what scripts and users should know.
    pub fn tell(&mut self, text: &str) {
        self.err
            .push_str(&out::line(&format!("tiller: {}", plain(text))));
    }

    /// Reports an error on stderr.
    pub fn fail(&mut self, text: &str) {
        self.err
            .push_str(&out::line(&format!("error: {}", plain(text))));
    }
}

pub trait Sink {
    fn start(&mut self, _said: &mut Said) {}

    fn event(&mut self, event: &Event, said: &mut Said);

    /// A command has been carried out, with this text for the user. `is_noticed`: an event said it, too.
    fn answer(&mut self, text: &str, _is_noticed: bool, said: &mut Said) {
        said.out.push_str(&out::line(text));
    }

    fn end(&mut self, _said: &mut Said) {}
}

/// What to do.
pub enum Task {
    Prompt(Vec<Content>),
    /// Run a command with its argument.
    Command(Box<Host>, &'static SlashCommand, String),
}

/// Runs once, at most until `deadline`. Returns when agent and processes have ended.
pub async fn run_headless(
    handle: AgentHandle,
    processes: &Processes,
    task: Task,
    deadline: Option<Instant>,
    is_stored: bool,
    sink: &mut dyn Sink,
) -> Outcome {
    let mut run = match Run::new(&handle, deadline, is_stored) {
        Ok(run) => run,
        Err(error) => {
            out::eprint_error(format_args!("can't start: {error}"));
            return Outcome::Failed;
        }
    };
    let mut last = Said::default();
    let mut outcome = match run.drive(task, sink, &mut last).await {
        Ok(outcome) => outcome,
        Err(GaveUp::Time(outcome)) => outcome,
        Err(GaveUp::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => Outcome::Cut,
        Err(GaveUp::Write(error)) => {
            last.fail(&format!("can't write to stdout: {error}"));
            Outcome::Failed
        }
    };
    run.say_last(last).await;
    let closed = timeout(CLOSING + handle.end_limit(), handle.shutdown()).await;
    let late = || Some("the disk is too slow: the session may be incomplete".to_owned());
    if let Some(unsaved) = closed.unwrap_or_else(|_| late()) {
        out::eprint_error(unsaved);
        if outcome == Outcome::Done {
            outcome = Outcome::Failed;
        }
    }
    let empty = run.ends.until(timeout(STOPPING, processes.empty())).await;
    if !matches!(empty, Ok(Ok(()))) {
        processes.kill_all();
        let _ = timeout(DYING, processes.empty()).await;
    }
    run.ends.stopped.unwrap_or(outcome)
}

enum GaveUp {
    /// A signal, or `--timeout`.
    Time(Outcome),
    Write(io::Error),
}

impl From<Outcome> for GaveUp {
    fn from(outcome: Outcome) -> Self {
        Self::Time(outcome)
    }
}

impl From<io::Error> for GaveUp {
    fn from(error: io::Error) -> Self {
        Self::Write(error)
    }
}

struct Ends<'a> {
    handle: &'a AgentHandle,
    signals: Signals<Outcome>,
    /// `--timeout`; after stopping the run, the end of its grace period.
    deadline: Option<Instant>,
    stopped: Option<Outcome>,
}

impl Ends<'_> {
    /// Waits for `work`. A signal or `--timeout` stops the run, which then has [`GRACE`] to end. A
    /// second signal ends the wait at once.
    async fn until<T>(&mut self, work: impl Future<Output = T>) -> Result<T, Outcome> {
        let mut work = pin!(work);
        loop {
            let stop = tokio::select! {
                biased;
                outcome = self.signals.next() => match self.stopped {
                    Some(_) => return Err(outcome),
                    None => outcome,
                },
                () = at(self.deadline) => match self.stopped {
                    Some(outcome) => return Err(outcome),
                    None => Outcome::TimedOut,
                },
                value = &mut work => return Ok(value),
            };
            if stop == Outcome::TimedOut {
                // For the records of the run.
                self.handle.notify(NoticeLevel::Info, TIMED_OUT.to_owned());
            }
            self.stopped = Some(stop);
            self.deadline = Some(Instant::now() + GRACE);
            self.handle.abort();
        }
    }
}

struct Run<'a> {
    ends: Ends<'a>,
    stdout: Writer,
    stderr: Writer,
    /// Whether a session stores unsent messages.
    is_stored: bool,
}

impl<'a> Run<'a> {
    fn new(
        handle: &'a AgentHandle,
        deadline: Option<Instant>,
        is_stored: bool,
    ) -> io::Result<Self> {
        let signals = Signals::new([
            (Signal::SIGINT as i32, Outcome::Interrupted),
            (Signal::SIGTERM as i32, Outcome::Terminated),
            (Signal::SIGHUP as i32, Outcome::HungUp),
        ])?;
        Ok(Self {
            ends: Ends {
                handle,
                signals,
                deadline,
                stopped: None,
            },
            stdout: Writer::start(io::stdout())?,
            stderr: Writer::start(io::stderr())?,
            is_stored,
        })
    }

    async fn drive(
        &mut self,
        task: Task,
        sink: &mut dyn Sink,
        last: &mut Said,
    ) -> Result<Outcome, GaveUp> {
        let mut said = Said::default();
        sink.start(&mut said);
        self.write(said).await?;
        let mut events = self.ends.handle.subscribe(SlowReader::Wait);
        let prompt = match task {
            Task::Prompt(prompt) => prompt,
            Task::Command(host, command, argument) => {
                let running = command.start(&host, &argument);
                return self.command(running, events, sink, last).await;
            }
        };
        self.ends.handle.prompt(prompt);
        let (mut begun, mut ended) = (false, None);
        let (mut waiting, mut refused) = (Vec::new(), Vec::new());
        let mut told = HashSet::new();
        loop {
            let Some(event) = self.ends.until(events.recv()).await? else {
                last.fail("the agent stopped before the run ended");
                return Ok(Outcome::Failed);
            };
            let mut said = Said::default();
            sink.event(&event, &mut said);
            let mut over = false;
            match &event.kind {
                AgentEvent::AgentStart => begun = true,
                AgentEvent::AgentEnd { outcome, .. } => ended = Some(outcome.clone()),
                AgentEvent::QueueUpdate {
                    steering,
                    follow_up,
                } => waiting = [steering.as_slice(), follow_up].concat(),
                AgentEvent::QueueReturned { messages, .. } => {
                    waiting.clone_from(messages);
                    // The prompt was refused, so no run follows.
                    over = !begun && !messages.is_empty();
                }
                AgentEvent::Refused(question) => {
                    refused.push(question.call_id.clone());
                    if let Some(line) = refusal(question, &mut told) {
                        said.tell(&line);
                    }
                }
                AgentEvent::ToolEnd {
                    call_id,
                    name,
                    content,
                    details,
                    duration_ms: None,
                    ..
                } if !refused.contains(call_id) => {
                    if let Some(why) = content_text(content).strip_prefix(NOT_PERMITTED) {
                        refused.push(call_id.clone());
                        if let Some(line) = denial(name, details, why, &mut told) {
                            said.tell(&line);
                        }
                    }
                }
                AgentEvent::AgentSettled { .. } => over = true,
                _ => {}
            }
            self.write(said).await?;
            if over {
                break;
            }
        }
        let unsent = if begun && self.is_stored {
            "queued in the session (tiller -c sends it)"
        } else {
            "not sent to the model"
        };
        for queued in waiting {
            let text = content_text(&queued.content);
            last.tell(&format!("{unsent}: {text}"));
        }
        let mut said = Said::default();
        sink.end(&mut said);
        self.write(said).await?;
        self.ends.until(self.stdout.finish()).await??;
        Ok(match outcome_of(ended, last) {
            Outcome::Done if !refused.is_empty() => Outcome::Refused,
            outcome => outcome,
        })
    }

    /// Waits for a command, and passes on the events of what it does.
    async fn command(
        &mut self,
        mut running: Running<'_>,
        mut events: mpsc::Receiver<Arc<Event>>,
        sink: &mut dyn Sink,
        last: &mut Said,
    ) -> Result<Outcome, GaveUp> {
        let mut noticed = Vec::new();
        let mut result = None;
        while result.is_none() {
            let next = async {
                tokio::select! {
                    biased;
                    Some(event) = events.recv() => Either::Left(event),
                    result = &mut running => Either::Right(result),
                }
            };
            let mut seen = Vec::new();
            match self.ends.until(next).await? {
                Either::Left(event) => seen.push(event),
                Either::Right(done) => result = Some(done),
            }
            while let Ok(event) = events.try_recv() {
                seen.push(event);
            }
            for event in seen {
                let mut said = Said::default();
                sink.event(&event, &mut said);
                if let AgentEvent::Notice { text, .. } = &event.kind {
                    noticed.push(text.clone());
                }
                self.write(said).await?;
            }
        }
        let mut said = Said::default();
        let outcome = match result.unwrap_or_else(|| Ok(String::new())) {
            Ok(text) => {
                let is_noticed = noticed.contains(&text);
                sink.answer(&text, is_noticed, &mut said);
                Outcome::Done
            }
            Err(error) => {
                if !noticed.contains(&error) {
                    last.fail(&error);
                }
                Outcome::Failed
            }
        };
        self.write(said).await?;
        self.ends.until(self.stdout.finish()).await??;
        Ok(outcome)
    }

    async fn write(&mut self, said: Said) -> Result<(), GaveUp> {
        // A closed stderr is fine.
        let _ = self.ends.until(self.stderr.write(said.err)).await?;
        self.ends.until(self.stdout.write(said.out)).await??;
        Ok(())
    }

    async fn say_last(&mut self, mut last: Said) {
        if self.ends.stopped == Some(Outcome::TimedOut) {
            last.fail(TIMED_OUT);
        }
        let stopped = self.ends.stopped.is_some();
        let stderr = &mut self.stderr;
        let written = async {
            let _ = stderr.write(last.err).await;
            let _ = stderr.finish().await;
        };
        if stopped {
            let _ = timeout(DYING, written).await;
        } else {
            let _ = self.ends.until(written).await;
        }
    }
}

/// The outcome of the run; explains a failure.
fn outcome_of(ended: Option<RunOutcome>, said: &mut Said) -> Outcome {
    match ended {
        Some(RunOutcome::Done) => return Outcome::Done,
        Some(RunOutcome::Truncated) => said.fail(
            "the answer reached the output limit and is cut off\nAsk for a shorter answer, or raise models.max_output in config.toml",
        ),
        Some(RunOutcome::Failed { message }) => said.fail(&message),
        Some(RunOutcome::LimitReached { limit }) => said.fail(&format!(
            "Max iterations ({limit}) exceeded\nAllow more with --max-iterations N (0 means no limit)"
        )),
        Some(RunOutcome::BudgetReached(reached)) => {
            let flag = match reached.limit {
                BudgetLimit::Usd(_) => "--budget-usd",
                BudgetLimit::Tokens(_) => "--budget-tokens",
            };
            said.fail(&format!(
                "{reached}\nAllow more with {flag} N (0 means no limit)"
            ));
        }
        Some(RunOutcome::Aborted) | None => {}
    }
    Outcome::Failed
}

async fn at(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
