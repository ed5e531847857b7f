//! Going on with another session: what was asked for, and the conversation that takes the place of the
//! one before.

use crate::agent::NoticeLevel;
use crate::app::action::Action;
use crate::app::outcome::StartError;
use crate::app::sessions::{Choice, Refused};
use crate::app::tui::app::App;
use crate::app::tui::effect::Effect;
use crate::app::tui::session_effect::SessionEffect;

/// How long a refusal stays, in milliseconds.
pub(super) const SAY_MS: i64 = 4000;

/// Opens what was chosen, when nothing is under way.
pub(super) fn open(app: &mut App, choice: Choice) -> Vec<Effect> {
    if app.is_running() {
        let stop = app.key(Action::Cancel);
        app.say(format!("A run is under way; {stop} stops it"), SAY_MS);
        return Vec::new();
    }
    vec![Effect::Session(SessionEffect::Open(choice))]
}

/// Another session is being opened, or not.
pub(super) fn opened(app: &mut App, opened: Result<Vec<String>, Refused>) {
    match opened {
        Ok(notices) => {
            for notice in notices {
                app.transcript.push_notice(NoticeLevel::Warning, notice);
            }
        }
        Err(refused) => {
            let error = StartError::from(refused).message;
            app.transcript.push_notice(NoticeLevel::Error, error);
        }
    }
}
