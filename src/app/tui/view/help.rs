//! The help, as lines for the box they are shown in.

use super::line::StyledLine;
use crate::app::tui::app::App;
use crate::app::tui::overlay::{FIRST_KEYS, HelpLine, help_lines};

/// The keys that matter, one line each, and what begins with a sign.
pub fn first_lines(app: &App) -> Vec<StyledLine> {
    let theme = &app.theme;
    let key_style = theme.popup.patch(theme.strong);
    let keys = FIRST_KEYS.map(|(action, text)| (app.key(action), text));
    let signs = [
        ("/", "commands: /new, /resume, /undo, /theme and more"),
        ("\\ Enter", "new line too"),
        ("Shift+drag", "select as the terminal does"),
    ];
    let signs = signs.map(|(key, text)| (key.to_owned(), text));
    let rows: Vec<_> = keys.into_iter().chain(signs).collect();
    let left = rows.iter().map(|(key, _)| key.len()).max().unwrap_or(0) + 2;
    rows.iter()
        .map(|(key, text)| {
            StyledLine::of(format!("{key:left$}"), key_style).with(*text, theme.popup)
        })
        .collect()
}

/// Keys and what they do side by side; on a narrow screen the text stands below its keys.
pub fn lines(app: &App, inside: usize) -> Vec<StyledLine> {
    let theme = &app.theme;
    let key_style = theme.popup.patch(theme.strong);
    let key_columns = (inside / 3).clamp(1, 26);
    let mut lines = Vec::new();
    for line in help_lines(&app.keymap) {
        match line {
            HelpLine::Blank => lines.push(StyledLine::new()),
            HelpLine::Heading(title) => {
                lines.push(StyledLine::of(title, theme.popup_title));
            }
            HelpLine::Action { keys, help } if inside < 50 => {
                lines.extend(StyledLine::wrapped(&keys, key_style, inside));
                for help in StyledLine::wrapped(&help, theme.popup, inside.saturating_sub(2)) {
                    lines.push(StyledLine::of("  ", theme.popup).then(&help));
                }
            }
            HelpLine::Action { keys, help } => {
                let keys = StyledLine::wrapped(&keys, key_style, key_columns);
                let left = key_columns + 2;
                let help = StyledLine::wrapped(&help, theme.popup, inside.saturating_sub(left));
                for at in 0..keys.len().max(help.len()) {
                    let mut line = keys.get(at).cloned().unwrap_or_default();
                    line.push(" ".repeat(left.saturating_sub(line.width())), theme.popup);
                    lines.push(match help.get(at) {
                        Some(help) => line.then(help),
                        None => line,
                    });
                }
            }
        }
    }
    lines
}
