//! Routes results about stored sessions to the module that asked.

use super::open;
use crate::app::tui::app::App;
use crate::app::tui::effects::effect::Effect;
use crate::app::tui::effects::session_effect::SessionResult;
use crate::app::tui::popups::{sessions as list, status};

pub fn done(app: &mut App, result: SessionResult) -> Vec<Effect> {
    match result {
        SessionResult::List(scope, rows) => list::listed(app, scope, rows),
        SessionResult::Recent(recent) => open::recent(app, recent),
        SessionResult::Found(query, found, search) => list::found(app, &query, found, search),
        SessionResult::Preview(path, facts) => list::previewed(app, path, facts),
        SessionResult::Facts(facts) => status::read(app, |it| it.facts = Some(facts)),
        SessionResult::States(states) => list::states(app, &states),
        SessionResult::Renamed(path, name, renamed) => list::renamed(app, &path, &name, renamed),
        SessionResult::Removed(path, removed) => list::removed(app, &path, removed),
        SessionResult::Opened(opened) => open::opened(app, opened),
        SessionResult::NotOpened(error) => open::not_opened(app, error),
    }
    Vec::new()
}
