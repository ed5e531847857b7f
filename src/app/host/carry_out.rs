//! What the agent is doing, and commands that it answers with events.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::mpsc;

use super::Host;
use crate::agent::trial::Kept;
use crate::agent::{
    AgentEvent, AgentHandle, CompactionOutcome, CompactionReason, Event, NoticeLevel, RunState,
    SlowReader, Snapshot, TrialEvent,
};
use crate::app::humanize::{plural, short};

/// Files named after a trial.
const NAMED: usize = 8;

impl Host {
    /// The agent's state.
    ///
    /// # Errors
    /// Fails once the agent has ended.
    pub async fn snapshot(&self) -> Result<Snapshot, String> {
        let snapshot = self.handle.snapshot().await;
        snapshot.ok_or_else(|| "The agent has stopped".to_owned())
    }

    /// The file of the session.
    ///
    /// # Errors
    /// Fails if the session isn't saved.
    pub async fn session_file(&self) -> Result<PathBuf, String> {
        let path = self.snapshot().await?.session.path;
        path.ok_or_else(|| "The session isn't saved (--no-session), so it has no file".to_owned())
    }

    /// Sends a command to the agent and waits until it is carried out. Returns what the agent said.
    ///
    /// # Errors
    /// Returns why the agent refused it or failed.
    pub async fn carry_out(&self, send: impl FnOnce(&AgentHandle)) -> Result<String, String> {
        let events = self.handle.subscribe(SlowReader::Drop);
        // A run that was already active isn't the command's.
        let was_idle = self.snapshot().await?.state == RunState::Idle;
        send(&self.handle);
        // The agent answers in order: if the command started something, that is running now.
        let is_idle = self.snapshot().await?.state == RunState::Idle;
        said(events, was_idle && !is_idle).await
    }

    /// Compacts the conversation, after the current run if there is one. Returns what the agent said.
    ///
    /// # Errors
    /// Returns why it failed.
    pub async fn compact(&self, focus: Option<String>) -> Result<String, String> {
        let events = self.handle.subscribe(SlowReader::Drop);
        self.handle.compact(focus);
        let is_idle = self.snapshot().await?.state == RunState::Idle;
        said(events, !is_idle).await
    }
}

/// What the agent has said, or with `waits` what it says until it is idle.
async fn said(mut events: mpsc::Receiver<Arc<Event>>, waits: bool) -> Result<String, String> {
    let mut said = Vec::new();
    loop {
        let event = if waits {
            events.recv().await
        } else {
            events.try_recv().ok()
        };
        let Some(event) = event else { break };
        match &event.kind {
            AgentEvent::Notice { level, text } => match level {
                NoticeLevel::Info | NoticeLevel::Warning => said.push(text.clone()),
                NoticeLevel::Refusal | NoticeLevel::Error => return Err(text.clone()),
            },
            AgentEvent::Trial(TrialEvent::Kept(kept)) => {
                said.push(kept_trial(kept, None));
            }
            AgentEvent::Trial(TrialEvent::Discarded) => {
                said.push("Trial discarded".to_owned());
            }
            AgentEvent::CompactionEnd {
                reason: CompactionReason::Manual,
                outcome,
            } => {
                return match outcome {
                    CompactionOutcome::Done {
                        tokens_before,
                        tokens_after,
                        ..
                    } => {
                        let (before, after) = (short(*tokens_before), short(*tokens_after));
                        Ok(format!("Compacted: {before} tokens became {after}"))
                    }
                    CompactionOutcome::Failed { message } => Err(message.clone()),
                    CompactionOutcome::Aborted => Err("Compaction cancelled".to_owned()),
                };
            }
            AgentEvent::AgentSettled { .. } => break,
            _ => {}
        }
    }
    Ok(said.join("\n"))
}

/// Says what keeping a trial changed in the folder `root`.
pub fn kept_trial(kept: &Kept, root: Option<&str>) -> String {
    let ignored = &kept.ignored.copied;
    let place = root.map_or(String::new(), |root| format!(" in {root}"));
    let mut said = Vec::new();
    if !kept.changed.is_empty() {
        let files = plural(kept.changed.len() as u64, "file", "files");
        let merged = match kept.merged {
            0 => String::new(),
            merged => format!(", {merged} merged with your changes"),
        };
        let names = names(kept.changed.iter().map(|changed| &*changed.path));
        said.push(format!("{files} changed{place}{merged}: {names}"));
    }
    if !ignored.is_empty() {
        let files = plural(ignored.len() as u64, "new file", "new files");
        let names = names(ignored.iter().map(PathBuf::as_path));
        said.push(format!("{files} that git ignores: {names}"));
    }
    if said.is_empty() {
        return "Trial kept; it changed no files".to_owned();
    }
    format!("Trial kept: {}", said.join("\n"))
}

fn names<'p>(paths: impl ExactSizeIterator<Item = &'p Path>) -> String {
    let more = match paths.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let names = paths.take(NAMED).map(|path| {
        let path = path.to_string_lossy();
        path.replace(char::is_control, "\u{fffd}")
    });
    format!("{}{more}", names.collect::<Vec<_>>().join(", "))
}
