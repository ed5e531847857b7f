//! Sends a key down a stack of contexts to the first one that handles it.

use super::command::{self, Command};
use super::{
    completion, copy, editor, mentions, models, permission, questions, queue, refusal, rule,
    scroll, sessions, shell, stop, themes, tree, trials, vim,
};
use crate::app::action::{Action, Scope};
use crate::app::commands::Run;
use crate::app::keys::looks_like_a_key;
use crate::app::tui::app::App;
use crate::app::tui::effects::effect::{Direction, Effect, TerminalEffect};
use crate::app::tui::keymap::{Meaning, label};
use crate::app::tui::popups::{
    Overlay, help, history, login, search, selecting, settings, status, undo,
};
use crate::app::tui::terminal::input::{KeyCode, KeyModifiers, KeyPress};
use crate::llm::Content;

/// Time to wait for the next key of a chord or the character to jump to (ms).
const CHORD_MS: i64 = 3000;
/// Text typed this soon after a `?`, in ms, belongs to it.
const TYPING_MS: i64 = 800;

/// What a key can be for. Each takes it, or leaves it to the next one.
#[derive(Clone, Copy)]
enum Context {
    /// Waiting for a character to jump to.
    Jump,
    /// Waiting for the rest of a chord.
    Chord,
    /// The demo, waiting for Enter.
    Demo,
    Selection,
    Popup,
    Completion,
    /// The answers in the question strip.
    Question,
    Vim,
    /// The editor and the global keys.
    Editor,
}

/// All contexts, topmost first.
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
    /// Its action, if known, together with the keys of a chord before it.
    action: Option<Action>,
    /// False for the last key of a chord, which alone means nothing.
    alone: bool,
    /// The demo's prompt. Any key but Enter cancels the demo.
    demo: Option<String>,
    /// It closed a pager and is also text for the editor.
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

/// Offers the key to a context; `None` passes it on to the next.
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
            // It invites the user to type something, and answers.
            app.start.demo_asked = true;
            Some(queue::send(app, vec![Content::text(prompt)]))
        }
        Context::Selection => {
            let selects = matches!(app.overlays.last(), Some(Overlay::Selecting(_)));
            let was_selected = !selects && app.transcript.deselect();
            if !was_selected || key.action != Some(Action::Interrupt) {
                return None;
            }
            // With a selection, Ctrl+C means copy, as elsewhere; the text is already copied.
            let stop = app.key(Action::Interrupt);
            let text = format!("Already copied when you selected it; press {stop} again to stop");
            Some(app.say_for(text, 3000))
        }
        Context::Popup => {
            let is_read_only =
                |overlay: &Overlay| matches!(overlay, Overlay::Call(_) | Overlay::Status(_));
            let is_text = key.action.is_none() && press.text().is_some();
            // Text typed over a pager goes to the editor.
            while is_text && app.overlays.pop_if(|top| is_read_only(top)).is_some() {
                key.closed = true;
            }
            key.closed |= is_text && write_mark(app);
            app.presses.help = None;
            if app.overlays.is_empty() || key.action == Some(Action::Suspend) {
                return None;
            }
            // In the search, each Enter goes to the next match.
            let is_search = matches!(app.overlays.last(), Some(Overlay::Search(_)));
            if key.action != Some(Action::Accept) || is_search {
                return Some(Overlay::press(app, press, key.action));
            }
            if queue::follows_at_once(app) {
                return Some(Vec::new());
            }
            let effects = Overlay::press(app, press, key.action);
            // Enter may repeat through values. Elsewhere the next Enter could hit something new.
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
                None if press.text() == Some('?') && is_free => {
                    app.presses.help = Some(app.now);
                    Some(help::open(app, ""))
                }
                action => Some(editor_key(app, press, action)),
            }
        }
    }
}

/// Closes the help and writes the `?` that has just opened it, since the text after it belongs to it.
/// Returns whether it did.
pub fn write_mark(app: &mut App) -> bool {
    let opened = app.presses.help.take();
    let belongs = opened.is_some_and(|opened| app.now - opened < TYPING_MS);
    if belongs {
        app.overlays.pop();
        editor::insert(app, '?');
    }
    belongs
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

/// Keys of other agents, and tiller's action for the same; none for moving a command to the background.
const ELSEWHERE: [(&str, Option<Action>); 3] = [
    ("Ctrl+B", None),
    ("Alt+P", Some(Action::Models)),
    ("Alt+M", Some(Action::NextPermissionMode)),
];

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
    let instead = ELSEWHERE.iter().find(|(other, _)| *other == key);
    let hint = match instead {
        Some((_, Some(own))) => format!("{}: {}", app.key(*own), own.spec().help),
        Some((_, None)) => "tiller runs nothing in the background".to_owned(),
        None => format!("{help} shows the keys"),
    };
    app.say_for(format!("{key} does nothing here; {hint}"), 3000)
}

/// Moves the caret to the next `c` in this direction.
fn jump(app: &mut App, c: char, way: Direction) {
    app.hint = None;
    if !app.composer.jump(c, way == Direction::Forward) {
        let place = match way {
            Direction::Forward => "after the cursor",
            Direction::Back => "before the cursor",
        };
        app.say_for(format!("No {c} {place}"), 2000);
    }
}

/// What this key means after the keys before it. Shows a hint while a chord is incomplete.
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
            // Don't insert it as text either: the user meant a chord.
            return (Meaning::Begins, false);
        }
    }
    (meaning, before.is_empty())
}

fn written(keys: &[KeyPress]) -> String {
    let keys: Vec<String> = keys.iter().map(label).collect();
    keys.join(" ")
}

/// Does an action, however it was triggered; `argument` is the text after its command.
pub fn act(app: &mut App, action: Action, argument: &str) -> Vec<Effect> {
    match action {
        Action::Submit | Action::FollowUp | Action::SteerNow if app.rule.is_some() => {
            return rule::submit(app);
        }
        // Must come before parsing the text as a command.
        Action::Submit if queue::is_slip(app) => {}
        // Enter after a backslash is a new line, even in a command.
        Action::Submit if app.composer.break_at_backslash() => {}
        Action::Submit | Action::FollowUp | Action::SteerNow => {
            if app.mentions.looked_for.is_some() {
                // It must not overtake the command.
                app.mentions.action = Some(action);
                return Vec::new();
            }
            return submit(app, action);
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
        Action::Help => return help::open(app, argument),
        Action::Status => return status::open(app, argument),
        Action::Settings => return settings::open(app, argument),
        Action::Login => return login::open(app, argument),
        Action::ToggleMouse => return toggle_mouse(app),
        Action::Try => return trials::begin(app, argument),
        Action::UndoTurn | Action::RedoTurn | Action::Rewind => return undo::act(app, action),
        Action::Command(command) => {
            let typed = format!("/{} {argument}", command.name());
            if let Some(prompt) = command.prompt(argument) {
                return queue::send_for(app, typed.trim_end(), prompt);
            }
            let is_of_host = matches!(command.run, Run::Host(_));
            if !is_of_host && refusal::is_read_only(app) {
                app.composer.set(&typed);
                return Vec::new();
            }
            return vec![Effect::RunCommand(command, argument.to_owned())];
        }
        Action::NextPermissionMode | Action::PermissionMode => {
            return permission::act(app, action, argument);
        }
        Action::Theme => return themes::act(app, argument),
        Action::Trust => return trust(app, argument),
        Action::HistorySearch => history::open(app),
        Action::Models
        | Action::NextModel
        | Action::PreviousModel
        | Action::ThinkingUp
        | Action::ThinkingDown
        | Action::Thinking
        | Action::SaveModel => return models::act(app, action, argument),
        Action::Resume | Action::NewSession | Action::CloneSession => {
            return sessions::act(app, action, argument);
        }
        Action::Tree | Action::Fork | Action::EditPrompt => {
            return tree::act(app, action);
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
        Action::Newline
        | Action::Undo
        | Action::Redo
        | Action::Left
        | Action::Right
        | Action::Up
        | Action::Down
        | Action::WordLeft
        | Action::WordRight
        | Action::LineStart
        | Action::LineEnd
        | Action::DeleteBackward
        | Action::DeleteForward
        | Action::CutToSpaceBackward
        | Action::CutWordBackward
        | Action::CutWordForward
        | Action::CutToStart
        | Action::CutToEnd
        | Action::Yank
        | Action::YankPop => return completion::edit(app, action),
        // Their popups have handled them.
        Action::Accept
        | Action::Back
        | Action::ListPrevious
        | Action::ListNext
        | Action::ListAll
        | Action::TreeFilter
        | Action::TreeFilterBack
        | Action::TreeLabel
        | Action::SessionFolders
        | Action::SessionRename
        | Action::SessionRemove
        | Action::SessionCopy
        | Action::SelectMark
        | Action::SelectLines
        | Action::SelectSwap
        | Action::SelectCopy
        | Action::SelectOpen
        | Action::PagerNext => {}
    }
    Vec::new()
}

/// Sends the text of the editor, or does what it commands.
pub fn submit(app: &mut App, action: Action) -> Vec<Effect> {
    let command = command::parse(app);
    if command.as_ref().is_some_and(Command::sends_prompt)
        && let Some(check) = mentions::check(app, action)
    {
        return vec![check];
    }
    match command {
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
        Some(Command::Unknown(text)) => {
            app.composer.select_all();
            app.say_for(text, 5000)
        }
        Some(Command::Custom(lookup)) => command::look_up(app, lookup),
    }
}

/// Turns mouse support off, so that the terminal can select, or on again.
fn toggle_mouse(app: &mut App) -> Vec<Effect> {
    app.mouse = !app.mouse;
    let text = if app.mouse {
        "Mouse on: it scrolls, folds and selects"
    } else {
        "Mouse off: your terminal selects · /settings mouse to keep"
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
        other => {
            let why = format!("No /trust {other}: type /trust or /trust no");
            refusal::command(app, &format!("/trust {other}"), why)
        }
    }
}
