//! The terminal: its size, its focus, its answers to queries.

use ratatui_core::layout::Size;

use super::{pictures, themes};
use crate::app::tui::app::App;
use crate::app::tui::effects::effect::{Effect, TerminalEffect};
use crate::app::tui::layout::editor_size;
use crate::app::tui::pointer::Pointer;
use crate::app::tui::popups::Overlay;
use crate::app::tui::terminal::input::TerminalReport;

pub fn resize(app: &mut App, size: Size) -> Vec<Effect> {
    app.size = size;
    let (width, rows) = editor_size(size);
    app.composer.resize(width, rows);
    pictures::follow(app);
    Vec::new()
}

pub fn cell(app: &mut App, cell: (u16, u16)) -> Vec<Effect> {
    app.graphics.set_cell(cell);
    pictures::follow(app);
    Vec::new()
}

pub fn focus(app: &mut App, focused: bool) -> Vec<Effect> {
    app.focused = focused;
    if focused {
        // Meanwhile another program may have switched branches or changed a theme.
        return vec![Effect::ReadGit, Effect::ReadThemes];
    }
    app.pointer = Pointer::default();
    // Keyboard selection continues when the focus is back.
    let selects = matches!(app.overlays.last(), Some(Overlay::Selecting(_)));
    app.transcript.hold(selects);
    Vec::new()
}

pub fn report(app: &mut App, report: TerminalReport) -> Vec<Effect> {
    use TerminalEffect::{Answered, ConfirmKitty, EnableKitty};
    let effects: &[TerminalEffect] = match report {
        // Some terminals answer but don't change their keys: trust only active flags.
        TerminalReport::KittyFlags(flags) if flags & 1 == 0 => &[EnableKitty],
        TerminalReport::KittyFlags(_) => {
            app.tells_keys = true;
            &[EnableKitty, ConfirmKitty]
        }
        TerminalReport::Name(name) => {
            app.graphics.name = name;
            &[]
        }
        TerminalReport::KittyGraphics => {
            app.graphics.kitty = true;
            &[]
        }
        TerminalReport::CellSize(width, height) => {
            if app.graphics.cell.is_none() {
                app.graphics.set_cell((width, height));
            }
            &[]
        }
        TerminalReport::PrimaryAttributes => {
            pictures::follow(app);
            let mut effects = themes::answered(app);
            effects.push(Effect::Terminal(Answered));
            return effects;
        }
        TerminalReport::Color(which, color) => {
            let effects = themes::color(app, which, color);
            pictures::follow(app);
            return effects;
        }
        TerminalReport::Scheme(is_light) => return themes::scheme(app, is_light),
    };
    effects.iter().cloned().map(Effect::Terminal).collect()
}
