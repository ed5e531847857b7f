//! A key: to the topmost overlay, else to the action it means, else into the text.

use super::command::{self, Command};
use super::{
    budget, completion, copy, editor, iterations, list, login, models, overlay, permission,
    questions, queue, rule, scroll, search, selecting, sessions, settings, shell, stop, themes,
    tree, trials, undo, vim,
};
use crate::agent::NoticeLevel;
use crate::app::action::{Action, Scope};
use crate::app::init::init_prompt;
use crate::app::tui::app::App;
use crate::app::tui::effect::{Direction, Effect, TerminalEffect};
use crate::app::tui::input::{KeyCode, KeyModifiers, KeyPress};
use crate::app::tui::keymap::{Meaning, label};
use crate::app::tui::overlay::{HelpPage, Overlay, Pager};
use crate::llm::Content;

/// How long the keys before one count with it, and a character to move to is waited for, in milliseconds.
const CHORD_MS: i64 = 3000;

pub fn press(app: &mut App, press: KeyPress) -> Vec<Effect> {
    // A user who types does not want the demonstration to begin; Enter alone does.
    let demo = app.start.demo.take();
    if let Some((way, until)) = app.jump.take()
        && app.now <= until
        && app.overlays.is_empty()
    {
        if let Some(c) = press.text() {
            jump(app, c, way);
            return Vec::new();
        }
        // It stops what waits for the character, not what runs.
        if press == KeyPress::new(KeyCode::Esc, KeyModifiers::NONE) {
            app.hint = None;
            return Vec::new();
        }
    }
    let (meaning, alone) = chord(app, press);
    let mut action = match meaning {
        Meaning::Action(action) => Some(action),
        Meaning::Begins => return Vec::new(),
        Meaning::Nothing => None,
    };
    if trials::goes_on_writing(app, action) {
        action = app.keymap.resolve(press, app.scope());
    }
    if let Some((prompt, _)) = demo
        && action == Some(Action::Submit)
        && app.composer.is_empty()
        && app.overlays.is_empty()
    {
        return queue::send(app, vec![Content::text(prompt)]);
    }
    // Ctrl+C is for copying while something is selected, as elsewhere; it was copied already.
    let selects = matches!(app.overlays.last(), Some(Overlay::Selecting(_)));
    let was_selected = !selects && app.transcript.deselect();
    if was_selected && action == Some(Action::Interrupt) {
        let key = app.key(Action::Interrupt);
        app.say(
            format!("It was copied when it was selected; {key} stops"),
            3000,
        );
        return Vec::new();
    }
    if !app.overlays.is_empty() && action != Some(Action::Suspend) {
        return overlay::press(app, press, action);
    }
    // The last of several keys has no meaning of its own.
    if alone && let Some(effects) = completion::press(app, press) {
        return effects;
    }
    let decides = matches!(action, Some(Action::KeepTrial | Action::DiscardTrial));
    if alone && !decides && vim::press(app, press) {
        return Vec::new();
    }
    if action.is_none() && press.mods.contains(KeyModifiers::SHIFT) {
        let plain = KeyPress::new(press.code, press.mods - KeyModifiers::SHIFT);
        let motion = app.keymap.resolve(plain, Scope::Everywhere);
        if motion.is_some_and(|motion| editor::select(app, motion)) {
            return Vec::new();
        }
    }
    match action {
        Some(action @ (Action::KeepTrial | Action::DiscardTrial)) => {
            trials::ask(app, action, press);
            Vec::new()
        }
        Some(action) => act(app, action, ""),
        None => {
            if let Some(c) = press.text() {
                if let Some(effects) = questions::choose(app, c) {
                    return effects;
                }
                vim::write(app);
                return completion::insert(app, c);
            }
            let (key, help) = (label(press), app.key(Action::Help));
            app.say(
                format!("{key} does nothing here; {help} shows the keys"),
                3000,
            );
            Vec::new()
        }
    }
}

/// Moves to the character that was typed for it.
fn jump(app: &mut App, c: char, way: Direction) {
    app.hint = None;
    if !app.composer.jump(c, way == Direction::Forward) {
        let place = match way {
            Direction::Forward => "behind the caret",
            Direction::Back => "before the caret",
        };
        app.say(format!("No {c} {place}"), 2000);
    }
}

/// What a key means behind those before it, as far as they wait for more, and whether it stands alone.
/// Tells that it waits.
fn chord(app: &mut App, press: KeyPress) -> (Meaning, bool) {
    let (before, at) = std::mem::take(&mut app.chord);
    let before = if app.now - at > CHORD_MS {
        Vec::new()
    } else {
        before
    };
    let keys = [&before[..], &[press]].concat();
    let meaning = app.keymap.meaning(&keys, app.scope());
    match meaning {
        Meaning::Begins => {
            app.say(format!("{} …", written(&keys)), CHORD_MS);
            app.chord = (keys, app.now);
        }
        _ if before.is_empty() => {}
        Meaning::Action(_) => app.hint = None,
        Meaning::Nothing => {
            let help = app.key(Action::Help);
            let text = format!("{} does nothing; {help} shows the keys", written(&keys));
            app.say(text, 3000);
            // It is no text either: it was meant for what began.
            return (Meaning::Begins, false);
        }
    }
    (meaning, before.is_empty())
}

fn written(keys: &[KeyPress]) -> String {
    let keys: Vec<String> = keys.iter().map(label).collect();
    keys.join(" ")
}

/// Does what an action means, however it was triggered; `argument` is what was typed behind its
/// command.
pub fn act(app: &mut App, action: Action, argument: &str) -> Vec<Effect> {
    match action {
        Action::Submit | Action::FollowUp | Action::SteerNow if app.rule.is_some() => {
            return rule::submit(app);
        }
        Action::Submit | Action::FollowUp | Action::SteerNow => {
            return match command::parse(app) {
                None => queue::act(app, action),
                Some(Command::Action(action, argument)) => {
                    app.composer.take();
                    act(app, action, &argument)
                }
                Some(Command::Shell(typed)) => shell::run(app, &typed),
                Some(Command::Unknown(text)) => {
                    app.transcript.push_notice(NoticeLevel::Error, text);
                    Vec::new()
                }
            };
        }
        Action::TakeBack => return queue::take_back(app),
        Action::Cancel => return stop::cancel(app),
        Action::Interrupt => return stop::interrupt(app),
        Action::Quit => return stop::quit(app),
        Action::Suspend => return vec![Effect::Terminal(TerminalEffect::Suspend)],
        Action::ExternalEditor => {
            return vec![Effect::Terminal(TerminalEffect::Edit(app.composer.text()))];
        }
        Action::Compact => {
            let focus = Some(argument.to_owned()).filter(|focus| !focus.is_empty());
            return vec![Effect::Compact(focus)];
        }
        Action::Uncompact => return vec![Effect::Uncompact],
        Action::ContextUsage => {
            app.overlays.push(Overlay::Context(Pager::default(), None));
            return vec![Effect::ReadContext];
        }
        Action::Help => {
            let first = Overlay::Help(Pager::default(), HelpPage::First);
            app.overlays.push(first);
        }
        Action::Keys => app
            .overlays
            .push(Overlay::Help(Pager::default(), HelpPage::All)),
        Action::Stats | Action::Cost => app.overlays.push(Overlay::Stats(Pager::default())),
        Action::Settings => return settings::open(app, argument),
        Action::Login => return login::open(app, argument),
        Action::ToggleMouse => return toggle_mouse(app),
        Action::Iterations => return iterations::open(app),
        Action::Try | Action::KeepTrial | Action::DiscardTrial => {
            return trials::act(app, action, argument);
        }
        Action::UndoTurn | Action::RedoTurn | Action::Rewind => return undo::act(app, action),
        Action::Init => {
            return queue::send_or_wait(app, vec![Content::text(init_prompt(argument))]);
        }
        Action::NextPermissionMode | Action::PermissionMode => {
            return permission::act(app, action, argument);
        }
        Action::AllowInSession | Action::AllowInProject | Action::AllowAlways => {
            rule::open(app, action);
        }
        Action::AllowOnce | Action::RefuseCall => return questions::act(app, action),
        Action::Budget => return budget::act(app, argument),
        Action::ShowCall => app.overlays.push(Overlay::Call(Pager::default())),
        Action::Theme => return themes::act(app, argument),
        Action::Trust => return trust(app, argument),
        Action::HistorySearch => list::open_history(app),
        Action::Models
        | Action::NextModel
        | Action::PreviousModel
        | Action::ThinkingUp
        | Action::ThinkingDown
        | Action::Thinking
        | Action::SaveModel => return models::act(app, action, argument),
        Action::Resume
        | Action::NewSession
        | Action::NameSession
        | Action::SessionFacts
        | Action::CloneSession
        | Action::ImportSession
        | Action::Export => {
            return sessions::act(app, action, argument);
        }
        Action::Tree
        | Action::Fork
        | Action::Label
        | Action::CompareBranches
        | Action::EditPrompt => {
            return tree::act(app, action, argument);
        }
        Action::Search => return search::open(app, argument),
        Action::SelectText => selecting::open(app),
        Action::CopyReply | Action::CopyList => return copy::act(app, action),
        Action::ToggleOutput
        | Action::ToggleThinking
        | Action::ToggleCell
        | Action::ToggleTodo
        | Action::PageUp
        | Action::PageDown
        | Action::ScrollTop
        | Action::ScrollBottom
        | Action::PreviousPrompt
        | Action::NextPrompt => scroll::act(app, action),
        Action::PasteImage => return vec![Effect::PastePicture],
        Action::JumpForward | Action::JumpBack => {
            let way = match action {
                Action::JumpForward => Direction::Forward,
                _ => Direction::Back,
            };
            app.jump = Some((way, app.now + CHORD_MS));
            app.say("Type the character to move to", CHORD_MS);
        }
        Action::Complete => return completion::complete_path(app),
        _ => return completion::edit(app, action),
    }
    Vec::new()
}

/// Leaves the mouse to the terminal, which can select with it then, or takes it back.
fn toggle_mouse(app: &mut App) -> Vec<Effect> {
    app.mouse = !app.mouse;
    let text = if app.mouse {
        "The mouse scrolls, folds and chooses again"
    } else {
        "The mouse is the terminal's: it selects as in a shell"
    };
    app.say(text, 4000);
    vec![Effect::Terminal(TerminalEffect::Mouse(app.mouse))]
}

fn trust(app: &mut App, argument: &str) -> Vec<Effect> {
    match argument {
        "" | "no" => {
            app.start.asks_trust = false;
            vec![Effect::Trust(argument.is_empty())]
        }
        other => {
            let text = format!("/trust {other}: say /trust, or /trust no");
            app.transcript.push_notice(NoticeLevel::Error, text);
            Vec::new()
        }
    }
}
