//! Going on with another session: the list, what is chosen, and the conversation that takes the place
//! of the one before.

use crate::agent::NoticeLevel;
use crate::app::action::Action;
use crate::app::outcome::StartError;
use crate::app::sessions::{Choice, Refused, SessionRow, SessionScope};
use crate::app::tui::app::App;
use crate::app::tui::effect::Effect;
use crate::app::tui::overlay::{Overlay, SessionPicker};

/// How long a refusal stays, in milliseconds.
const SAY_MS: i64 = 4000;

/// Does what an action about sessions means.
pub fn act(app: &mut App, action: Action, argument: &str) -> Vec<Effect> {
    let Some(session) = &mut app.status.session else {
        app.say(
            "Nothing is stored in this run: there are no sessions",
            SAY_MS,
        );
        return Vec::new();
    };
    match action {
        Action::Resume => {
            app.overlays
                .push(Overlay::Sessions(SessionPicker::default()));
            vec![Effect::ListSessions(SessionScope::Folder)]
        }
        Action::NameSession => {
            session.name = (!argument.is_empty()).then(|| argument.to_owned());
            vec![Effect::NameSession(argument.to_owned())]
        }
        Action::Export => {
            let (file, argument) = (session.file.clone(), argument.to_owned());
            app.say("Exporting …", SAY_MS);
            vec![Effect::Export(file, argument)]
        }
        _ => open(app, Choice::New),
    }
}

/// The sessions were read.
pub fn listed(app: &mut App, rows: Result<Vec<SessionRow>, String>) {
    let rows = match rows {
        Ok(rows) => rows,
        Err(error) => {
            app.overlays
                .retain(|it| !matches!(it, Overlay::Sessions(_)));
            let text = format!("The sessions cannot be read: {error}");
            return app.transcript.push_notice(NoticeLevel::Error, text);
        }
    };
    let own = app.status.session.as_ref().map(|session| &session.file);
    let others = rows.into_iter().filter(|row| Some(&row.path) != own);
    if let Some(Overlay::Sessions(sessions)) = app.overlays.last_mut() {
        sessions.rows = Some(others.collect());
        sessions.search();
    }
}

/// Takes the chosen session.
pub fn choose(app: &mut App, sessions: &SessionPicker) -> Vec<Effect> {
    match sessions.chosen() {
        Some(row) => open(app, Choice::Open(row.path.clone())),
        None => Vec::new(),
    }
}

fn open(app: &mut App, choice: Choice) -> Vec<Effect> {
    if app.is_running() {
        let stop = app.key(Action::Cancel);
        app.say(format!("A run is under way; {stop} stops it"), SAY_MS);
        return Vec::new();
    }
    vec![Effect::OpenSession(choice)]
}

/// Another session is being opened, or not.
pub fn opened(app: &mut App, opened: Result<Vec<String>, Refused>) {
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
