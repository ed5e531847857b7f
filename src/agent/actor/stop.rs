//! How an abort and a shutdown stop the run. The run ends later, in its own time.

use tokio::sync::oneshot;

use super::activity::Activity;
use super::task::Actor;
use crate::event::RunId;

impl Actor {
    /// Aborts everything that runs, including a run that started after the one that the handle has
    /// `cancelled`: it was requested before this abort was sent.
    pub(super) fn abort(&mut self, cancelled: bool, by: u64) {
        self.current.stopped_by(by);
        match std::mem::take(&mut self.activity) {
            Activity::Running(mut run) => {
                tracing::info!("run aborted");
                self.drop_compaction();
                // A run that changes the user's files must report what it did.
                run.cancel(!run.silent);
                let next = Vec::new();
                self.activity = Activity::Ending { run, next };
            }
            other => {
                let again = !cancelled || matches!(other, Activity::Ending { .. });
                self.activity = other;
                if self.activity.run().is_none() {
                    self.show_state();
                }
                if again {
                    self.processes.kill_all();
                    self.recall_next();
                }
            }
        }
    }

    /// Aborts only this run, which may be the next one.
    pub(super) fn abort_run(&mut self, number: RunId, by: u64) {
        match &mut self.activity {
            Activity::Running(_) if self.current.is(number) => self.abort(true, by),
            Activity::Ending { run, .. } if self.current.next() == number => {
                run.stops_next = Some(by);
            }
            _ => {}
        }
    }

    pub(super) fn shut_down(&mut self, done: Option<oneshot::Sender<Option<String>>>) {
        self.recall_next();
        let mut run = self.activity.take_run().map(|(run, _)| run);
        if let Some(run) = &mut run {
            run.cancel(true);
        }
        self.activity = Activity::Leaving { run, done };
    }
}
