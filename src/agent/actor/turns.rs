//! How the actor answers a run that requests its next turn: with the messages that are due and the
//! current settings. Doesn't decide what runs.

use std::sync::Arc;

use super::task::Actor;
use crate::event::{AgentEvent, Phase, RunOutcome, RunState};
use crate::runner::{Change, Step, Turn};
use tiller_llm::Model;

impl Actor {
    pub(super) fn step(&mut self, step: Step) -> Result<Turn, RunOutcome> {
        match step {
            Step::Open(advice) => return self.open_turn(advice),
            Step::Reopen(change) => return self.reopen_turn(change),
            Step::Same => {}
            Step::Compact(summary) => self.put_summary(summary),
            Step::Prune(pruned) => self.conversation.prune(pruned),
        }
        // Adds nothing to the conversation, but a newly chosen model may need its own system prompt.
        let model = Arc::clone(self.asked());
        self.conversation.begin_prompt(&model, &self.toolbox, false);
        self.next_turn()
    }

    fn open_turn(&mut self, advice: Option<String>) -> Result<Turn, RunOutcome> {
        let run = self.activity.live_run()?;
        if self.queues.steering_waits() {
            run.calls = 0;
        }
        run.check_limit(self.rules.max_iterations)?;
        if let Some(reached) = self.env.account.reached() {
            let queued = !self.queues.opening.is_empty() || self.queues.steering_waits();
            if advice.is_some() || queued {
                // The messages are kept, and answered when the user resumes.
                self.deliver(advice);
            }
            return Err(RunOutcome::BudgetReached(reached));
        }
        run.calls += 1;
        let iteration = self.conversation.session.tree().next_iteration();
        self.conversation.send(AgentEvent::TurnStart { iteration });
        self.deliver(advice);
        let mut turn = self.next_turn()?;
        turn.compact = self.compact_next.take();
        Ok(turn)
    }

    fn reopen_turn(&mut self, change: Change) -> Result<Turn, RunOutcome> {
        let run = self.activity.live_run()?;
        if let (Change::Model(model), false) = (&change, run.model_chosen) {
            run.fallback = Some(Arc::clone(model));
        }
        if self.queues.steering_waits() {
            // The repeated call is the first since the user steered.
            run.calls = 1;
        }
        // From here on an impatient user wants the steering queue, not the end of the wait.
        self.enter(RunState::Running {
            phase: Phase::Requesting,
        });
        self.deliver(None);
        if let Change::NoThinking = change {
            let model = Arc::clone(self.asked());
            self.conversation.drop_thinking(&model);
        }
        self.next_turn()
    }

    /// Returns the run's next turn, with the current settings and a new token to cut it short.
    fn next_turn(&mut self) -> Result<Turn, RunOutcome> {
        let model = Arc::clone(self.asked());
        let messages = self.conversation.for_model().to_vec();
        let prompt = self.conversation.prompts.in_force(model.edit_format);
        let prompt = prompt.cloned().ok_or(RunOutcome::Aborted)?;
        let run = self.activity.live_run()?;
        run.interrupt = run.cancel.child_token();
        run.model_chosen = false;
        Ok(Turn {
            interrupt: run.interrupt.clone(),
            messages,
            prompt,
            thinking: self.thinking,
            toolbox: Arc::clone(&self.toolbox),
            rules: Arc::clone(&self.rules),
            compacts: self.rules.compaction.enabled && !self.conversation.session.keeps_whole(),
            compact: None,
            model,
        })
    }

    pub(super) fn asked(&mut self) -> &Arc<Model> {
        let fallback = self.activity.run().and_then(|run| run.fallback.as_ref());
        fallback.unwrap_or(&self.model)
    }

    /// Moves the messages that are due from the queue into the conversation.
    fn deliver(&mut self, advice: Option<String>) {
        let shown = self.queues.steering_waits();
        let due = self.queues.take_for_turn(self.rules.steering_mode);
        if shown {
            self.show_queues();
        }
        self.prompt_undo(&due);
        let model = Arc::clone(self.asked());
        let delivered: Vec<u64> = due.iter().map(|queued| queued.id).collect();
        self.conversation
            .deliver(due, advice, &model, &self.toolbox);
        self.let_go(&delivered);
    }

    pub(super) fn release_follow_ups(&mut self) -> Result<bool, RunOutcome> {
        if !self.queues.follow_up_waits() {
            return Ok(false);
        }
        let run = self.activity.live_run()?;
        run.check_limit(self.rules.max_iterations)?;
        if let Some(reached) = self.env.account.reached() {
            return Err(RunOutcome::BudgetReached(reached));
        }
        self.queues.release_follow_ups(self.rules.follow_up_mode);
        self.show_queues();
        Ok(true)
    }
}
