//! The completion list for commands, arguments and files: opening it, its keys, closing it.

use super::{editor, keys};
use crate::app::action::{Action, Scope};
use crate::app::commands::CustomCommand;
use crate::app::models::ProviderKey;
use crate::app::tui::app::App;
use crate::app::tui::completion::{
    Candidate, Completion, CompletionKind, InForce, Token, arguments, begins_a_command, commands,
    file_candidates, path_candidates, takes_lines, token, waits_for_argument, wanted,
};
use crate::app::tui::effects::effect::Effect;
use crate::app::tui::msg::FoundFiles;
use crate::app::tui::terminal::input::KeyPress;

/// Opens, updates or closes the list after the user typed or erased something.
pub fn typed(app: &mut App) -> Vec<Effect> {
    let before = app.completion.take();
    if app.rule.is_some() || !app.overlays.is_empty() {
        return Vec::new();
    }
    let text = app.composer.before_caret();
    let is_message = app.composer.is_message();
    // In a shell command `@` isn't a mention; Tab completes paths there.
    let token = token(text).filter(|_| !app.composer.is_for_shell());
    let (kind, typed) = match token {
        Some(Token::Command(_) | Token::Argument(..)) if is_message => return Vec::new(),
        None => {
            app.dismissed = false;
            return Vec::new();
        }
        Some(Token::Command(word)) => (CompletionKind::Command, format!("/{word}")),
        Some(Token::Argument(action, rest)) => (CompletionKind::Argument(action), rest.to_owned()),
        Some(Token::Mention(mention)) => (CompletionKind::File, mention.to_owned()),
    };
    if app.dismissed {
        return Vec::new();
    }
    let mut effects = Vec::new();
    let list = match kind {
        CompletionKind::Command => {
            if before.is_none() {
                effects.push(Effect::ListCustomCommands);
            }
            Some(command_list(app, typed))
        }
        CompletionKind::Argument(action) => {
            let before = before.filter(|before| before.kind == kind);
            effects.extend(ask_for(app, action, before.is_none()));
            let known = before.map(|before| before.known).unwrap_or_default();
            argument_list(app, action, &typed, known)
        }
        CompletionKind::File | CompletionKind::Path => {
            effects.push(Effect::FindFiles(wanted(&typed).to_owned()));
            let mut list = match before {
                // Show the old results until the new ones arrive.
                Some(before) if before.kind == kind => Completion { typed, ..before },
                _ => Completion::new(kind, typed, Vec::new()),
            };
            list.waits = true;
            Some(list)
        }
    };
    app.completion = list;
    effects
}

fn command_list(app: &App, typed: String) -> Completion {
    let word = typed.trim_start_matches('/');
    let mut custom = app.custom_commands.iter();
    let begins = begins_a_command(word) || custom.any(|it| it.name.starts_with(word));
    let found = commands(&app.keymap, word, &app.custom_commands);
    Completion {
        selected: begins.then_some(0),
        ..Completion::new(CompletionKind::Command, typed, found)
    }
}

fn argument_list(
    app: &App,
    action: Action,
    typed: &str,
    known: Vec<Candidate>,
) -> Option<Completion> {
    let now = InForce {
        models: &app.models,
        thinking: app.status.thinking,
        permission: app.status.permission,
        themes: &app.themes,
        known: &known,
    };
    let list = arguments(action, typed, &now)?;
    Some(Completion { known, ..list })
}

/// The data to load for the arguments of a command when the list opens.
fn ask_for(app: &App, action: Action, opens: bool) -> Option<Effect> {
    match action {
        Action::Models if opens && !app.models.is_read => Some(Effect::ListModels),
        Action::Login if opens => Some(Effect::ListProviders),
        _ => None,
    }
}

/// Adds the user's own commands to the list, if it is open.
pub fn commands_listed(app: &mut App, listed: Vec<CustomCommand>) {
    if app.custom_commands == listed {
        return;
    }
    app.custom_commands = listed;
    if let Some(list) = &app.completion
        && list.kind == CompletionKind::Command
        && !list.moved
    {
        app.completion = Some(command_list(app, list.typed.clone()));
    }
}

/// Shows the candidates for the argument of `action`, if its list is open.
pub fn arguments_read(app: &mut App, action: Action, known: Vec<Candidate>) {
    let kind = CompletionKind::Argument(action);
    if let Some(list) = app.completion.as_ref().filter(|list| list.kind == kind) {
        let behind = match token(app.composer.before_caret()) {
            Some(Token::Argument(_, rest)) => rest.to_owned(),
            _ => list.typed.clone(),
        };
        app.completion = argument_list(app, action, &behind, known);
    }
}

pub fn providers_listed(app: &mut App, providers: &[ProviderKey]) {
    let candidate = |provider: &ProviderKey| {
        Candidate::new(
            &provider.name,
            provider.place.as_deref().unwrap_or_default(),
        )
    };
    let candidates = providers.iter().map(candidate).collect();
    arguments_read(app, Action::Login, candidates);
}

/// Shows the files found, unless the query has changed since.
pub fn files_found(app: &mut App, found: FoundFiles) {
    if let Some(list) = &mut app.completion
        && list.kind == CompletionKind::File
        && wanted(&list.typed) == found.typed
    {
        list.waits = found.waits;
        list.set(file_candidates(&list.typed, found.paths));
    }
}

/// Completes a path from the names in its folder: the only match, or the common start of several.
pub fn folder_read(app: &mut App, typed: &str, names: Vec<String>) {
    // The text may have changed since.
    let before = app.composer.before_caret();
    let (typed, names) = match before.strip_prefix('!') {
        Some(command) => {
            let word = shell_word(command).filter(|word| unescaped(word) == typed);
            let Some(word) = word else { return };
            let names = names.iter().map(|name| shell_escaped(name)).collect();
            (word.to_owned(), names)
        }
        None if before.ends_with(typed) => (typed.to_owned(), names),
        None => return,
    };
    if !app.overlays.is_empty() {
        return;
    }
    let typed = typed.as_str();
    let found = path_candidates(typed, names);
    let common = match found.as_slice() {
        [] => {
            let queue = if app.is_running() {
                format!(" · {} queues the text", app.key(Action::FollowUp))
            } else {
                String::new()
            };
            return drop(app.say_for(format!("No path starts with {typed}{queue}"), 3000));
        }
        [only] => only.insert.clone(),
        several => common_start(several),
    };
    app.completion = None;
    let common = if common.len() > typed.len() {
        common
    } else {
        typed.to_owned()
    };
    if common != typed {
        app.composer.complete(typed.len(), &common);
    }
    if found.len() > 1 {
        app.completion = Some(Completion::new(CompletionKind::Path, common, found));
    }
}

fn common_start(several: &[Candidate]) -> String {
    let mut common = several[0].insert.as_str();
    for other in &several[1..] {
        let mut same = common.char_indices().zip(other.insert.chars());
        let end = same.find(|((_, one), two)| one != two);
        let end = end.map_or(common.len().min(other.insert.len()), |((at, _), _)| at);
        common = &common[..end];
    }
    // A trailing lone backslash would escape the next character typed.
    let slashes = common.len() - common.trim_end_matches('\\').len();
    common[..common.len() - slashes % 2].to_owned()
}

/// The last word of a shell command, if it can be a path. `None` inside quotes.
fn shell_word(command: &str) -> Option<&str> {
    let mut start = 0;
    let mut chars = command.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '"' | '\'' | '`' => return None,
            c if c.is_whitespace() || "<>|&;()=!".contains(c) => start = at + c.len_utf8(),
            _ => {}
        }
    }
    Some(&command[start..])
}

/// A word of a shell command without its escapes.
fn unescaped(word: &str) -> String {
    let mut chars = word.chars();
    std::iter::from_fn(|| match chars.next()? {
        '\\' => chars.next(),
        c => Some(c),
    })
    .collect()
}

/// A file name as one word of a shell command, with special characters escaped.
fn shell_escaped(name: &str) -> String {
    let mut word = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_ascii() && !c.is_ascii_alphanumeric() && !"/._-+,:@%".contains(c) {
            word.push('\\');
        }
        word.push(c);
    }
    word
}

pub fn complete_path(app: &mut App) -> Vec<Effect> {
    let before = app.composer.before_caret();
    let word = match before.strip_prefix('!') {
        Some(command) => shell_word(command),
        None => before.rsplit(char::is_whitespace).next(),
    };
    let word = word.unwrap_or_default();
    if word.is_empty() {
        return app.say_for("Tab complete a path · @ find files · / commands", 3000);
    }
    vec![Effect::ReadFolder(if before.starts_with('!') {
        unescaped(word)
    } else {
        word.to_owned()
    })]
}

/// Handles a key of the list; `None` leaves it to the editor.
pub fn press(app: &mut App, press: KeyPress) -> Option<Vec<Effect>> {
    let list = app.completion.as_mut()?;
    if !app.overlays.is_empty() {
        app.completion = None;
        return None;
    }
    let page = isize::from((app.areas.completion.height as i16).max(2) - 1);
    let action = app.keymap.resolve(press, Scope::List)?;
    if list.candidates.is_empty() {
        if action == Action::Back {
            dismiss(app);
            return Some(Vec::new());
        }
        return None;
    }
    match action {
        Action::Up | Action::ListPrevious => list.go(-1),
        Action::Down | Action::ListNext => list.go(1),
        Action::PageUp => list.go(-page),
        Action::PageDown => list.go(page),
        Action::Back => dismiss(app),
        Action::Complete => {
            if list.selected.is_none() {
                list.selected = Some(0);
            }
            return Some(take(app, false));
        }
        Action::Accept if list.selected.is_some() => {
            let sends = matches!(list.kind, CompletionKind::File | CompletionKind::Path);
            if sends && list.is_typed() {
                app.completion = None;
                return None;
            }
            return Some(take(app, true));
        }
        _ => return None,
    }
    Some(Vec::new())
}

pub fn click(app: &mut App, row: usize) -> Vec<Effect> {
    let Some(list) = app
        .completion
        .as_mut()
        .filter(|list| row < list.candidates.len())
    else {
        return Vec::new();
    };
    list.choose(row);
    take(app, true)
}

/// Esc: keeps the list closed until another token is typed.
fn dismiss(app: &mut App) {
    app.completion = None;
    app.dismissed = true;
}

/// Inserts the chosen candidate, and runs the command if `runs`.
fn take(app: &mut App, runs: bool) -> Vec<Effect> {
    let Some(list) = app.completion.take() else {
        return Vec::new();
    };
    let Some(chosen) = list.chosen() else {
        return Vec::new();
    };
    let typed_whole = list.is_typed();
    let mut insert = chosen.insert.clone();
    let (mut runs, mut goes_on) = (runs, false);
    match list.kind {
        CompletionKind::Command => {
            let word = insert.trim_start_matches('/');
            let of_user = app.custom_commands.iter().find(|it| it.name == word);
            let hint = of_user.and_then(|it| it.argument.as_deref());
            let needs_more = hint.is_some_and(|hint| !hint.starts_with('['));
            let waits = needs_more || waits_for_argument(word);
            runs &= typed_whole || !waits;
            if !runs {
                insert.push(' ');
                goes_on = true;
            }
        }
        CompletionKind::Argument(_) => {}
        CompletionKind::File | CompletionKind::Path => {
            runs = false;
            goes_on = insert.ends_with('/') && list.kind == CompletionKind::File;
        }
    }
    app.composer.complete(list.typed.len(), &insert);
    if runs {
        return keys::act(app, Action::Submit, "");
    }
    if list.kind == CompletionKind::Path && insert.ends_with('/') {
        return complete_path(app);
    }
    if goes_on { typed(app) } else { Vec::new() }
}

/// Closes the list when the text before the caret no longer matches it.
pub fn close_when_elsewhere(app: &mut App) {
    if let Some(list) = &app.completion {
        let before = app.composer.before_caret();
        let stays = match (list.kind, token(before)) {
            (CompletionKind::Path, _) => before.ends_with(&list.typed),
            (CompletionKind::Command, Some(Token::Command(word))) => {
                list.typed.strip_prefix('/') == Some(word)
            }
            (CompletionKind::Argument(action), Some(Token::Argument(of, rest))) if of == action => {
                // Some lists complete only the last word.
                let start = rest.strip_suffix(list.typed.as_str());
                start.is_some_and(|it| it.is_empty() || it.ends_with(char::is_whitespace))
            }
            (CompletionKind::File, Some(Token::Mention(mention))) => mention == list.typed,
            _ => false,
        };
        if !stays || !app.overlays.is_empty() {
            app.completion = None;
        }
    }
    if app.composer.is_empty() {
        app.dismissed = false;
    }
}

/// Types a character and updates the list. A colon begins the lines of a file just completed.
pub fn insert(app: &mut App, c: char) -> Vec<Effect> {
    if c == ':' && takes_lines(app.composer.before_caret()) {
        editor::act(app, Action::DeleteBackward);
    }
    editor::insert(app, c);
    typed(app)
}

/// Does an edit, and updates the list if it erased something.
pub fn edit(app: &mut App, action: Action) -> Vec<Effect> {
    let before = app.composer.revision();
    editor::act(app, action);
    let erases = matches!(
        action,
        Action::DeleteBackward
            | Action::DeleteForward
            | Action::CutWordBackward
            | Action::CutToSpaceBackward
    );
    if erases && before != app.composer.revision() {
        return typed(app);
    }
    Vec::new()
}
