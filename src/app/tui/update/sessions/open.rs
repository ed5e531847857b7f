//! Switching to another session, and what happens to unsent text then.

use std::path::Path;

use crate::agent::NoticeLevel;
use crate::app::action::{Group, Scope};
use crate::app::outcome::StartError;
use crate::app::sessions::{Choice, Recent, Refused};
use crate::app::tui::app::App;
use crate::app::tui::composer::SavedDraft;
use crate::app::tui::effects::effect::{DraftChange, Effect};
use crate::app::tui::effects::session_effect::SessionEffect;
use crate::app::tui::popups::{Overlay, opening};
use crate::app::tui::session_switch::Arriving;
use crate::app::tui::terminal::input::{InputEvent, KeyCode};
use crate::app::tui::update::refusal::is_busy;
use crate::app::tui::update::{editor, shell};

/// Opens the chosen session, unless the agent is working.
pub fn open(app: &mut App, choice: Choice) -> Vec<Effect> {
    if is_busy(app) {
        return Vec::new();
    }
    app.switch.begin(arriving(app, &choice));
    vec![Effect::Session(SessionEffect::Open(choice))]
}

/// Offers to resume the latest session while this one is empty.
pub(super) fn recent(app: &mut App, recent: Option<Recent>) {
    if app.transcript.is_empty() {
        app.start.recent = recent;
    }
}

pub fn go_on_with_recent(app: &mut App) -> Vec<Effect> {
    // Only on the first screen, which offers it.
    match app.start.recent.take_if(|_| app.transcript.is_empty()) {
        Some(recent) => open(app, Choice::Open(recent.session.path)),
        None => Vec::new(),
    }
}

/// Unsent text stays with its session, unless that session never started: then it moves along.
pub fn arriving(app: &App, choice: &Choice) -> Arriving {
    let path = match choice {
        Choice::Open(path) | Choice::Look(path) => path,
        Choice::New => return Arriving::Anew,
        Choice::Fork(_) | Choice::Clone(_) | Choice::ForkAt(..) => return Arriving::WithText,
    };
    let session = app.status.session.as_ref();
    match session {
        Some(session) if session.file == *path => Arriving::WithText,
        Some(session) if !session.title.is_empty() => Arriving::WithoutText,
        _ => Arriving::Together,
    }
}

/// Another screen opened the session in the file at `path`: the text in this one wasn't meant for it.
pub fn follow(app: &mut App, path: Option<&Path>) {
    if let Some(path) = path.filter(|_| !app.switch.is_under_way()) {
        app.switch.arriving = arriving(app, &Choice::Open(path.to_owned()));
    }
}

/// The other session is open: moves unsent text along, or leaves it with the previous one.
pub fn take_text_along(app: &mut App) -> Vec<Effect> {
    let Some(session) = &app.status.session else {
        return Vec::new();
    };
    let file = session.file.clone();
    let arriving = std::mem::take(&mut app.switch.arriving);
    if arriving != Arriving::WithText {
        shell::leave(app);
        app.mentions.looked_for = None;
    }
    match arriving {
        // The output of commands stays with the previous session, too.
        Arriving::Anew if !app.told.is_empty() => {
            app.hint = None;
            let told = SavedDraft {
                told: std::mem::take(&mut app.told),
                taken: app.drafts_taken,
                ..SavedDraft::default()
            };
            vec![
                Effect::ChangeDraft(DraftChange::Stays(told), file),
                Effect::SaveDraft(app.draft()),
            ]
        }
        Arriving::WithText | Arriving::Anew => vec![
            Effect::ChangeDraft(DraftChange::ComesAlong, file),
            Effect::SaveDraft(app.draft()),
        ],
        Arriving::Together => {
            app.draft_changed();
            let nothing = SavedDraft {
                taken: app.drafts_taken,
                ..SavedDraft::default()
            };
            vec![Effect::ChangeDraft(DraftChange::Stays(nothing), file)]
        }
        Arriving::WithoutText => {
            // Input typed ahead belongs to the new session.
            let switch = std::mem::take(&mut app.switch);
            let left = app.draft();
            app.switch = switch;
            if !left.is_empty() {
                app.composer.leave();
                app.told.clear();
                app.say("Your unsent text stays with the previous session");
            }
            app.save_draft_at = None;
            vec![Effect::ChangeDraft(DraftChange::Stays(left), file)]
        }
    }
}

pub(super) fn opened(app: &mut App, opened: Result<Vec<String>, Refused>) {
    match opened {
        Ok(notices) => {
            for notice in notices {
                app.transcript.push_notice(NoticeLevel::Warning, notice);
            }
        }
        Err(refused) if refused.is_question() => {
            let is_written = give_up(app);
            opening::ask(app, &refused);
            if let Some(Overlay::Opening(opening)) = app.overlays.last_mut() {
                opening.is_written = is_written;
            }
        }
        Err(refused) => not_opened(app, StartError::from(refused).message),
    }
}

pub(super) fn not_opened(app: &mut App, error: String) {
    give_up(app);
    app.say_for(error, 8000);
}

/// The session didn't open: input typed ahead for it edits the text in the editor, but sends and
/// runs nothing. Returns whether it changed the text.
pub fn give_up(app: &mut App) -> bool {
    let mut held = app.switch.fail();
    let is_enter = |it: &mut _| matches!(it, InputEvent::Key(it) if it.code == KeyCode::Enter);
    while held.pop_if(is_enter).is_some() {}
    let before = app.composer.revision();
    for event in held {
        match event {
            InputEvent::Paste(text) => app.composer.paste(&text),
            InputEvent::Key(press) if press.code == KeyCode::Enter => editor::insert(app, '\n'),
            InputEvent::Key(press) => match app.keymap.resolve(press, Scope::Everywhere) {
                Some(action) if action.spec().group == Group::Writing => editor::act(app, action),
                Some(_) => {}
                None => press
                    .text()
                    .into_iter()
                    .for_each(|c| editor::insert(app, c)),
            },
            _ => {}
        }
    }
    before != app.composer.revision()
}
