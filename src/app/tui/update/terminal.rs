//! The terminal: its size, its focus, its answers to queries.

use ratatui::layout::Size;

use crate::app::tui::app::App;
use crate::app::tui::effect::{Effect, TerminalEffect};
use crate::app::tui::input::TerminalReport;
use crate::app::tui::layout::editor_size;
use crate::app::tui::theme::Theme;

pub fn resize(app: &mut App, size: Size) -> Vec<Effect> {
    app.size = size;
    let (width, rows) = editor_size(size);
    app.composer.resize(width, rows);
    Vec::new()
}

pub fn focus(app: &mut App, focused: bool) -> Vec<Effect> {
    app.focused = focused;
    if focused {
        // Another program may have switched branches meanwhile.
        return vec![Effect::ReadBranch];
    }
    app.mouse_down = None;
    Vec::new()
}

/// The terminal answered a query.
pub fn report(app: &mut App, report: TerminalReport) -> Vec<Effect> {
    use TerminalEffect::{Answered, ConfirmKitty, EnableKitty};
    let effects: &[TerminalEffect] = match report {
        // Some terminals answer and then send keys as ever: only flags in force are a promise.
        TerminalReport::KittyFlags(flags) if flags & 1 == 0 => &[EnableKitty],
        TerminalReport::KittyFlags(_) => &[EnableKitty, ConfirmKitty],
        TerminalReport::PrimaryAttributes => &[Answered],
        TerminalReport::Background(red, green, blue) => {
            let light = 299 * u32::from(red) + 587 * u32::from(green) + 114 * u32::from(blue);
            return follow_background(app, light > 127_500);
        }
    };
    effects.iter().cloned().map(Effect::Terminal).collect()
}

/// Dark or light after the background.
fn follow_background(app: &mut App, light: bool) -> Vec<Effect> {
    let name = if light { "light" } else { "dark" };
    if let Some(depth) = app.adaptive_theme
        && app.theme.name != name
        && let Ok(theme) = Theme::load(name, depth)
    {
        app.theme = theme;
        return vec![Effect::Terminal(TerminalEffect::LayOutAnew)];
    }
    Vec::new()
}
