//! Trials as a session remembers them: an entry when one begins, below the entry that a discard goes
//! back to, and another when it ends.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::entry::{Body, Kind};
use super::kind::TRIAL;
use super::store::Session;
use super::tree::NodeId;
use crate::agent::trial::{Trial, recover, remove};

#[derive(Serialize, Deserialize)]
struct Entry {
    state: State,
    /// The session it began in. A copy of that has no part in it.
    session: String,
    trial: Trial,
}

/// What became of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::agent) enum State {
    Open,
    /// It has ended, and its changes are in the user's files.
    Kept,
    /// It has ended, and the conversation goes on from before it.
    Discarded,
    /// Its files are gone.
    Lost,
}

/// Makes the trial that is open in `session` ready to go on, and takes back a keep that was killed.
/// Removes what is left of one that has ended. Returns what the user should read. Blocks.
///
/// A session file may come from anywhere: only what is below `trials` is a trial, and only as its own
/// record has it. A session that is only read may be open elsewhere, where its trial is being kept.
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

/// The trial that is open in `session`, and its entry. In one that is only read none is: it belongs to
/// whoever writes there.
pub(in crate::agent) fn open_trial(session: &Session) -> Option<(Trial, NodeId)> {
    if session.is_read_only() {
        return None;
    }
    let (state, trial, entry) = last_trial(session)?;
    (state == State::Open).then_some((trial, entry))
}

pub(in crate::agent) fn trial_entry(session: &Session, trial: &Trial, state: State) -> Body {
    let entry = Entry {
        state,
        session: session.id().to_owned(),
        trial: trial.clone(),
    };
    // A path that is no text was refused when the trial began.
    Body::custom(TRIAL, entry)
}

/// What the session says last about a trial of its own.
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
