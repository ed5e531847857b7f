//! From options to an [`App`]: keys, colors, the facts of the status line. Fast, for the first
//! frame waits for it; whatever is slow comes after that frame.

use ratatui::layout::Size;

use super::app::{App, AppOptions, Start, Status};
use super::keymap::Keymap;
use super::options::{ExitKind, TuiOptions};
use super::theme::{ColorDepth, Theme};
use crate::llm::Usage;

/// An app on which nothing has happened, or why there is none. What it takes from `options` is gone
/// from there.
pub(super) fn app(options: &mut TuiOptions, size: Size, now: i64) -> Result<App, ExitKind> {
    let keymap = Keymap::load(options.keymap_file.as_deref())
        .map_err(|error| ExitKind::BadKeymap(error.to_string()))?;
    let depth = color_depth();
    let name = match (&options.theme, depth) {
        (Some(name), _) => name.as_str(),
        (None, ColorDepth::None | ColorDepth::Ansi16) => "ansi",
        (None, _) => "dark",
    };
    let theme = Theme::load(name, depth).map_err(|error| ExitKind::Unusable(error.to_string()))?;
    Ok(App::new(AppOptions {
        size,
        now,
        keymap,
        theme,
        depth,
        theme_is_chosen: options.theme.is_some(),
        status: Status {
            cwd: options.cwd.clone(),
            home: std::env::home_dir(),
            branch: None,
            session: options.session.take(),
            model: options.model.clone(),
            thinking: options.thinking,
            permission: options.permission.clone(),
            total: Usage::default(),
            context: 0,
        },
        start: Start {
            prompt: std::mem::take(&mut options.initial_prompt),
            demo: options.demo.take().map(|demo| (demo, 0)),
            notices: std::mem::take(&mut options.notices),
        },
    }))
}

/// How many colors the terminal says it has.
fn color_depth() -> ColorDepth {
    let var = |name| std::env::var(name).unwrap_or_default();
    depth_of(&var("NO_COLOR"), &var("COLORTERM"), &var("TERM"))
}

fn depth_of(no_color: &str, colorterm: &str, term: &str) -> ColorDepth {
    if !no_color.is_empty() {
        ColorDepth::None
    } else if matches!(colorterm, "truecolor" | "24bit") || term.ends_with("-direct") {
        ColorDepth::TrueColor
    } else if term.contains("256color") {
        ColorDepth::Indexed256
    } else {
        ColorDepth::Ansi16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_are_as_many_as_the_terminal_has() {
        for (no_color, colorterm, term, wanted) in [
            ("1", "truecolor", "xterm-256color", ColorDepth::None),
            ("", "truecolor", "xterm", ColorDepth::TrueColor),
            ("", "", "tmux-256color", ColorDepth::Indexed256),
            ("", "", "xterm-direct", ColorDepth::TrueColor),
            ("", "", "linux", ColorDepth::Ansi16),
            ("", "", "", ColorDepth::Ansi16),
        ] {
            assert_eq!(
                depth_of(no_color, colorterm, term),
                wanted,
                "{colorterm} {term}"
            );
        }
    }
}
