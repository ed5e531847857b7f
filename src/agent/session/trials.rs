//! Trials as stored in a session: an entry when one begins, after the entry that discarding returns
//! to, and another when it ends.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::entry::{Body, Kind};
use super::kind::TRIAL;
use super::store::Session;
use super::tree::NodeId;
use crate::trial::{Trial, recover, remove};

#[derive(Serialize, Deserialize)]
struct Entry {
    state: State,
    /// The session it began in. Copies of that session ignore the trial.
    session: String,
    trial: Trial,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum State {
    Open,
    /// Ended; its changes are in the user's files.
    Kept,
    /// Ended; the conversation continues from before it.
    Discarded,
    /// Its files are gone.
    Lost,
}

/// Reopens the session's trial and reverts an interrupted keep. Cleans up after a trial that has
/// ended. Returns notices for the user. Blocks.
///
/// Session files are untrusted: only folders in `trials` with matching records are trials. A
/// read-only session may be open elsewhere, where its trial is being kept.
pub fn ready_trial(session: &mut Session, trials: &Path) -> Option<String> {
    if session.is_read_only() {
        return None;
    }
    let (state, trial, _) = last_trial(session)?;
    let is_recorded = trial.is_recorded(trials);
    let lost = match state {
        State::Open => !is_recorded || !trial.is_there(),
        _ if !is_recorded => return None,
        State::Kept | State::Discarded | State::Lost => {
            let error = remove(&trial).err()?;
            return Some(format!(
                "Couldn't remove all files of an ended trial: {error}"
            ));
        }
    };
    if lost {
        let text = format!(
            "A trial was open here, but its files in {} are gone. The session continues in {}",
            trial.tree.display(),
            trial.cwd.display()
        );
        session.append(trial_entry(session, &trial, State::Lost));
        return Some(text);
    }
    match recover(&trial) {
        Ok(false) => None,
        Ok(true) => Some(format!(
            "/keep was interrupted; the files in {} are unchanged",
            trial.root.display()
        )),
        Err(error) => Some(format!(
            "/keep was interrupted, and tiller couldn't revert it: {error}"
        )),
    }
}

/// The open trial of `session`, and its entry. A read-only session's trial is the writer's.
pub(crate) fn open_trial(session: &Session) -> Option<(Trial, NodeId)> {
    if session.is_read_only() {
        return None;
    }
    let (state, trial, entry) = last_trial(session)?;
    (state == State::Open).then_some((trial, entry))
}

pub(crate) fn trial_entry(session: &Session, trial: &Trial, state: State) -> Body {
    let entry = Entry {
        state,
        session: session.id().to_owned(),
        trial: trial.clone(),
    };
    // Paths that aren't UTF-8 were refused when the trial began.
    Body::custom(TRIAL, entry)
}

/// The last entry of this session about its own trial.
fn last_trial(session: &Session) -> Option<(State, Trial, NodeId)> {
    let tree = session.tree();
    let about_trials = |node: &NodeId| tree.node(*node).kind == Kind::Trial;
    let last = tree.nodes().filter(about_trials).last()?;
    let Body::Custom { data, .. } = &*session.load(last).ok()? else {
        return None;
    };
    let entry: Entry = serde_json::from_value(data.clone()).ok()?;
    let own = entry.session == session.id();
    own.then_some((entry.state, entry.trial, last))
}
