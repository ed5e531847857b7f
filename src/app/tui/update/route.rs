//! Routes each message to the module that owns it, and does nothing else.

use super::{
    agent, command, completion, copy, editor, keys, mentions, models, mouse, open, questions,
    queue, refusal, sessions, settings, shell, stop, terminal, themes, tree, trials,
};
use crate::agent::{AgentEvent, NoticeLevel};
use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::effects::effect::Effect;
use crate::app::tui::effects::session_effect::SessionResult;
use crate::app::tui::msg::{EffectResult, Msg};
use crate::app::tui::options::ExitKind;
use crate::app::tui::popups::{self, docs, history, login, status, undo};
use crate::app::tui::terminal::input::InputEvent;

/// Applies a message of time `now` (Unix ms) and returns the effects to run. Reads no clock.
pub fn update(app: &mut App, now: i64, msg: Msg) -> Vec<Effect> {
    app.now = app.now.max(now);
    let of_user = matches!(msg, Msg::Input(_));
    let revision = app.composer.revision();
    let was_empty = app.transcript.is_empty();
    let hint = app.hint.clone().filter(|_| of_user);
    let mut effects = match msg {
        Msg::Started => queue::start(app),
        Msg::Input(event) => match app.switch.hold(event) {
            Some(event) => input_unless_held(app, event),
            None => {
                if app.switch.is_given_up() {
                    sessions::give_up(app);
                }
                app.draft_changed();
                Vec::new()
            }
        },
        Msg::Resize(size) => terminal::resize(app, size),
        Msg::CellSize(cell) => terminal::cell(app, cell),
        Msg::End(kind) => stop::end(app, kind),
        Msg::Interrupt => stop::interrupt(app),
        Msg::CannotSuspend if app.start.client != 0 => {
            let quit = app.key(Action::Quit);
            app.say(format!(
                "Can't suspend an attached screen: {quit} leaves it"
            ))
        }
        Msg::CannotSuspend => app.say("Can't suspend: tiller wasn't started from a shell"),
        Msg::Agent(event) => {
            let mut effects = agent::event(app, &event);
            if matches!(event.kind, AgentEvent::SessionOpened { .. }) {
                effects.extend(arrive(app));
            }
            effects
        }
        Msg::Joined(snapshot) => agent::joined(app, &snapshot),
        Msg::Resubscribed(snapshot) => agent::resubscribed(app, &snapshot),
        Msg::AgentGone => agent::gone(app),
        Msg::Drawn(mut drawn) => {
            app.areas = drawn.areas;
            questions::drawn(app);
            docs::drawn(app);
            let copied = drawn.transcript.copied.take();
            let named = drawn.transcript.named.take().map(Effect::Open);
            app.transcript.after_draw(&drawn.transcript);
            let request = app.transcript.request().map(Effect::ReadPage);
            let copied = copied.map(|copied| copy::selected(app, copied));
            return request.into_iter().chain(copied).chain(named).collect();
        }
        Msg::Tick => tick(app),
        Msg::Done(result) => done(app, result),
    };
    completion::close_when_elsewhere(app);
    if of_user && app.hint != hint {
        app.hint.iter_mut().for_each(|hint| hint.answers = true);
    } else if revision != app.composer.revision() {
        app.hint.take_if(|hint| of_user && hint.answers);
    }
    // Keep the notices of the first screen at the top of the conversation.
    if was_empty && !app.transcript.is_empty() {
        let notices = app.start.told_in(app.session_file());
        if app.transcript.begin_with(&notices) {
            app.start.forget_notices();
        }
    }
    if revision != app.composer.revision() {
        app.draft_changed();
        app.warmed &= !app.composer.is_empty();
        // Only for text just typed: a restored draft may never be sent.
        if of_user && !app.composer.is_empty() && !app.is_running() && !app.warmed {
            app.warmed = true;
            effects.push(Effect::Warm);
        }
    }
    app.text_since = match app.text_since {
        _ if app.message().is_empty() => None,
        since => since.or(Some(app.now)),
    };
    let unsaved = app.message_mut().history_mut().take_unsaved();
    if !unsaved.is_empty() {
        effects.push(Effect::Remember(unsaved));
    }
    effects
}

/// Finishes one step of a session switch; after the last, replays the input typed ahead.
fn arrive(app: &mut App) -> Vec<Effect> {
    let mut effects = Vec::new();
    for event in app.switch.step() {
        // The replayed input may open yet another session.
        if let Some(event) = app.switch.hold(event) {
            effects.extend(input(app, event));
        }
    }
    effects
}

fn input_unless_held(app: &mut App, event: InputEvent) -> Vec<Effect> {
    let event = app.mentions.hold(event);
    event.map_or_else(Vec::new, |event| input(app, event))
}

fn input(app: &mut App, event: InputEvent) -> Vec<Effect> {
    match event {
        InputEvent::Key(press) => keys::press(app, press),
        InputEvent::Paste(text) => editor::paste(app, text),
        InputEvent::Mouse(event) => mouse::mouse(app, event),
        InputEvent::Focus(focused) => terminal::focus(app, focused),
        InputEvent::Report(report) => terminal::report(app, report),
        InputEvent::Closed => stop::end(app, ExitKind::TerminalGone),
    }
}

fn tick(app: &mut App) -> Vec<Effect> {
    app.transcript.tick(app.now);
    mouse::tick(app);
    if app.hint.as_ref().is_some_and(|hint| hint.until <= app.now) {
        app.hint = None;
    }
    let mut effects = queue::start_demo_when_due(app);
    effects.extend(popups::sessions::tick(app));
    if app.save_draft_at.take_if(|at| *at <= app.now).is_some() {
        effects.push(Effect::SaveDraft(app.draft()));
    }
    effects
}

fn done(app: &mut App, result: EffectResult) -> Vec<Effect> {
    match result {
        EffectResult::Edited(given, left) => editor::edited(app, &given, left),
        EffectResult::Page(page) => app.transcript.insert(page),
        EffectResult::Entries(generation, branch) => app.transcript.seal(generation, branch),
        EffectResult::Iterations(stored) => status::read(app, |it| it.stored = Some(stored)),
        EffectResult::Branch(branch) => app.status.branch = branch,
        EffectResult::Changes(changes) => app.status.changes = changes,
        EffectResult::Models(listing) => {
            models::listed(app, listing);
            completion::arguments_read(app, Action::Models, Vec::new());
        }
        EffectResult::ShellOutput(id, details) => shell::wrote(app, &id, details),
        EffectResult::Shell(id, end) => {
            shell::ended(app, &id, end);
            return vec![Effect::ReadGit];
        }
        EffectResult::Picture(file) => shell::picture(app, file),
        EffectResult::Files(found) => completion::files_found(app, found),
        EffectResult::CustomCommand(lookup, prompt) => {
            let mut effects = command::looked_up(app, lookup, prompt);
            if let Some(action) = app.mentions.action.take() {
                effects.extend(keys::submit(app, action));
            }
            for event in app.mentions.release() {
                effects.extend(input_unless_held(app, event));
            }
            return effects;
        }
        EffectResult::CustomCommands(commands) => completion::commands_listed(app, commands),
        EffectResult::Mentions(text, missing) => {
            let mut effects = mentions::checked(app, text, missing);
            for event in app.mentions.release() {
                effects.extend(input_unless_held(app, event));
            }
            return effects;
        }
        EffectResult::Folder(typed, names) => completion::folder_read(app, &typed, names),
        EffectResult::Model(typed, found) => return models::found(app, &typed, found),
        EffectResult::Favorites(favorites, direction) => {
            return models::cycle(app, favorites, direction);
        }
        EffectResult::PagesSearched(found) => app.transcript.add_matches(found),
        EffectResult::Opening(found) => return open::found(app, found),
        EffectResult::FileClosed(closed) => open::closed(app, closed),
        EffectResult::Copied(what, outcome) => return copy::done(app, &what, outcome),
        EffectResult::Saved(saved) => models::saved(app, saved),
        EffectResult::Providers(providers) => {
            completion::providers_listed(app, &providers);
            login::read(app, providers);
        }
        EffectResult::KeyStored(stored) => return login::stored(app, stored),
        EffectResult::Themes(read) => return themes::read(app, read),
        EffectResult::Settings(rows) => popups::settings::read(app, rows),
        EffectResult::SettingSaved(saved) => return settings::saved(app, saved),
        EffectResult::Forked(prompt) => tree::take_prompt(app, &prompt),
        EffectResult::Tree(outline) => popups::tree::read(app, *outline),
        EffectResult::Context(usage) => {
            status::read(app, |it| it.context = usage.map(Box::new));
        }
        EffectResult::Session(result) => {
            let opened = matches!(result, SessionResult::Opened(Ok(_)));
            let mut effects = sessions::done(app, result);
            if opened {
                effects.extend(arrive(app));
            }
            return effects;
        }
        EffectResult::Draft(draft) => return editor::restore(app, &draft),
        EffectResult::DraftElsewhere(draft) if app.transcript.is_empty() => {
            app.start.draft_elsewhere = Some(draft);
        }
        EffectResult::DraftElsewhere(draft) => {
            app.transcript.push_notice(NoticeLevel::Info, draft.notice);
        }
        EffectResult::History(older) => history::loaded(app, older),
        EffectResult::AbandonedTrials(found) => trials::abandoned(app, &found),
        EffectResult::TrustDecided => app.start.asks_trust = false,
        EffectResult::TrialChanges(trial, changes) => trials::counted(app, &trial, changes),
        EffectResult::Undo(direction, preview) => undo::previewed(app, direction, preview),
        EffectResult::RewindPoints(points) => undo::prompts_read(app, points),
        EffectResult::RewindPreview(entry, preview) => {
            undo::rewind_previewed(app, &entry, preview);
        }
        EffectResult::Refused(why) => undo::refused(app, &why),
        EffectResult::CommandRefused { typed, why } => {
            return refusal::command(app, &typed, why);
        }
        EffectResult::Said(text) => app.transcript.push_notice(NoticeLevel::Info, text),
        EffectResult::Failed(text) => app.transcript.push_notice(NoticeLevel::Error, text),
    }
    Vec::new()
}
