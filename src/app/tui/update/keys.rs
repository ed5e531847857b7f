//! A key goes down a stack of contexts, to the first one that takes it.

use super::command::{self, Command};
use super::{
    budget, completion, copy, editor, help, iterations, list, login, models, overlay, permission,
    questions, queue, refusal, rule, scroll, search, selecting, sessions, settings, shell, stop,
    themes, tree, trials, undo, vim,
};
use crate::app::action::{Action, Scope};
use crate::app::init::init_prompt;
use crate::app::keys::looks_like_a_key;
use crate::app::tui::app::App;
use crate::app::tui::effect::{Direction, Effect, TerminalEffect};
use crate::app::tui::input::{KeyCode, KeyModifiers, KeyPress};
use crate::app::tui::keymap::{Meaning, label};
use crate::app::tui::overlay::{Overlay, TextPopup};
use crate::llm::Content;

/// How long the keys before one count with it, and a character to move to is waited for, in milliseconds.
const CHORD_MS: i64 = 3000;

/// What a key can be for. Each takes it, or leaves it to the next one.
#[derive(Clone, Copy)]
enum Context {
    /// A character to move to.
    Jump,
    /// More keys behind those before it.
    Chord,
    /// The demonstration, which waits for Enter.
    Demo,
    Selection,
    Popup,
    Completion,
    /// The list of answers in the strip.
    Question,
    Vim,
    /// The text, and what is in force everywhere.
    Editor,
}

/// All of them, from the top.
const STACK: [Context; 9] = [
    Context::Jump,
    Context::Chord,
    Context::Demo,
    Context::Selection,
    Context::Popup,
    Context::Completion,
    Context::Question,
    Context::Vim,
    Context::Editor,
];

/// A key on its way down the stack.
struct Key {
    press: KeyPress,
    /// What it means, with the keys before it, as far as that is known.
    action: Option<Action>,
    /// Whether it is the only key of that; the last of several has no meaning of its own.
    alone: bool,
    /// The demonstration that would have begun; a user who types does not want it to.
    demo: Option<String>,
    /// Whether it closed a text that was read, and is for the editor.
    closed: bool,
}

pub fn press(app: &mut App, press: KeyPress) -> Vec<Effect> {
    let mut key = Key {
        press,
        action: None,
        alone: true,
        demo: app.start.demo.take().map(|(prompt, _)| prompt),
        closed: false,
    };
    let means = |scope, action| app.keymap.resolve(press, scope) == Some(action);
    let is_enter = means(Scope::List, Action::Accept) || means(Scope::Everywhere, Action::Submit);
    if !is_enter {
        app.presses.enter = None;
    }
    if app.keymap.resolve(press, Scope::Everywhere) != Some(Action::Interrupt) {
        stop::stay(app);
    }
    for context in STACK {
        if let Some(effects) = take(app, context, &mut key) {
            if is_enter && matches!(context, Context::Question) {
                app.presses.enter = Some(app.now);
            }
            return effects;
        }
    }
    Vec::new()
}

/// Gives the key to a context; none where it is for one below.
fn take(app: &mut App, context: Context, key: &mut Key) -> Option<Vec<Effect>> {
    let press = key.press;
    match context {
        Context::Jump => jump_key(app, press),
        Context::Chord => {
            let (meaning, alone) = chord(app, press);
            key.alone = alone;
            key.action = match meaning {
                Meaning::Action(action) => Some(action),
                Meaning::Begins => return Some(Vec::new()),
                Meaning::Nothing => None,
            };
            None
        }
        Context::Demo => {
            let is_free = app.composer.is_empty() && app.overlays.is_empty();
            let plays = is_free && key.action == Some(Action::Submit);
            let prompt = key.demo.take().filter(|_| plays)?;
            Some(queue::send(app, vec![Content::text(prompt)]))
        }
        Context::Selection => {
            let selects = matches!(app.overlays.last(), Some(Overlay::Selecting(_)));
            let was_selected = !selects && app.transcript.deselect();
            if !was_selected || key.action != Some(Action::Interrupt) {
                return None;
            }
            // Ctrl+C is for copying while something is selected, as elsewhere; it was copied already.
            let stop = app.key(Action::Interrupt);
            let text = format!("It was copied when it was selected; {stop} stops");
            Some(app.say_for(text, 3000))
        }
        Context::Popup => {
            let is_read_only = |overlay: &Overlay| overlay.scope() == Scope::Pager;
            let is_text = key.action.is_none() && press.text().is_some();
            // What is typed over a text that is only read is for the editor.
            while is_text && app.overlays.pop_if(|top| is_read_only(top)).is_some() {
                key.closed = true;
            }
            if app.overlays.is_empty() || key.action == Some(Action::Suspend) {
                return None;
            }
            // Enter after Enter goes from match to match.
            let is_search = matches!(app.overlays.last(), Some(Overlay::Search(_)));
            if key.action != Some(Action::Accept) || is_search {
                return Some(overlay::press(app, press, key.action));
            }
            if queue::follows_at_once(app) {
                return Some(Vec::new());
            }
            let effects = overlay::press(app, press, key.action);
            // From value to value it goes as fast as it is pressed; elsewhere the next one may meet
            // something else.
            let steps = matches!(effects[..], [Effect::SaveSetting(..)]);
            app.presses.enter = (!steps).then_some(app.now);
            Some(effects)
        }
        Context::Completion if key.alone => completion::press(app, press),
        Context::Question if key.alone => questions::press(app, press, key.action),
        Context::Vim if key.alone => vim::press(app, press).then(Vec::new),
        Context::Completion | Context::Question | Context::Vim => None,
        Context::Editor => {
            let is_asked = !app.questions.is_empty() || app.trial.is_some();
            let is_free = app.composer.is_empty() && !is_asked && !key.closed;
            match key.action {
                // Before it is the first letter of an answer or of a second thought.
                None if press.text() == Some('?') && is_free => Some(help::open(app)),
                action => Some(editor_key(app, press, action)),
            }
        }
    }
}

/// The key is the character to move to, or stops waiting for it (not what runs).
fn jump_key(app: &mut App, press: KeyPress) -> Option<Vec<Effect>> {
    let (way, until) = app.jump.take()?;
    if app.now > until || !app.overlays.is_empty() {
        return None;
    }
    match press.text() {
        Some(c) => jump(app, c, way),
        None if press == KeyPress::new(KeyCode::Esc, KeyModifiers::NONE) => app.hint = None,
        None => return None,
    }
    Some(Vec::new())
}

fn editor_key(app: &mut App, press: KeyPress, action: Option<Action>) -> Vec<Effect> {
    if let Some(action) = action {
        return act(app, action, "");
    }
    if press.mods.contains(KeyModifiers::SHIFT) {
        let plain = KeyPress::new(press.code, press.mods - KeyModifiers::SHIFT);
        let motion = app.keymap.resolve(plain, Scope::Everywhere);
        if motion.is_some_and(|motion| editor::select(app, motion)) {
            return Vec::new();
        }
    }
    if let Some(c) = press.text() {
        vim::write(app);
        return completion::insert(app, c);
    }
    let (key, help) = (label(press), app.key(Action::Help));
    app.say_for(
        format!("{key} does nothing here; {help} shows the keys"),
        3000,
    )
}

/// Moves to the character that was typed for it.
fn jump(app: &mut App, c: char, way: Direction) {
    app.hint = None;
    if !app.composer.jump(c, way == Direction::Forward) {
        let place = match way {
            Direction::Forward => "behind the caret",
            Direction::Back => "before the caret",
        };
        app.say_for(format!("No {c} {place}"), 2000);
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
            app.say_for(format!("{} …", written(&keys)), CHORD_MS);
            app.chord = (keys, app.now);
        }
        _ if before.is_empty() => {}
        Meaning::Action(_) => app.hint = None,
        Meaning::Nothing => {
            let help = app.key(Action::Help);
            let text = format!("{} does nothing; {help} shows the keys", written(&keys));
            app.say_for(text, 3000);
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
        // Before what is there now is read as a command.
        Action::Submit if queue::is_slip(app) => {}
        // A new line, before anything is read as a command.
        Action::Submit if app.composer.break_at_backslash() => {}
        Action::Submit | Action::FollowUp | Action::SteerNow => {
            return match command::parse(app) {
                None => queue::act(app, action),
                Some(Command::Action(Action::Login, argument))
                    if argument.contains(char::is_whitespace) || looks_like_a_key(&argument) =>
                {
                    login::refuse(app)
                }
                Some(Command::Action(action, argument)) => {
                    app.composer.take();
                    act(app, action, &argument)
                }
                Some(Command::Shell(typed)) => shell::run(app, &typed),
                Some(Command::Unknown(text)) => app.say_for(text, 5000),
            };
        }
        Action::TakeBack => return queue::take_back(app),
        Action::Cancel => return stop::cancel(app),
        Action::Interrupt => return stop::interrupt(app),
        Action::Quit => return stop::quit(app),
        Action::Suspend => return vec![Effect::Terminal(TerminalEffect::Suspend)],
        Action::ExternalEditor => {
            app.presses.edit = Some(app.now);
            return vec![Effect::Terminal(TerminalEffect::Edit(app.composer.text()))];
        }
        Action::Compact => {
            let focus = Some(argument.to_owned()).filter(|focus| !focus.is_empty());
            return vec![Effect::Compact(focus)];
        }
        Action::Uncompact => return vec![Effect::Uncompact],
        Action::ContextUsage => {
            open_text(app, TextPopup::Context(None));
            return vec![Effect::ReadContext];
        }
        Action::Help | Action::Keys => return help::open(app),
        Action::Stats | Action::Cost => open_text(app, TextPopup::Stats),
        Action::Settings => return settings::open(app, argument),
        Action::Login => return login::open(app, argument),
        Action::ToggleMouse => return toggle_mouse(app),
        Action::Iterations => return iterations::open(app),
        Action::Try | Action::KeepTrial | Action::DiscardTrial => {
            return trials::act(app, action, argument);
        }
        Action::UndoTurn | Action::RedoTurn | Action::Rewind => return undo::act(app, action),
        Action::Init => {
            if refusal::is_read_only(app) {
                app.composer.set(&format!("/init {argument}"));
                return Vec::new();
            }
            return queue::send_or_wait(app, vec![Content::text(init_prompt(argument))]);
        }
        Action::NextPermissionMode | Action::PermissionMode => {
            return permission::act(app, action, argument);
        }
        Action::Budget => return budget::act(app, argument),
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
            return app.say_for("Type the character to move to", CHORD_MS);
        }
        Action::Complete => return completion::complete_path(app),
        _ => return completion::edit(app, action),
    }
    Vec::new()
}

fn open_text(app: &mut App, popup: TextPopup) {
    app.overlays.push(Overlay::text(popup));
}

/// Leaves the mouse to the terminal, which can select with it then, or takes it back.
fn toggle_mouse(app: &mut App) -> Vec<Effect> {
    app.mouse = !app.mouse;
    let text = if app.mouse {
        "The mouse scrolls, folds and chooses again"
    } else {
        "Mouse off: your terminal selects text"
    };
    app.say(text);
    vec![Effect::Terminal(TerminalEffect::Mouse(app.mouse))]
}

fn trust(app: &mut App, argument: &str) -> Vec<Effect> {
    match argument {
        "" | "no" => {
            app.start.asks_trust = false;
            vec![Effect::Trust(argument.is_empty())]
        }
        other => app.say_for(format!("/trust {other}: say /trust, or /trust no"), 5000),
    }
}
