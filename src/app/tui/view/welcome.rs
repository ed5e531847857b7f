//! The first screen: model, mode, what is missing, what to do next. Any message removes it.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;

use super::line::StyledLine;
use crate::agent::permission::PermissionMode;
use crate::app::action::Action;
use crate::app::humanize::age;
use crate::app::sessions::Recent;
use crate::app::tui::app::App;
use crate::app::tui::keymap::label;
use crate::app::tui::layout::MEASURE;
use crate::app::tui::text::width::{ellipsis, width};
use crate::llm::ThinkingLevel;

/// Blank rows above it, if the screen has room.
const AIR: u16 = 1;

/// Rows needed to show everything.
pub fn height(app: &App, width: u16) -> u16 {
    lines(app, usize::from(columns(width))).len() as u16 + AIR + 1
}

fn columns(width: u16) -> u16 {
    width.saturating_sub(2 * margin(width)).min(MEASURE)
}

fn margin(width: u16) -> u16 {
    if width >= 60 { 3 } else { 1 }
}

/// Draws the screen at the top of `area`, cut off at the end.
pub fn draw(app: &App, area: Rect, buffer: &mut Buffer) {
    let (margin, columns) = (margin(area.width), columns(area.width));
    let room = usize::from(area.height.saturating_sub(1));
    let mut lines = lines(app, usize::from(columns));
    if lines.len() > room {
        // Drop the blank rows between the parts.
        lines.retain(|line| line.width() > 0);
    }
    let air = if lines.len() + usize::from(AIR) <= room {
        AIR
    } else {
        0
    };
    for (y, line) in (area.y + air..area.bottom()).zip(&lines) {
        line.draw(buffer, area.x + margin, y, columns);
    }
}

fn lines(app: &App, columns: usize) -> Vec<StyledLine> {
    let theme = &app.theme;
    let status = &app.status;
    let mut name = StyledLine::of("⎈ ", theme.accent).with("tiller", theme.strong);
    if !status.is_demo() {
        name.push("   ", theme.dim);
        name.push(status.model.full_id(), theme.status_model);
        if status.level_sent() != ThinkingLevel::Off {
            name.push(format!(" {}", status.level_sent()), theme.dim);
        }
    }
    let mut lines = vec![name, StyledLine::new()];
    for notice in app.start.notices() {
        for text in notice.lines() {
            lines.extend(StyledLine::wrapped(text, theme.info, columns));
        }
    }
    if app.start.notices().next().is_some() {
        lines.push(StyledLine::new());
    }
    if let Some(recent) = &app.start.recent {
        lines.push(goes_on(app, recent, columns));
        lines.push(StyledLine::new());
    }
    // In full mode a notice says so.
    if !status.is_demo() && status.permission != PermissionMode::Full {
        lines.extend(mode(app, columns));
    }
    let help = format!("help · {} quit", app.key(Action::Quit));
    let mut keys: Vec<(String, &str)> = Vec::new();
    if status.is_demo() {
        lines.extend(no_model(app, columns));
        lines.push(StyledLine::new());
        let demo = "watch a 30-second demo (scripted, in a temporary folder)";
        keys.push((app.key(Action::Submit), demo));
        keys.push(("/login".to_owned(), "add an API key"));
    } else if app.start.no_key.as_ref() == Some(&status.model.provider) {
        let text = format!("No API key for {} yet", status.model.provider);
        lines.extend(StyledLine::wrapped(&text, theme.warning, columns));
        lines.push(StyledLine::new());
        keys.push((format!("/login {}", status.model.provider), "add one"));
        keys.push((app.key(Action::Models), "choose another model"));
    } else {
        // Not beside the offer to continue, where it would be untrue.
        if app.start.recent.is_none() {
            keys.push((app.key(Action::Submit), "send, or steer a running task"));
        }
        keys.push(("/".to_owned(), "commands"));
    }
    // The key that all terminals send: many that claim to send Shift+Enter don't.
    let mut newline = app.keymap.keys(Action::Newline);
    let newline = newline.find(|key| !key.needs_modern_terminal()).map(label);
    let newline = newline.unwrap_or_else(|| app.key(Action::Newline));
    keys.push((newline, "new line"));
    keys.push((app.key(Action::Help), &help));
    let field = keys.iter().map(|(key, _)| width(key)).max().unwrap_or(0);
    for (key, what) in keys {
        lines.push(
            StyledLine::of(format!("{key:field$}"), theme.key_hint)
                .with(format!("   {what}"), theme.dim),
        );
    }
    lines
}

/// What tiller does without asking, and the key that changes it, if there is room.
fn mode(app: &App, columns: usize) -> Vec<StyledLine> {
    let theme = &app.theme;
    let mode = app.status.permission;
    let line = StyledLine::of(mode.name(), theme.text)
        .with(format!(": {}", mode.meaning()), theme.dim)
        .with(" · ", theme.dim)
        .with(app.key(Action::NextPermissionMode), theme.key_hint)
        .with(" change mode", theme.dim);
    if line.width() > columns {
        return Vec::new();
    }
    vec![line, StyledLine::new()]
}

/// The command that stores a key. It is never cut.
fn no_model(app: &App, columns: usize) -> Vec<StyledLine> {
    let theme = &app.theme;
    let command = "tiller auth add anthropic";
    let others = "in a shell, or type /login; or start Ollama";
    let line = |what: &str| StyledLine::of(what, theme.text).with(command, theme.code);
    let short = line("No key: ");
    let long = line("No API key yet.   ");
    let whole = long.clone().with("   ", theme.dim).with(others, theme.dim);
    if whole.width() <= columns {
        vec![whole]
    } else if long.width() <= columns {
        let below = StyledLine::of(" ".repeat(18), theme.dim).with(others, theme.dim);
        vec![long, below]
    } else {
        vec![short]
    }
}

/// The last session and the key that continues it, in the longest wording that the line has room for.
fn goes_on(app: &App, recent: &Recent, columns: usize) -> StyledLine {
    let theme = &app.theme;
    let session = &recent.session;
    let ago = format!("{} ago   ", age(app.now - session.changed));
    let mark = StyledLine::of("↻ ", theme.accent).with(ago, theme.dim);
    let draft = if app.start.offers_draft() {
        " with your unsent text"
    } else {
        ""
    };
    let key = StyledLine::of("   ", theme.dim)
        .with(app.key(Action::Submit), theme.key_hint)
        .with(format!(" continue{draft}"), theme.dim);
    let others = match recent.others {
        0 => StyledLine::new(),
        others => StyledLine::of(" · ", theme.dim)
            .with("/resume", theme.key_hint)
            .with(format!(" {others} more"), theme.dim),
    };
    let room = columns.saturating_sub(mark.width() + key.width() + 2);
    let title = ellipsis(session.label(), room.max(8));
    let line = mark.with(format!("\"{title}\""), theme.text).then(&key);
    if line.width() + others.width() <= columns {
        line.then(&others)
    } else {
        line
    }
}
