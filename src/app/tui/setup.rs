//! Builds the [`App`] from options: keys and colors. It must be fast, because the first frame waits
//! for it; everything slow comes later.

use std::sync::Arc;

use super::app::App;
use super::keymap::Keymap;
use super::options::TuiOptions;
use super::picture::TerminalGraphics;
use super::terminal::screen_mode::ScreenMode;
use super::theme::{AUTO, Kind, Theme, ThemeChoice, Themes};
use super::update;
use crate::agent::NoticeLevel;
use crate::app::action::Action;
use crate::app::color_depth::color_depth;

/// A new app, or the reason for failing. Takes `options.start`.
pub(super) fn app(options: &mut TuiOptions, now: i64) -> Result<App, String> {
    let tty = Arc::clone(&options.tty);
    let (keymap, wrong_keys) = Keymap::load(&options.host.dirs.keymap_file());
    let choice = ThemeChoice {
        themes: Arc::new(Themes::read(&options.host.dirs.themes())),
        depth: color_depth(|name| tty.var(name).unwrap_or_default()),
        scheme: scheme(&tty.var("COLORFGBG").unwrap_or_default()),
        ..options.theme.clone()
    };
    let (theme, faults) = first_theme(&choice)?;
    let mut app = App::new(tty.size(), now, keymap, theme, options.status.clone());
    app.themes = choice;
    app.notify = options.notify;
    app.mouse = options.manners.mouse;
    app.graphics = TerminalGraphics {
        wanted: options.manners.images,
        ..TerminalGraphics::default()
    };
    if let Some(cell) = tty.cell() {
        app.graphics.set_cell(cell);
    }
    app.composer.set_vim(options.manners.vim);
    if options.manners.inline {
        app.screen = ScreenMode::Inline;
    }
    // Without mouse support nothing can be clicked.
    if options.manners.inline || !options.manners.mouse {
        let key = app.keymap.label(Action::ToggleCell);
        app.transcript.set_fold_key(key.unwrap_or_default());
    }
    app.transcript.set_previews(options.manners.previews);
    update::follow_pictures(&mut app);
    // tmux passes such keys on to programs that request them, as we do.
    app.tells_keys = tty.var("TMUX").is_some();
    app.start = std::mem::take(&mut options.start);
    app.start.notices.extend(faults);
    app.start
        .notices
        .extend(wrong_keys.iter().map(ToString::to_string));
    let (branch, facts) = std::mem::take(&mut app.start.history);
    if !branch.is_empty() {
        update::reopened(&mut app, &branch, &facts);
        tell_below(&mut app);
    }
    Ok(app)
}

/// Adds the notices of the first screen to a resumed conversation.
fn tell_below(app: &mut App) {
    for notice in std::mem::take(&mut app.start.notices) {
        app.transcript.push_notice(NoticeLevel::Info, notice);
    }
    if let Some(provider) = &app.start.no_key {
        let models = app.key(Action::Models);
        let text = format!(
            "No key for {provider} yet\n/login {provider} to add one, {models} to choose another model"
        );
        app.transcript.push_notice(NoticeLevel::Warning, text);
    }
}

/// The configured theme, or the default one, and what's wrong with it.
fn first_theme(choice: &ThemeChoice) -> Result<(Theme, Vec<String>), String> {
    let mut faults = Vec::new();
    let mut usual = choice.clone();
    for (setting, name, default) in [
        ("ui.theme_dark", &mut usual.for_dark, "dark"),
        ("ui.theme_light", &mut usual.for_light, "light"),
    ] {
        if let Err(error) = choice.load(name) {
            faults.push(format!("{setting}: {error}"));
            default.clone_into(name);
        }
    }
    let loaded = match usual.load(&choice.wanted) {
        Ok(loaded) => loaded,
        Err(error) => {
            let setting = choice.setting.as_deref().unwrap_or("ui.theme");
            faults.push(format!("{setting}: {error}"));
            usual.load(AUTO).map_err(|error| error.to_string())?
        }
    };
    faults.extend(loaded.warnings.iter().map(ToString::to_string));
    Ok((loaded.theme, faults))
}

/// Whether the background is dark or light, from a variable that some terminals set. It has the
/// color numbers of text and background, perhaps with others between.
fn scheme(fgbg: &str) -> Option<Kind> {
    match fgbg.rsplit(';').next()?.parse().ok()? {
        0..=6 | 8 => Some(Kind::Dark),
        7 | 9..=15 => Some(Kind::Light),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_theme_names_its_setting() {
        let choice = ThemeChoice {
            wanted: "nrod".to_owned(),
            setting: Some("setting ui.theme = \"nrod\" (user: config.toml:2)".to_owned()),
            ..ThemeChoice::default()
        };
        let (_, faults) = first_theme(&choice).unwrap();
        let told = "setting ui.theme = \"nrod\" (user: config.toml:2): unknown theme 'nrod': did you \
                    mean 'nord'?";
        assert_eq!(faults, [told]);
        let choice = ThemeChoice {
            for_dark: "nord".to_owned(),
            for_light: "nrod".to_owned(),
            ..ThemeChoice::default()
        };
        let (theme, faults) = first_theme(&choice).unwrap();
        let nord = choice.load("nord").unwrap().theme;
        assert_eq!(theme, nord);
        let told = "ui.theme_light: unknown theme 'nrod': did you mean 'nord'?";
        assert_eq!(faults, [told]);
    }

    #[test]
    fn a_variable_tells_whether_the_terminal_is_light() {
        for (said, expected) in [
            ("15;0", Some(Kind::Dark)),
            ("0;15", Some(Kind::Light)),
            ("0;default;7", Some(Kind::Light)),
            ("12;8", Some(Kind::Dark)),
            ("0;default", None),
            ("0;255", None),
            ("", None),
        ] {
            assert_eq!(scheme(said), expected, "{said}");
        }
    }
}
