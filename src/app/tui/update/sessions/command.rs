//! The commands about sessions.

use super::list;
use super::open::open;
use crate::app::action::Action;
use crate::app::sessions::Choice;
use crate::app::tui::app::App;
use crate::app::tui::effect::Effect;
use crate::app::tui::update::refusal::is_read_only;

pub fn act(app: &mut App, action: Action, argument: &str) -> Vec<Effect> {
    if action == Action::NameSession && is_read_only(app) {
        return Vec::new();
    }
    let Some(session) = &mut app.status.session else {
        return app.say("This run isn't stored, so it has no sessions");
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
        Action::CloneSession if session.title.is_empty() => app.say("Nothing to copy yet"),
        Action::CloneSession => {
            let file = session.file.clone();
            open(app, Choice::Clone(file))
        }
        _ => open(app, Choice::New),
    }
}
