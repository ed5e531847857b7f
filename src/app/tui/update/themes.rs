//! Choosing a theme with a live preview, and following the terminal's colors.

use std::sync::Arc;

use super::{pictures, refusal};
use crate::agent::NoticeLevel;
use crate::app::tui::app::App;
use crate::app::tui::effects::effect::{Effect, TerminalEffect};
use crate::app::tui::popups::{Overlay, ThemePicker, topmost};
use crate::app::tui::terminal::input::TerminalColor;
use crate::app::tui::theme::{AUTO, Kind, TerminalColors, Theme, Themes};

const SETTING: &str = "ui.theme";

pub fn act(app: &mut App, name: &str) -> Vec<Effect> {
    if name.is_empty() {
        let list = ThemePicker::new(&app.themes, &app.theme);
        app.overlays.push(list.into());
        return vec![
            Effect::ReadThemes,
            Effect::Terminal(TerminalEffect::QueryColors),
        ];
    }
    match app.themes.load(name) {
        Ok(loaded) => {
            for warning in loaded.warnings {
                app.transcript
                    .push_notice(NoticeLevel::Warning, warning.to_string());
            }
            take(app, name.to_owned())
        }
        Err(error) => refusal::command(app, &format!("/theme {name}"), error.to_string()),
    }
}

pub fn preview(app: &mut App) -> Vec<Effect> {
    let chosen = topmost!(app, Themes).chosen();
    let theme = chosen.map(|row| row.theme.clone());
    theme.map_or_else(Vec::new, |theme| show(app, theme))
}

pub fn take(app: &mut App, wanted: String) -> Vec<Effect> {
    app.themes.wanted.clone_from(&wanted);
    let mut effects = follow(app);
    effects.push(Effect::SaveSetting(SETTING.to_owned(), wanted.into()));
    effects
}

pub fn read(app: &mut App, themes: Arc<Themes>) -> Vec<Effect> {
    if app.themes.themes == themes {
        return Vec::new();
    }
    app.themes.themes = themes;
    let open = refresh(app);
    let faults = match app.themes.load(&app.themes.wanted) {
        _ if open => Vec::new(),
        Ok(loaded) => loaded.warnings.iter().map(ToString::to_string).collect(),
        Err(error) => vec![error.to_string()],
    };
    for fault in faults {
        app.transcript.push_notice(NoticeLevel::Warning, fault);
    }
    follow(app)
}

pub fn color(app: &mut App, which: TerminalColor, color: (u8, u8, u8)) -> Vec<Effect> {
    let terminal = &mut app.themes.terminal;
    match which {
        TerminalColor::Ground => terminal.ground = Some(color),
        TerminalColor::Ink => terminal.ink = Some(color),
        TerminalColor::Palette(index) => {
            if let Some(slot) = terminal.sixteen.get_mut(usize::from(index)) {
                *slot = Some(color);
            }
        }
    }
    match which {
        // More colors follow at once; lay out again only after the last.
        TerminalColor::Ground if app.themes.wanted != "system" => follow(app),
        _ => Vec::new(),
    }
}

/// The desktop switched to dark or light: asks the terminal for its new colors.
pub fn scheme(app: &mut App, is_light: bool) -> Vec<Effect> {
    app.themes.scheme = Some(if is_light { Kind::Light } else { Kind::Dark });
    app.themes.terminal = TerminalColors::default();
    let mut effects = match app.themes.wanted.as_str() {
        "system" => Vec::new(),
        _ => follow(app),
    };
    effects.push(Effect::Terminal(TerminalEffect::QueryColors));
    effects
}

pub fn answered(app: &mut App) -> Vec<Effect> {
    refresh(app);
    app.themes.is_silent = app.themes.terminal.ground.is_none();
    match app.themes.wanted.as_str() {
        "system" => follow(app),
        AUTO if app.themes.is_silent => follow(app),
        _ => preview(app),
    }
}

fn refresh(app: &mut App) -> bool {
    topmost!(app, Themes).refresh(&app.themes);
    true
}

/// Shows the configured theme, unless the list previews another.
pub fn follow(app: &mut App) -> Vec<Effect> {
    let Ok(loaded) = app.themes.load(&app.themes.wanted) else {
        return Vec::new();
    };
    let open = app.overlays.iter_mut().find_map(|overlay| match overlay {
        Overlay::Themes(list) => Some(list),
        _ => None,
    });
    match open {
        Some(list) => {
            list.before = loaded.theme;
            preview(app)
        }
        None => show(app, loaded.theme),
    }
}

pub fn show(app: &mut App, theme: Theme) -> Vec<Effect> {
    if app.theme == theme {
        return Vec::new();
    }
    app.theme = theme;
    pictures::follow(app);
    vec![Effect::Terminal(TerminalEffect::LayOutAnew)]
}
