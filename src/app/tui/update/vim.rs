//! Keys in vim's normal and visual modes.

use crate::app::tui::app::App;
use crate::app::tui::composer::{VimKey, VimMode, is_search};
use crate::app::tui::terminal::input::{KeyCode, KeyModifiers, KeyPress};

/// Handles a vim key; false leaves it to the other contexts.
pub fn press(app: &mut App, press: KeyPress) -> bool {
    let Some((mode, keys)) = app.composer.vim() else {
        return false;
    };
    let leaves_insert = mode == VimMode::Insert && press.code == KeyCode::Esc;
    // During a question, typing writes text.
    if app.asks().is_some() && !leaves_insert {
        return false;
    }
    // `r` and `f` wait for a character, and `0` would extend a count: these keys cancel both.
    let searches = is_search(&keys);
    let replaces = !searches && keys.ends_with('r');
    let takes = press.mods == KeyModifiers::NONE
        && match press.code {
            KeyCode::Enter => searches || replaces,
            KeyCode::Backspace => searches,
            _ => false,
        };
    let waits = searches
        || keys.ends_with(['r', 'f', 'F', 't', 'T'])
        || (press.code == KeyCode::Home && keys.ends_with(|c: char| c.is_ascii_digit()));
    if waits && !takes && press.text().is_none() && press.code != KeyCode::Esc {
        app.composer.vim_press(VimKey::Escape);
    }
    let key = match (press.code, press.mods) {
        (KeyCode::Esc, KeyModifiers::NONE) => VimKey::Escape,
        _ if mode == VimMode::Insert => return false,
        // These start a command or a mention, not a vim command.
        (KeyCode::Char('/' | '!' | '@'), KeyModifiers::NONE) if app.composer.is_empty() => {
            app.composer.vim_insert();
            return false;
        }
        (KeyCode::Char('r'), KeyModifiers::CONTROL) => VimKey::Redo,
        (KeyCode::Enter, _) if takes => VimKey::Char('\n'),
        (KeyCode::Backspace, _) if takes => VimKey::Erase,
        (KeyCode::Char(':'), KeyModifiers::NONE) if keys.is_empty() => {
            app.say("No ex commands here; use / for commands");
            return true;
        }
        (code, KeyModifiers::NONE) => match code {
            KeyCode::Char(c) => VimKey::Char(c),
            KeyCode::Left | KeyCode::Backspace => VimKey::Char('h'),
            KeyCode::Right => VimKey::Char('l'),
            KeyCode::Up => VimKey::Char('k'),
            KeyCode::Down => VimKey::Char('j'),
            KeyCode::Home => VimKey::Char('0'),
            KeyCode::End => VimKey::Char('$'),
            KeyCode::Delete => VimKey::Char('x'),
            _ => return false,
        },
        _ => return false,
    };
    let takes = app.composer.vim_press(key);
    if takes && key == VimKey::Escape {
        app.presses.vim_escape = Some(app.now);
    }
    takes
}

/// Leaves normal mode before inserting text: a question takes precedence over vim.
pub fn write(app: &mut App) {
    let mode = app.composer.vim().map(|(mode, _)| mode);
    if mode.is_some_and(|mode| mode != VimMode::Insert) {
        app.composer.vim_insert();
    }
}
