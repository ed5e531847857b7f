//! What stands where the conversation will: who is here, and three hints. Quiet, and gone with the
//! first message.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::line::StyledLine;
use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::llm::ThinkingLevel;

/// Draws it at the foot of `area`, near the editor; what does not fit is left out from the top.
pub fn draw(app: &App, area: Rect, buffer: &mut Buffer) {
    let columns = area.width.saturating_sub(2);
    let room = usize::from(area.height.saturating_sub(1));
    let mut lines = lines(app, Some(usize::from(columns)));
    if lines.len() > room {
        // Of each notice its beginning, not of all of them the end.
        lines = self::lines(app, None);
    }
    let skipped = lines.len().saturating_sub(room);
    let shown = lines.len() - skipped;
    let top = area.bottom().saturating_sub(shown as u16 + 1).max(area.y);
    for (y, line) in lines[skipped..].iter().enumerate() {
        line.draw(buffer, area.x + 1, top + y as u16, columns);
    }
}

/// The notices are wrapped at `columns`, if that is given.
fn lines(app: &App, columns: Option<usize>) -> Vec<StyledLine> {
    let theme = &app.theme;
    let status = &app.status;
    let mut model = StyledLine::of(status.model.full_id(), theme.status_model);
    if status.is_demo() {
        model = StyledLine::of("demo", theme.status_model).with(
            ": a script speaks in place of a model; tools, files and screen are real",
            theme.dim,
        );
    } else if status.level_sent() != ThinkingLevel::Off {
        model.push(format!(" {}", status.level_sent()), theme.dim);
    }
    let mut lines = vec![
        StyledLine::of("tiller ", theme.strong).with(env!("CARGO_PKG_VERSION"), theme.dim),
        model,
        StyledLine::of(status.place(), theme.dim),
    ];
    if !app.start.notices.is_empty() {
        lines.push(StyledLine::new());
        for notice in &app.start.notices {
            for text in notice.lines() {
                match columns {
                    Some(columns) => lines.extend(StyledLine::wrapped(text, theme.info, columns)),
                    None => lines.push(StyledLine::of(text, theme.info)),
                }
            }
        }
    }
    if status.is_demo() {
        lines.push(StyledLine::new());
        let key = "export ANTHROPIC_API_KEY=YOUR_KEY";
        let other = "or OPENAI_API_KEY, or your own server in models.toml";
        lines.push(StyledLine::of(
            "To work with a model, set a key and start again:",
            theme.text,
        ));
        lines.push(StyledLine::of("  ", theme.text).with(key, theme.code));
        lines.push(StyledLine::of(format!("  {other}"), theme.dim));
    }
    lines.push(StyledLine::new());
    let hints = [
        (Action::Submit, "sends, or steers a run"),
        (Action::Newline, "starts a new line"),
        (Action::Help, "shows all keys"),
    ];
    let keys: Vec<String> = hints.iter().map(|(action, _)| app.key(*action)).collect();
    let columns = keys.iter().map(String::len).max().unwrap_or(0);
    for (key, (_, what)) in keys.iter().zip(hints) {
        lines.push(
            StyledLine::of(format!("{key:columns$}"), theme.key_hint)
                .with(format!("  {what}"), theme.dim),
        );
    }
    lines
}
