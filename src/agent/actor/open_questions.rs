//! The questions that are open, and where they come from.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use crate::agent::event::Phase;
use crate::agent::question::{Answer, Asked, Asker, Question};

pub(super) struct Questions {
    pub asker: Asker,
    asked: mpsc::UnboundedReceiver<Asked>,
    pub has_user: bool,
    pub list: Vec<(Arc<Question>, oneshot::Sender<Answer>)>,
    /// What the run waits for beside the answers.
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

    /// What a call has to say about questions. Waits for it.
    pub async fn next(&mut self) -> Option<Asked> {
        self.asked.recv().await
    }

    pub fn open(&self) -> Vec<Arc<Question>> {
        let questions = self.list.iter().map(|(question, _)| Arc::clone(question));
        questions.collect()
    }
}
