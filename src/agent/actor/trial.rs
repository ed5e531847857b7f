//! The actor's part of a trial: starts one when nothing else runs, works in its folder while it is
//! open, and goes back when it ends. Touches none of its files.

use std::path::Path;
use std::sync::Arc;

use super::activity::{Activity, Typed};
use super::conversation::Conversation;
use super::task::Actor;
use crate::event::{AgentEvent, QueueKind, TrialEvent};
use crate::handle::TrialCommand;
use crate::runner::{TrialReport, cover_home, discard, keep, try_out};
use crate::session::{NodeId, TrialState, open_trial, trial_entry};
use crate::trial::{Kept, Trial};
use tiller_llm::Content;

/// Most files named to the model.
const NAMED: usize = 10;

impl Actor {
    pub(super) fn on_trial(&mut self, command: TrialCommand) {
        match command {
            TrialCommand::Begin(content, by) => self.begin_trial(content, by),
            TrialCommand::Keep => self.end_trial(true),
            TrialCommand::Discard => self.end_trial(false),
        }
    }

    fn begin_trial(&mut self, content: Vec<Content>, by: u64) {
        let typed = Typed::here(QueueKind::Trial, content);
        let idle = matches!(self.activity, Activity::Idle);
        let refused = match &self.trials {
            _ if self.env.trial.is_some() => {
                "A trial is already open. End it first: /keep or /discard"
            }
            _ if !idle => "Stop the run first (Esc), then start a trial",
            None => "Trials need a saved session: start tiller without --no-session",
            Some(trials) => {
                let (trials, cwd) = (trials.clone(), self.env.home.clone());
                let session = self.conversation.session.path();
                let session = session.unwrap_or(Path::new("")).to_owned();
                let queued = self.keep(typed);
                self.queues.push_opening(queued);
                self.start_for(by, true, |link| async move {
                    try_out(&link, trials, cwd, session).await
                });
                return;
            }
        };
        self.conversation.refuse(refused);
        let back = self.queues.number(typed);
        self.give_back(vec![back], by);
        self.show_state();
    }

    fn end_trial(&mut self, keeps: bool) {
        let Some(trial) = self.env.trial.clone() else {
            return (self.conversation).refuse("No trial is open. /try PROMPT starts one");
        };
        if !matches!(self.activity, Activity::Idle) {
            return (self.conversation).refuse("Stop the run first (Esc), then end the trial");
        }
        // Processes from its runs must stop writing.
        self.processes.stop_all();
        let processes = self.processes.clone();
        if let Some(undo) = self.env.undo.as_ref().filter(|_| keeps) {
            undo.prompt(self.conversation.session.id(), "/keep");
        }
        self.start(true, |link| async move {
            if keeps {
                cover_home(&link).await;
                keep(&link, trial, processes).await
            } else {
                discard(&link, trial, processes).await
            }
        });
    }

    pub(super) fn on_trial_report(&mut self, report: TrialReport) {
        match report {
            TrialReport::Begun(started, reply) => {
                let Ok(run) = self.activity.live_run() else {
                    return;
                };
                run.silent = false;
                let trial = Arc::new(started.trial);
                self.conversation.note_trial(&trial, TrialState::Open);
                self.work_in(Some(Arc::clone(&trial)));
                self.conversation.tell_of_place(told(&trial));
                let opening = self.conversation.opening(&self.model, &self.toolbox);
                let _ = reply.send((Arc::clone(&self.env), opening));
            }
            TrialReport::Ended(kept, reply) => {
                if let Some(trial) = self.env.trial.clone() {
                    self.note_end(&trial, kept);
                }
                let _ = reply.send(());
            }
        }
    }

    /// Records that `trial` has ended. If nothing was kept, rewinds the conversation to before it.
    fn note_end(&mut self, trial: &Trial, kept: Option<Kept>) {
        let Some(kept) = kept else {
            let opened = open_trial(&self.conversation.session).map(|(_, opened)| opened);
            let tree = self.conversation.session.tree();
            let before = opened.and_then(|opened| tree.node(opened).parent);
            // The order matters: if tiller is killed in between, the trial is still open.
            self.move_to(before, None);
            self.conversation.note_trial(trial, TrialState::Discarded);
            (self.conversation).send(AgentEvent::Trial(TrialEvent::Discarded));
            return self.work_in(None);
        };
        self.conversation.note_trial(trial, TrialState::Kept);
        let left = kept
            .ignored
            .left
            .iter()
            .map(|it| format!(" Not kept: {it}."));
        let left: String = left.take(NAMED).collect();
        (self.conversation).send(AgentEvent::Trial(TrialEvent::Kept(kept)));
        self.work_in(None);
        let root = trial.root.display();
        self.conversation.tell_of_place(format!(
            "[The user kept the trial: its changes are now in {root}, and its worktree is gone.{left}]"
        ));
    }

    pub(super) fn resume_trial(&mut self) {
        let open = open_trial(&self.conversation.session);
        self.work_in(open.map(|(trial, _)| Arc::new(trial)));
    }

    /// Switches to the folder of `trial`, or back to the session's folder.
    pub(super) fn work_in(&mut self, trial: Option<Arc<Trial>>) {
        self.env = Arc::new(self.env.with_trial(trial));
        self.conversation.prompts.place.clone_from(&self.env.cwd);
        self.show_trial();
    }

    pub(super) fn show_trial(&mut self) {
        if let Some(trial) = &self.env.trial {
            let open = TrialEvent::Open(Arc::clone(trial));
            self.conversation.send(AgentEvent::Trial(open));
        }
    }
}

impl Conversation {
    /// Returns `true` if a conversation that continues from `target` is outside the open trial.
    pub fn leaves_trial(&self, target: Option<NodeId>) -> bool {
        let Some((_, opened)) = open_trial(&self.session) else {
            return false;
        };
        let tree = self.session.tree();
        let inside = |target| tree.ancestors(target).any(|node| node == opened);
        !target.is_some_and(inside)
    }

    fn note_trial(&mut self, trial: &Trial, state: TrialState) {
        self.store(trial_entry(&self.session, trial, state));
    }
}

pub(super) fn told(trial: &Trial) -> String {
    let (root, tree) = (trial.root.display(), trial.tree.display());
    format!(
        "[This is a trial. You work on a copy of {root} in a git worktree at {tree}: use paths below it. \
         Change nothing below {root}. The copy lacks files that git ignores. If the user keeps the trial, tiller copies changed files to \
         {root}; otherwise it discards them. tiller keeps only files: make no commits, branches or \
         stashes.]"
    )
}
