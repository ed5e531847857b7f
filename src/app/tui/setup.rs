//! From options to an [`App`]: keys and colors. Fast, for the first frame waits for it; whatever is
//! slow comes after that frame.

use ratatui::layout::Size;

use super::app::App;
use super::keymap::Keymap;
use super::options::TuiOptions;
use super::theme::{ColorDepth, Theme};
use super::update;

/// An app on which nothing has happened, or why there is none. It takes `options.start`.
pub(super) fn app(options: &mut TuiOptions, size: Size, now: i64) -> Result<App, String> {
    let keymap = Keymap::load(&options.keymap_file).map_err(|error| error.to_string())?;
    let depth = color_depth();
    let rich = matches!(depth, ColorDepth::TrueColor | ColorDepth::Indexed256);
    let name = match &options.theme {
        Some(name) => name.as_str(),
        None if rich => "dark",
        None => "ansi",
    };
    let theme = Theme::load(name, depth).map_err(|error| error.to_string())?;
    let mut app = App::new(size, now, keymap, theme, options.status.clone());
    app.adaptive_theme = (options.theme.is_none() && rich).then_some(depth);
    app.notify = options.notify;
    app.start = std::mem::take(&mut options.start);
    let (branch, facts) = std::mem::take(&mut app.start.history);
    if !branch.is_empty() {
        update::show(&mut app, &branch, &facts);
    }
    Ok(app)
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
