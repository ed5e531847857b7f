//! The commands about sessions.

use super::open::open;
use crate::app::action::Action;
use crate::app::sessions::Choice;
use crate::app::tui::app::App;
use crate::app::tui::effects::effect::Effect;
use crate::app::tui::popups::sessions;

pub fn act(app: &mut App, action: Action, words: &str) -> Vec<Effect> {
    let Some(session) = &app.status.session else {
        return app.say("This run isn't stored, so it has no sessions");
    };
    match action {
        Action::Resume => sessions::open(app, words),
        Action::CloneSession if session.title.is_empty() => app.say("Nothing to copy yet"),
        Action::CloneSession => {
            let file = session.file.clone();
            open(app, Choice::Clone(file))
        }
        _ => open(app, Choice::New),
    }
}
