//! Checks for actions that aren't possible right now; they tell the user why.

use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::effects::effect::Effect;

/// Refuses a slash command: says why, and writes it back to correct it, unless the user types already.
pub fn command(app: &mut App, typed: &str, why: impl Into<String>) -> Vec<Effect> {
    if app.composer.is_empty() {
        app.composer.set(typed);
        app.composer.select_all();
    }
    app.say_for(why, 6000)
}

/// Whether the agent is working; if so, tells the user.
pub fn is_busy(app: &mut App) -> bool {
    if app.is_running() {
        let stop = app.key(Action::Cancel);
        app.say(format!("The agent is still working; {stop} stops it"));
    }
    app.is_running()
}

/// Whether the session is read-only; if so, tells the user.
pub fn is_read_only(app: &mut App) -> bool {
    let is_read_only = app.is_read_only();
    if is_read_only {
        app.say("This session is open read-only");
    }
    is_read_only
}

/// Whether the agent has stopped; if so, tells the user.
pub fn is_gone(app: &mut App) -> bool {
    if app.agent_gone {
        app.say("The agent has stopped: quit and start tiller again");
    }
    app.agent_gone
}
