//! The terminal window: its title, its progress in the task bar, and the cursor's shape in vim's
//! modes. Each is written only when it changes.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::agent::RunState;
use crate::app::manners::Manners;
use crate::app::sanitize::visible_line;
use crate::app::tui::app::App;
use crate::app::tui::composer::VimMode;

const MAX_TITLE: usize = 80;

#[derive(Debug)]
pub struct Window {
    title: bool,
    progress: bool,
    shown: Option<(String, State)>,
    /// The cursor's shape; `None` for the terminal's default.
    cursor: Option<CursorShape>,
    /// Whether to restore it at the end.
    shaped: Arc<AtomicBool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CursorShape {
    Block,
    Bar,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    Working,
    Asking,
}

impl Window {
    pub fn new(
        manners: Manners,
        shaped: Arc<AtomicBool>,
        env: impl Fn(&str) -> Option<String>,
    ) -> Self {
        Self {
            title: manners.title,
            progress: manners.progress && shows_progress(env),
            shown: None,
            cursor: None,
            shaped,
        }
    }

    /// The bytes that update the window, if anything changed.
    pub fn update(&mut self, app: &App) -> String {
        let now = (title(app), state(app));
        let mut out = String::new();
        let cursor = app.composer.vim().map(|(mode, _)| match mode {
            VimMode::Insert => CursorShape::Bar,
            VimMode::Normal | VimMode::Visual { .. } => CursorShape::Block,
        });
        if cursor != self.cursor {
            out.push_str(match cursor {
                None => OWN_CURSOR,
                Some(CursorShape::Block) => "\x1b[2 q",
                Some(CursorShape::Bar) => "\x1b[6 q",
            });
            self.cursor = cursor;
            self.shaped.store(cursor.is_some(), Ordering::Relaxed);
        }
        if self.shown.as_ref() == Some(&now) {
            return out;
        }
        let before = self.shown.as_ref().map(|(_, state)| *state);
        if self.title {
            let _ = write!(out, "\x1b]2;{}\x1b\\", now.0);
        }
        if self.progress && before != Some(now.1) && (before.is_some() || now.1 != State::Idle) {
            // Indeterminate, paused, and none.
            out.push_str(match now.1 {
                State::Working => "\x1b]9;4;3\x1b\\",
                State::Asking => "\x1b]9;4;4;100\x1b\\",
                State::Idle => NO_PROGRESS,
            });
        }
        self.shown = Some(now);
        out
    }

    /// Makes the next update write everything, because another program had the terminal.
    pub fn forget(&mut self) {
        self.shown = None;
        self.cursor = None;
    }
}

pub const NO_PROGRESS: &str = "\x1b]9;4;0\x1b\\";

/// Resets the cursor to the shape in the terminal's settings.
pub const OWN_CURSOR: &str = "\x1b[0 q";

/// Whether a terminal with these variables shows progress; others may show a notification instead.
pub fn shows_progress(var: impl Fn(&str) -> Option<String>) -> bool {
    let program = var("TERM_PROGRAM").unwrap_or_default();
    var("TMUX").is_none()
        && var("STY").is_none()
        && (matches!(program.as_str(), "ghostty" | "WezTerm")
            || var("WT_SESSION").is_some()
            || var("ConEmuANSI").is_some_and(|on| on == "ON"))
}

fn state(app: &App) -> State {
    match app.run {
        _ if !app.questions.is_empty() => State::Asking,
        RunState::Running { .. } => State::Working,
        RunState::Stopping { .. } | RunState::Idle => State::Idle,
    }
}

/// The state mark, the session and the folder.
fn title(app: &App) -> String {
    let mark = match state(app) {
        State::Idle => "",
        State::Working => "● ",
        State::Asking => "? ",
    };
    let session = app
        .status
        .session
        .as_ref()
        .and_then(|session| session.label());
    let place = app.status.place();
    let folder = place.rsplit('/').next().unwrap_or(&place);
    let title = format!("{mark}{} · {folder}", session.unwrap_or("tiller"));
    visible_line(&title).chars().take(MAX_TITLE).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_written_only_where_it_is_shown() {
        for (variables, expected) in [
            (&[("TERM_PROGRAM", "ghostty")][..], true),
            (&[("TERM_PROGRAM", "ghostty"), ("TMUX", "x")], false),
            (&[("TERM_PROGRAM", "ghostty"), ("STY", "x")], false),
            (&[("WT_SESSION", "1")], true),
            (&[("TERM_PROGRAM", "Apple_Terminal")], false),
            (&[], false),
        ] {
            let var = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(shows_progress(var), expected, "{variables:?}");
        }
    }
}
