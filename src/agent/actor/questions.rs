//! Questions that calls of the run are waiting on. The screen shows the oldest one first, but they
//! can be answered in any order.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::activity::Typed;
use super::task::Actor;
use crate::event::{AgentEvent, Phase, QueueKind, RunState};
use crate::permission::Rule;
use crate::question::{Answer, Asked, Asker, Question};
use crate::session::Body;
use tiller_llm::Content;

pub(super) struct Questions {
    pub asker: Asker,
    asked: mpsc::UnboundedReceiver<Asked>,
    pub has_user: bool,
    pub list: Vec<(Arc<Question>, oneshot::Sender<Answer>)>,
    /// What the run waits for besides the answers.
    pub phase: Option<Phase>,
}

impl Questions {
    pub fn new(has_user: bool) -> Self {
        let (asker, asked) = Asker::new();
        Self {
            asker,
            asked,
            has_user,
            list: Vec::new(),
            phase: None,
        }
    }

    /// Waits for the next question, or the end of one, from a call.
    pub async fn next(&mut self) -> Option<Asked> {
        self.asked.recv().await
    }

    pub fn open(&self) -> Vec<Arc<Question>> {
        let questions = self.list.iter().map(|(question, _)| Arc::clone(question));
        questions.collect()
    }
}

impl Actor {
    pub(super) fn on_asked(&mut self, asked: Option<Asked>) {
        match asked {
            // A question from a run that has ended gets no answer.
            Some(Asked::Put(question, reply)) => {
                let waits = self.activity.live_run().is_ok() && self.questions.has_user;
                if waits && !reply.is_closed() {
                    if !question.has_run() {
                        let body = Body::of_question(&question.call_id, false);
                        self.conversation.store(body);
                    }
                    self.questions.list.push((question, reply));
                    self.show_questions();
                } else if !self.questions.has_user {
                    self.conversation.send(AgentEvent::Refused(question));
                }
            }
            Some(Asked::Withdrawn(id)) => self.close(|question| question.id == id),
            None => {}
        }
    }

    /// Sends `answer` to the call that waits with the question `id`. If it no longer waits, the
    /// typed text goes back to the client `by`.
    pub(super) fn answer(&mut self, id: u64, answer: Answer, by: u64) {
        let mut open = self.questions.list.iter();
        let Some(place) = open.position(|(question, _)| question.id == id) else {
            return self.return_answer(answer, by);
        };
        if self.questions.list[place].1.is_closed() {
            self.return_answer(answer, by);
            self.questions.list.remove(place);
            return self.show_questions();
        }
        let (question, reply) = self.questions.list.remove(place);
        self.note_answer(&question);
        if let Answer::Allow { rules } = &answer
            && !rules.is_empty()
        {
            self.add_rules(rules);
            self.allow_others(rules);
        }
        if let Err(answer) = reply.send(answer) {
            self.return_answer(answer, by);
        }
        self.show_questions();
    }

    fn return_answer(&mut self, answer: Answer, by: u64) {
        if let Answer::Reply(text) | Answer::Refuse { reason: Some(text) } = answer {
            let typed = Typed::here(QueueKind::Steering, vec![Content::text(text)]);
            let back = self.queues.number(typed);
            self.give_back(vec![back], by);
        }
    }

    /// Answers the questions that the new `rules` would have prevented.
    fn allow_others(&mut self, rules: &[Rule]) {
        let open = std::mem::take(&mut self.questions.list);
        for (question, reply) in open {
            if question.is_answered_by(rules) {
                self.note_answer(&question);
                let _ = reply.send(Answer::once());
            } else {
                self.questions.list.push((question, reply));
            }
        }
    }

    /// Otherwise a session that is cut off would claim that the call hadn't run.
    fn note_answer(&mut self, question: &Question) {
        let body = Body::of_question(&question.call_id, true);
        self.conversation.store(body);
    }

    pub(super) fn close(&mut self, ends: impl Fn(&Question) -> bool) {
        let before = self.questions.list.len();
        self.questions.list.retain(|(question, _)| !ends(question));
        if self.questions.list.len() < before {
            self.show_questions();
        }
    }

    /// Changes what the run waits for. While a question is open, it waits for the answer first.
    pub(super) fn enter_phase(&mut self, phase: Phase) {
        if self.questions.list.is_empty() {
            self.enter(RunState::Running { phase });
        } else {
            self.questions.phase = Some(phase);
        }
    }

    fn show_questions(&mut self) {
        let open = self.questions.open();
        let asking = !open.is_empty();
        self.conversation.send(AgentEvent::Questions { open });
        match &self.state {
            RunState::Running { phase } if asking && *phase != Phase::Asking => {
                self.questions.phase = Some(phase.clone());
                self.enter(RunState::Running {
                    phase: Phase::Asking,
                });
            }
            RunState::Running { .. } if !asking => {
                if let Some(phase) = self.questions.phase.take() {
                    self.enter(RunState::Running { phase });
                }
            }
            _ => {}
        }
    }
}
