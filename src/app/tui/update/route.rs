//! The top match. It only routes: what a message means is decided by its owner.

use super::{agent, editor, keys, models, overlay, queue, scroll, terminal};
use crate::agent::NoticeLevel;
use crate::app::tui::app::App;
use crate::app::tui::effect::Effect;
use crate::app::tui::msg::{EffectResult, Msg, MsgKind};

/// Takes in one message; answers with what is to be done.
pub fn update(app: &mut App, msg: Msg) -> Vec<Effect> {
    app.now = app.now.max(msg.at);
    let nothing_written = app.composer.is_empty();
    let revision = app.composer.revision();
    let mut effects = match msg.kind {
        MsgKind::Started => queue::start(app),
        MsgKind::Key(press) => keys::press(app, press),
        MsgKind::Paste(text) => editor::paste(app, text),
        MsgKind::Mouse(event) => scroll::mouse(app, event),
        MsgKind::Agent(event) => agent::event(app, &event),
        MsgKind::Resubscribed(snapshot) => agent::resubscribed(app, &snapshot),
        MsgKind::AgentGone => agent::gone(app),
        MsgKind::Drawn(drawn) => {
            app.areas = drawn.areas;
            app.transcript.after_draw(&drawn.transcript);
            return Vec::new();
        }
        MsgKind::Terminal(news) => terminal::news(app, news),
        MsgKind::Tick => tick(app),
        MsgKind::Done(result) => done(app, result),
    };
    if revision != app.composer.revision() {
        app.draft_changed();
    }
    if nothing_written && !app.composer.is_empty() && !app.is_running() {
        effects.push(Effect::Warm);
    }
    let unsaved = app.composer.history_mut().take_unsaved();
    if !unsaved.is_empty() {
        effects.push(Effect::Remember(unsaved));
    }
    effects
}

fn tick(app: &mut App) -> Vec<Effect> {
    app.transcript.tick(app.now);
    if app.hint.as_ref().is_some_and(|hint| hint.until <= app.now) {
        app.hint = None;
    }
    let mut effects = queue::start_demo_when_due(app);
    if app.save_draft_at.take_if(|at| *at <= app.now).is_some() {
        effects.push(Effect::SaveDraft(app.draft()));
    }
    effects
}

fn done(app: &mut App, result: EffectResult) -> Vec<Effect> {
    match result {
        EffectResult::Edited(outcome) => editor::edited(app, outcome),
        EffectResult::Branch(branch) => app.status.branch = branch,
        EffectResult::Models(listing) => models::listed(app, listing),
        EffectResult::Model(found) => return models::found(app, found),
        EffectResult::Favorites(favorites, direction) => {
            return models::cycle(app, favorites, direction);
        }
        EffectResult::Saved(saved) => models::saved(app, saved),
        EffectResult::Draft(draft) => editor::restore(app, &draft),
        EffectResult::History(older) => overlay::history_loaded(app, older),
        EffectResult::Failed(text) => app.transcript.push_notice(NoticeLevel::Error, text),
    }
    Vec::new()
}
