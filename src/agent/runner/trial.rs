//! The runs that begin and end a trial. `agent::trial` does the work on the files; this module runs
//! it on blocking threads and reports it.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::task::spawn_blocking;

use super::link::RunLink;
use super::run::run;
use crate::event::{NoticeLevel, Phase, RunOutcome, TrialStep};
use crate::paths::{name_some, readable};
use crate::process::Processes;
use crate::trial::{self, Obstacle, Trial, TrialError};

/// Most files named in a notice.
const NAMED: usize = 5;

/// Begins a trial of the folder `cwd` in a folder below `trials`, for the session in the given file, and
/// answers the user in it. If it can't begin, the run ends as if it was stopped, and the user's message
/// goes back to them.
pub(crate) async fn try_out(
    link: &RunLink,
    trials: PathBuf,
    cwd: PathBuf,
    session: PathBuf,
) -> RunOutcome {
    link.phase(Phase::Trial(TrialStep::Begin)).await;
    let cancel = link.cancellation();
    let mut starting = tokio::spawn(blocking(move || {
        trial::begin(&trials, &cwd, &session, &cancel)
    }));
    let Some(started) = link.unless_cancelled(&mut starting).await else {
        tokio::spawn(async move {
            if let Ok(Ok(started)) = starting.await {
                let _ = blocking(move || trial::remove(&started.trial)).await;
            }
        });
        return RunOutcome::Aborted;
    };
    let started = started.unwrap_or_else(|error| Err(TrialError::Internal(error.to_string())));
    let started = match started {
        Ok(started) => started,
        Err(error) => {
            if !matches!(error, TrialError::Cancelled) {
                let text = format!("Can't start a trial: {error}");
                link.notice(NoticeLevel::Error, text).await;
            }
            return RunOutcome::Aborted;
        }
    };
    let (trial, left_out) = (started.trial.clone(), started.left_out.clone());
    let Some((env, opening)) = link.begin_trial(started).await else {
        let _ = blocking(move || trial::remove(&trial)).await;
        return RunOutcome::Aborted;
    };
    if !left_out.is_empty() {
        let names: Vec<String> = left_out.iter().map(|it| it.display().to_string()).collect();
        let names = name_some(&names, NAMED);
        let text = format!("The trial lacks files that tiller can't read: {names}");
        link.notice(NoticeLevel::Warning, text).await;
    }
    if let Ok(Some(path)) = blocking(move || Ok(trial::not_copied(&trial))).await {
        let text = format!(
            "Files that git ignores, such as {}, aren't in the copy",
            readable(path.as_os_str())
        );
        link.notice(NoticeLevel::Info, text).await;
    }
    run(&link.working_with(env), opening).await
}

/// Applies the changes of `trial` and ends it, once `processes` have ended.
pub(crate) async fn keep(link: &RunLink, trial: Arc<Trial>, processes: Processes) -> RunOutcome {
    link.phase(Phase::Trial(TrialStep::Keep)).await;
    if link.unless_cancelled(processes.empty()).await.is_none() {
        return RunOutcome::Aborted;
    }
    let cancel = link.cancellation();
    let kept = {
        let trial = Arc::clone(&trial);
        blocking(move || trial::keep(&trial, &cancel)).await
    };
    match kept {
        Ok(kept) => {
            let left = kept.ignored.left.clone();
            link.end_trial(Some(kept)).await;
            if left.is_empty() {
                tell_left(link, blocking(move || trial::remove(&trial)).await).await;
            } else {
                set_aside(link, trial, &left).await;
            }
            RunOutcome::Done
        }
        Err(TrialError::Cancelled) => RunOutcome::Aborted,
        Err(error) => {
            let more = match error {
                TrialError::Conflicts(_) => format!(
                    "\n\
                     The trial stays open. Make these files match {} (or ask the model to), then /keep \
                     again. /discard drops the trial.",
                    trial.tree.display()
                ),
                _ => String::from("\nThe trial stays open. To try again: /keep"),
            };
            let text = format!("Can't keep the trial: {error}{more}");
            link.notice(NoticeLevel::Error, text).await;
            RunOutcome::Done
        }
    }
}

/// Ends `trial` without its changes, once `processes` have ended.
pub(crate) async fn discard(link: &RunLink, trial: Arc<Trial>, processes: Processes) -> RunOutcome {
    link.phase(Phase::Trial(TrialStep::Discard)).await;
    if link.unless_cancelled(processes.empty()).await.is_none() {
        return RunOutcome::Aborted;
    }
    // Nothing of a killed keep may remain.
    let recovered = {
        let trial = Arc::clone(&trial);
        blocking(move || trial::recover(&trial)).await
    };
    if let Err(error) = recovered {
        let text = format!("Can't discard the trial: {error}");
        link.notice(NoticeLevel::Error, text).await;
        return RunOutcome::Done;
    }
    link.end_trial(None).await;
    match blocking(move || trial::discard(&trial)).await {
        Ok(kept) => {
            let kept = kept.display();
            let text = format!("Its files stay in {kept} until you discard another trial");
            link.notice(NoticeLevel::Info, text).await;
        }
        error => tell_left(link, error).await,
    }
    RunOutcome::Done
}

/// Keeps the trial's files because it couldn't copy those in `left`.
async fn set_aside(link: &RunLink, trial: Arc<Trial>, left: &[Obstacle]) {
    let names: Vec<String> = left.iter().map(ToString::to_string).collect();
    let names = name_some(&names, NAMED);
    match blocking(move || trial::discard(&trial)).await {
        Ok(kept) => {
            let kept = kept.display();
            let text = format!(
                "Not kept: {names}. The trial's versions stay in {kept} until you discard another trial"
            );
            link.notice(NoticeLevel::Warning, text).await;
        }
        error => {
            let text = format!("Not kept: {names}");
            link.notice(NoticeLevel::Warning, text).await;
            tell_left(link, error).await;
        }
    }
}

async fn tell_left<T>(link: &RunLink, removed: Result<T, TrialError>) {
    if let Err(error) = removed {
        let text =
            format!("The trial has ended, but tiller couldn't remove all its files: {error}");
        link.notice(NoticeLevel::Warning, text).await;
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, TrialError> + Send + 'static,
) -> Result<T, TrialError> {
    spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(TrialError::Internal(error.to_string())))
}
