//! What the commands about sessions come to.

use super::list;
use super::open::{SAY_MS, open};
use crate::app::action::Action;
use crate::app::sessions::Choice;
use crate::app::tui::app::App;
use crate::app::tui::effect::Effect;

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
        Action::Resume => list::open(app),
        Action::NameSession => {
            session.name = (!argument.is_empty()).then(|| argument.to_owned());
            vec![Effect::NameSession(argument.to_owned())]
        }
        Action::Export => {
            let (file, argument) = (session.file.clone(), argument.to_owned());
            vec![Effect::Export(file, argument)]
        }
        _ => open(app, Choice::New),
    }
}
