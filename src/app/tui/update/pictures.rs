//! Decides how to show pictures, from the terminal's abilities and the user's setting.

use ratatui_core::style::Color;

use crate::app::tui::app::App;
use crate::app::tui::picture::PictureLayout;
use crate::app::tui::picture::layout::USUAL_CELL;
use crate::app::tui::theme::Kind;

/// Updates the picture layout after one of its inputs changed.
pub fn follow(app: &mut App) {
    let depth = app.themes.depth;
    let protocol = app.graphics.protocol(depth);
    let usual = match app.theme.kind {
        Kind::Dark => (0, 0, 0),
        Kind::Light => (255, 255, 255),
    };
    let painted = match app.theme.screen.bg {
        Some(Color::Rgb(r, g, b)) => Some((r, g, b)),
        _ => app.themes.terminal.ground,
    };
    let layout = protocol.map(|protocol| PictureLayout {
        protocol,
        cell: app.graphics.cell.unwrap_or(USUAL_CELL),
        // Height of a folded picture: a third of the screen, within limits.
        rows: (app.size.height / 3).clamp(4, 16),
        ground: painted.unwrap_or(usual),
        depth,
    });
    app.transcript.set_pictures(layout);
}
