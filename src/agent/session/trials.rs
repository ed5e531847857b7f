//! Trials as a session remembers them: an entry when one begins, below the entry that a discard goes
//! back to, and another when it ends.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::entry::{Body, Kind};
use super::store::Session;
use super::tree::NodeId;
use crate::agent::trial::{Trial, recover};

/// What an entry says.
#[derive(Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "camelCase")]
enum State {
    /// A trial has begun in this session, not in a copy of it.
    Open {
        session: String,
        trial: Trial,
    },
    /// It has ended.
    Kept {
        id: String,
    },
    Discarded {
        id: String,
    },
    /// Its files are gone.
    Lost {
        id: String,
    },
}

/// Makes the trial that is open in `session` ready to go on: takes a keep back that was killed.
/// Returns what the user should read about it. Blocks.
pub fn ready_trial(session: &mut Session) -> Option<String> {
    let (trial, _) = open_trial(session)?;
    if !trial.is_there() {
        let text = format!(
            "A trial was open here, but its files in {} are gone. The conversation goes on \
                 without them, in {}",
            trial.tree.display(),
            trial.cwd.display()
        );
        let id = trial.id;
        session.append(body(&State::Lost { id }));
        return Some(text);
    }
    match recover(&trial) {
        Ok(false) => None,
        Ok(true) => Some(format!(
            "Keeping the trial was cut short; the files in {} are as they were before",
            trial.root.display()
        )),
        Err(error) => Some(format!(
            "Keeping the trial was cut short, and could not be taken back: {error}"
        )),
    }
}

/// The trial that is open in `session`, and its entry.
pub(in crate::agent) fn open_trial(session: &Session) -> Option<(Trial, NodeId)> {
    let tree = session.tree();
    let about_trials = |node: &NodeId| tree.node(*node).kind == Kind::Trial;
    let last = tree.nodes().filter(about_trials).last()?;
    let Body::Custom { data, .. } = &*session.load(last).ok()? else {
        return None;
    };
    match serde_json::from_value(data.clone()).ok()? {
        State::Open {
            session: own,
            trial,
        } if own == session.id() => Some((trial, last)),
        _ => None,
    }
}

/// The entry that says that `trial` has begun.
pub(in crate::agent) fn opened_entry(session: &Session, trial: &Trial) -> Body {
    body(&State::Open {
        session: session.id().to_owned(),
        trial: trial.clone(),
    })
}

/// The entry that says that a trial has ended.
pub(in crate::agent) fn ended_entry(trial: &Trial, kept: bool) -> Body {
    let id = trial.id.clone();
    body(&if kept {
        State::Kept { id }
    } else {
        State::Discarded { id }
    })
}

fn body(state: &State) -> Body {
    // Plain data; a path that is no text was refused when the trial began.
    Body::trial(serde_json::to_value(state).unwrap_or(Value::Null))
}
