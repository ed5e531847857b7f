//! Changes the permission mode. The screen shows it before the agent confirms it.

use super::refusal;
use crate::agent::permission::PermissionMode;
use crate::app::action::Action;
use crate::app::commands::permission;
use crate::app::tui::answer_delay::AnswerDelay;
use crate::app::tui::app::App;
use crate::app::tui::effects::effect::Effect;
use crate::app::tui::popups::{Confirm, ConfirmAbout, FullFor, settings};
use crate::app::tui::run_facts::{Proposal, Resume};

pub const SETTING: &str = "permission.mode";

/// Shift+Tab and `/permission`.
pub fn act(app: &mut App, action: Action, argument: &str) -> Vec<Effect> {
    let now = app.status.permission;
    if action == Action::NextPermissionMode {
        // A single key must never lead to `full`.
        let modes = PermissionMode::ALL.into_iter();
        let mut modes = modes.filter(|mode| *mode != PermissionMode::Full);
        let next = modes
            .clone()
            .find(|mode| *mode > now)
            .or_else(|| modes.next());
        return next.map_or_else(Vec::new, |mode| set(app, mode));
    }
    match permission::parse(argument) {
        Ok(None) => app.say_for(permission::shown(now), 5000),
        Ok(Some(PermissionMode::Full)) if now != PermissionMode::Full => {
            ask_full(app, FullFor::Session);
            Vec::new()
        }
        Ok(Some(mode)) => set(app, mode),
        Err(error) => refusal::command(app, &format!("/permission {argument}"), error),
    }
}

pub fn ask_full(app: &mut App, how_long: FullFor) {
    let confirm = Confirm::new(ConfirmAbout::Full(how_long), app.now);
    app.overlays.push(confirm.into());
}

pub fn confirm_full(app: &mut App, how_long: FullFor) -> Vec<Effect> {
    match how_long {
        FullFor::Session => set(app, PermissionMode::Full),
        FullFor::NewSessions => {
            settings::write(app, SETTING.to_owned(), PermissionMode::Full.name().into())
        }
    }
}

/// Shows the mode. Outside plan mode there is no plan to run.
pub fn show(app: &mut App, mode: PermissionMode) {
    let before = std::mem::replace(&mut app.status.permission, mode);
    if before != mode {
        let of_before = [permission::changed(before), permission::shown(before)];
        app.hint.take_if(|hint| of_before.contains(&hint.text));
    }
    if mode != PermissionMode::Plan
        && matches!(app.resume, Some(Resume::Planned(_) | Resume::Listed))
    {
        app.resume = None;
    }
    if !app.is_running() {
        offer_plan(app);
    }
}

/// Offers to run the plan of the last reply, in plan mode.
pub(super) fn offer_plan(app: &mut App) {
    if app.status.permission != PermissionMode::Plan || app.resume.is_some() {
        return;
    }
    app.resume = app.proposal.map(|found| match found {
        Proposal::Plan => Resume::Planned(AnswerDelay::starting(app.now)),
        Proposal::Steps => Resume::Listed,
    });
}

fn set(app: &mut App, mode: PermissionMode) -> Vec<Effect> {
    // Shown at once, before the agent confirms it.
    show(app, mode);
    app.say(permission::changed(mode));
    vec![Effect::SetPermission(mode)]
}
