//! News of the terminal: its size, its focus, its answers, its end.

use super::stop;
use crate::app::tui::app::App;
use crate::app::tui::effect::Effect;
use crate::app::tui::input::{ColorScheme, TerminalReport};
use crate::app::tui::layout::editor_size;
use crate::app::tui::msg::TerminalMsg;
use crate::app::tui::theme::{ColorDepth, Theme};

/// Something about the terminal.
pub fn news(app: &mut App, news: TerminalMsg) -> Vec<Effect> {
    match news {
        TerminalMsg::Resize(size) => {
            app.size = size;
            let (width, rows) = editor_size(size);
            app.composer.resize(width, rows);
            Vec::new()
        }
        TerminalMsg::Focus(true) => vec![Effect::ReadBranch],
        TerminalMsg::Focus(false) => {
            app.mouse_down = None;
            Vec::new()
        }
        TerminalMsg::Report(report) => answer(app, &report),
        TerminalMsg::End(kind) => stop::end(app, kind),
        TerminalMsg::Interrupt => stop::interrupt(app),
        TerminalMsg::Stop => vec![Effect::Suspend],
    }
}

fn answer(app: &mut App, report: &TerminalReport) -> Vec<Effect> {
    match report {
        // Some terminals answer and then send keys as ever: only flags in force are a promise.
        TerminalReport::KittyFlags(flags) if flags & 1 == 0 => return vec![Effect::EnableKitty],
        TerminalReport::KittyFlags(_) => return vec![Effect::EnableKitty, Effect::ConfirmKitty],
        TerminalReport::PrimaryAttributes(_) => return vec![Effect::Answered],
        TerminalReport::Background(red, green, blue) => {
            let light = 299 * u32::from(*red) + 587 * u32::from(*green) + 114 * u32::from(*blue);
            follow_background(app, light > 127_500);
        }
        TerminalReport::ColorScheme(scheme) => {
            follow_background(app, *scheme == ColorScheme::Light);
        }
        _ => {}
    }
    Vec::new()
}

/// Dark or light after the background, unless the person chose a theme or has few colours.
fn follow_background(app: &mut App, light: bool) {
    let rich = matches!(app.depth, ColorDepth::TrueColor | ColorDepth::Indexed256);
    let name = if light { "light" } else { "dark" };
    if app.theme_is_chosen || !rich || app.theme.name == name {
        return;
    }
    if let Ok(theme) = Theme::load(name, app.depth) {
        app.theme = theme;
    }
}
