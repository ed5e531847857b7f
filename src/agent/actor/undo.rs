//! The actor's part of undo: names the prompt that causes changes, keeps the turns in the session's
//! tree, and starts an undo when nothing else runs. Touches no files.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::activity::Activity;
use super::conversation::Conversation;
use super::task::Actor;
use crate::event::{AgentEvent, Queued, RunOutcome};
use crate::process::Processes;
use crate::runner::{Undone, rewind, undo_turn};
use crate::session::NodeId;
use crate::session::entry::Kind;
use crate::undo::{Rewind, RewindPoint, Undo, UndoCommand, UndoError};
use tiller_llm::message::content_text;

/// How long a run's processes may keep writing before its turn is closed.
const LAST_WRITES: Duration = Duration::from_secs(5);
/// How long shutdown waits for the turn to be closed.
const LEAVING: Duration = Duration::from_secs(3);

impl Actor {
    /// Attributes changes from now on to these messages.
    pub(super) fn prompt_undo(&self, due: &[Queued]) {
        if let Some(undo) = &self.env.undo
            && let Some(prompt) = due.last()
        {
            let text = content_text(&prompt.content);
            undo.prompt(self.conversation.session.id(), &text);
        }
    }

    /// Closes the turn of a run that ended without doing so, once its processes have ended too,
    /// unless another turn begins.
    pub(super) fn close_undo(&self, processes: Processes) {
        let Some(undo) = self.env.undo.clone().filter(|undo| undo.is_open()) else {
            return;
        };
        let prompt = undo.prompt_number();
        tokio::spawn(async move {
            let _ = timeout(LAST_WRITES, processes.empty()).await;
            let closed = spawn_blocking(move || undo.close_of(prompt)).await;
            if let Ok(Err(error)) = closed {
                tracing::warn!("undo: {error}");
            }
        });
    }

    /// Closes the open turn before the program ends.
    pub(super) async fn settle_undo(&self) {
        if let Some(undo) = self.env.undo.clone().filter(|undo| undo.is_open()) {
            let closed = spawn_blocking(move || undo.close());
            let _ = timeout(LEAVING, closed).await;
        }
    }

    pub(super) fn on_undo(&mut self, command: UndoCommand) {
        let refused = match &self.env.undo {
            _ if !matches!(self.activity, Activity::Idle) => "Stop the run first (Esc), then undo",
            None => "This session doesn't record changes, so /undo isn't available",
            Some(undo) => return self.start_undo(Arc::clone(undo), command),
        };
        let refused = refused.to_owned();
        match command {
            UndoCommand::Preview(_, answer) => drop(answer.send(Err(refused))),
            UndoCommand::Prompts(answer) => drop(answer.send(Err(refused))),
            UndoCommand::PreviewRewind(_, answer) => drop(answer.send(Err(refused))),
            UndoCommand::Go { .. } | UndoCommand::Rewind(..) => self.conversation.refuse(&refused),
        }
    }

    fn start_undo(&mut self, undo: Arc<Undo>, command: UndoCommand) {
        let session = self.conversation.session.id().to_owned();
        let (path, known) = self.conversation.turns();
        let cwd = self.env.cwd.clone();
        let recover = move |undo: &Undo| undo.recover(&session, &path, &known);
        match command {
            UndoCommand::Preview(direction, answer) => {
                answer_with(answer, move || undo.preview(&recover(&undo)?, direction));
            }
            UndoCommand::PreviewRewind(point, answer) => {
                answer_with(answer, move || undo.preview_all(point.turns()));
            }
            UndoCommand::Prompts(answer) => {
                let mut points = self.conversation.rewind_points();
                answer_with(answer, move || {
                    recover(&undo)?;
                    undo.count_files(&mut points)?;
                    Ok(points)
                });
            }
            UndoCommand::Go { direction, turn } => self.start(true, |link| async move {
                match recovered(&undo, recover).await {
                    Ok(path) => undo_turn(&link, undo, path, (direction, turn), &cwd).await,
                    Err(outcome) => outcome,
                }
            }),
            UndoCommand::Rewind(point, Rewind::Conversation) => {
                self.rewind_to(&point.entry);
            }
            // Checked before any file is touched.
            UndoCommand::Rewind(point, Rewind::Both)
                if self.conversation.before(&point.entry).is_none() => {}
            UndoCommand::Rewind(point, what) => {
                let turns = point.turns().to_vec();
                let to = (what == Rewind::Both).then_some(point.entry);
                self.start(true, |link| async move {
                    match recovered(&undo, recover).await {
                        Ok(path) => rewind(&link, undo, path, turns, (to, &cwd)).await,
                        Err(outcome) => outcome,
                    }
                });
            }
        }
    }

    /// Handles a finished undo: tells the model, or rewinds the conversation too.
    pub(super) fn on_undone(&mut self, undone: Undone) {
        let (direction, files) = (undone.direction, undone.files);
        self.conversation
            .send(AgentEvent::FilesUndone { direction, files });
        let goes_back = (undone.to).is_some_and(|entry| self.rewind_to(&entry));
        if let Some(text) = undone.told.filter(|_| !goes_back) {
            self.conversation.note(text);
        }
    }

    /// Rewinds the conversation to just before the prompt `entry`. Returns whether it did.
    fn rewind_to(&mut self, entry: &str) -> bool {
        let Some((target, prompt)) = self.conversation.before(entry) else {
            return false;
        };
        self.move_to(target, prompt);
        true
    }
}

/// Returns the turns of the conversation, after completing an interrupted undo.
async fn recovered(
    undo: &Arc<Undo>,
    recover: impl FnOnce(&Undo) -> Result<Vec<String>, UndoError> + Send + 'static,
) -> Result<Vec<String>, RunOutcome> {
    let undo = Arc::clone(undo);
    let recovered = spawn_blocking(move || recover(&undo).map_err(|error| error.to_string()));
    let recovered = recovered
        .await
        .unwrap_or_else(|error| Err(error.to_string()));
    recovered.map_err(|message| RunOutcome::Failed { message })
}

fn answer_with<T: Send + 'static>(
    answer: oneshot::Sender<Result<T, String>>,
    work: impl FnOnce() -> Result<T, UndoError> + Send + 'static,
) {
    spawn_blocking(move || answer.send(work().map_err(|error| error.to_string())));
}

impl Conversation {
    /// Returns the turns of the conversation, oldest first, and those of the whole session.
    fn turns(&self) -> (Vec<String>, Vec<String>) {
        let tree = self.session.tree();
        let path = tree.leaf_to_root();
        let mut path: Vec<String> = path.filter_map(|node| self.turn_at(node)).collect();
        path.reverse();
        let all = tree.nodes().filter_map(|node| self.turn_at(node));
        (path, all.collect())
    }

    fn turn_at(&self, node: NodeId) -> Option<String> {
        if self.session.tree().node(node).kind != Kind::Undo {
            return None;
        }
        self.session.load(node).ok()?.turn()
    }

    fn rewind_points(&self) -> Vec<RewindPoint> {
        let tree = self.session.tree();
        let (mut prompts, mut turns) = (Vec::new(), Vec::new());
        for node in tree.leaf_to_root() {
            turns.extend(self.turn_at(node));
            if let Some(prompt) = self.prompt_at(node) {
                prompts.push((node, content_text(&prompt), turns.len()));
            }
        }
        turns.reverse();
        let all_turns: Arc<[String]> = turns.into();
        let point = |(node, prompt, turns): (NodeId, String, usize)| RewindPoint {
            entry: tree.id(node).to_owned(),
            prompt,
            all_turns: Arc::clone(&all_turns),
            first: all_turns.len() - turns,
            files: 0,
        };
        prompts.into_iter().rev().map(point).collect()
    }
}
