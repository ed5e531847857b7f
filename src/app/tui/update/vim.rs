//! Keys in vim's normal and visual modes, where the user wants that, and the way there.

use crate::app::tui::app::App;
use crate::app::tui::composer::{VimKey, VimMode, is_search};
use crate::app::tui::input::{KeyCode, KeyModifiers, KeyPress};

/// Does what a key means to vim; false where it means what it always does.
pub fn press(app: &mut App, press: KeyPress) -> bool {
    let Some((mode, keys)) = app.composer.vim() else {
        return false;
    };
    let leaves_insert = mode == VimMode::Insert && press.code == KeyCode::Esc;
    // What is typed then is a text.
    if app.asks().is_some() && !leaves_insert {
        return false;
    }
    // `r` and `f` wait for a character, and a count would go on with `0`: these keys are neither.
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
        // These begin something else than a text.
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

/// What is typed is text, in whatever mode: the question that it answers comes before vim.
pub fn write(app: &mut App) {
    let mode = app.composer.vim().map(|(mode, _)| mode);
    if mode.is_some_and(|mode| mode != VimMode::Insert) {
        app.composer.vim_insert();
    }
}
