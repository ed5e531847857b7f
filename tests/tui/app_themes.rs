//! Themes on the screen: the list with its preview, reports from the terminal, and the user's own
//! files.

use std::sync::Arc;

use ratatui_core::layout::Size;
use tiller::app::tui::effects::effect::{Effect, TerminalEffect};
use tiller::app::tui::msg::{EffectResult, Msg};
use tiller::app::tui::popups::Overlay;
use tiller::app::tui::terminal::input::{InputEvent, TerminalColor, TerminalReport};
use tiller::app::tui::theme::{ColorDepth, Kind, Themes};

use super::app_kit::TestTui;

fn command(tui: &mut TestTui, text: &str) -> Vec<Effect> {
    tui.write(text);
    tui.key("enter")
}

fn report(tui: &mut TestTui, report: TerminalReport) -> Vec<Effect> {
    tui.send(Msg::Input(InputEvent::Report(report)))
}

fn kept(name: &str) -> Effect {
    Effect::SaveSetting("ui.theme".into(), name.into())
}

const ANEW: Effect = Effect::Terminal(TerminalEffect::LayOutAnew);
const QUERY: Effect = Effect::Terminal(TerminalEffect::QueryColors);

#[test]
fn the_list_previews_themes_until_one_is_kept_or_canceled() {
    let mut tui = TestTui::new(80, 40);
    assert_eq!(command(&mut tui, "/theme"), [Effect::ReadThemes, QUERY]);
    assert!(tui.frame().contains("Themes"), "{}", tui.frame());
    tui.write("nord");
    assert_eq!(tui.app.theme.name, "nord");
    assert_eq!(tui.key("esc"), [ANEW]);
    assert_eq!(tui.app.theme.name, "dark");
    assert!(tui.app.overlays.is_empty());

    command(&mut tui, "/theme");
    assert_eq!(tui.key("down"), [], "it looks the same as auto does now");
    assert_eq!(tui.key("down"), [ANEW]);
    assert_eq!(tui.app.theme.name, "light");
    assert_eq!(tui.key("enter"), [kept("light")]);
    assert_eq!(tui.app.theme.name, "light");
    let saved = EffectResult::SettingSaved(Ok((
        "ui.theme".into(),
        "light".into(),
        "/c/config.toml".into(),
    )));
    tui.send(Msg::Done(saved));
    assert!(tui.frame().contains("Saved: ui.theme"), "{}", tui.frame());
}

#[test]
fn a_theme_is_chosen_by_name() {
    let mut tui = TestTui::new(80, 24);
    assert_eq!(
        command(&mut tui, "/theme gruvbox-light"),
        [ANEW, kept("gruvbox-light")]
    );
    assert_eq!(command(&mut tui, "/theme gruvbox-lihgt"), []);
    assert_eq!(tui.app.theme.name, "gruvbox-light");
    assert!(
        tui.frame().contains("did you mean 'gruvbox-light'"),
        "{}",
        tui.frame()
    );
}

/// If nothing tells whether the terminal is dark or light, colors for either could be unreadable.
#[test]
fn an_unknown_background_gets_the_neutral_theme() {
    let mut tui = TestTui::new(80, 24);
    assert_eq!(tui.app.theme.name, "dark");
    report(&mut tui, TerminalReport::PrimaryAttributes);
    assert_eq!(tui.app.theme.name, "ansi");
    // The background color arrives late.
    let ground = TerminalReport::Color(TerminalColor::Ground, (240, 240, 250));
    report(&mut tui, ground);
    assert_eq!(tui.app.theme.name, "light");
    // COLORFGBG reported it, or a setting names a theme.
    let mut tui = TestTui::new(80, 24);
    tui.app.themes.scheme = Some(Kind::Light);
    report(&mut tui, TerminalReport::PrimaryAttributes);
    assert_eq!(tui.app.theme.name, "light");
    let mut tui = TestTui::new(80, 24);
    command(&mut tui, "/theme nord");
    report(&mut tui, TerminalReport::PrimaryAttributes);
    assert_eq!(tui.app.theme.name, "nord");
}

#[test]
fn light_and_dark_follow_the_terminal() {
    let ground = |color| TerminalReport::Color(TerminalColor::Ground, color);
    let mut tui = TestTui::new(80, 24);
    tui.app.themes.for_light = "tokyo-day".into();
    assert_eq!(report(&mut tui, ground((20, 20, 20))), []);
    assert_eq!(report(&mut tui, ground((240, 240, 250))), [ANEW]);
    assert_eq!(tui.app.theme.name, "tokyo-day");
    // The desktop turns dark, and the terminal reports that without a query.
    assert_eq!(
        report(&mut tui, TerminalReport::Scheme(false)),
        [ANEW, QUERY]
    );
    assert_eq!(tui.app.theme.name, "dark");
    // The terminal itself stayed light.
    assert_eq!(report(&mut tui, ground((240, 240, 250))), [ANEW]);
    assert_eq!(tui.app.theme.name, "tokyo-day");
    // A named theme ignores the reports.
    command(&mut tui, "/theme nord");
    assert_eq!(report(&mut tui, TerminalReport::Scheme(true)), [QUERY]);
    assert_eq!(report(&mut tui, ground((0, 0, 0))), []);
    assert_eq!(tui.app.theme.name, "nord");
    // With sixteen colors the theme stays the same.
    let mut tui = TestTui::new(80, 24);
    tui.app.themes.depth = ColorDepth::Ansi16;
    report(&mut tui, ground((240, 240, 250)));
    assert_eq!(tui.app.theme.name, "ansi");
}

#[test]
fn the_system_theme_waits_for_all_colors() {
    let mut tui = TestTui::new(80, 24);
    command(&mut tui, "/theme system");
    let before = tui.app.theme.clone();
    for (which, color) in [
        (TerminalColor::Palette(9), (250, 100, 100)),
        (TerminalColor::Ink, (200, 200, 200)),
        (TerminalColor::Ground, (10, 20, 40)),
    ] {
        assert_eq!(report(&mut tui, TerminalReport::Color(which, color)), []);
    }
    let effects = report(&mut tui, TerminalReport::PrimaryAttributes);
    assert_eq!(effects, [ANEW, Effect::Terminal(TerminalEffect::Answered)]);
    assert_ne!(tui.app.theme, before);
}

#[test]
fn a_changed_theme_file_shows_at_once_with_its_errors() {
    let mut tui = TestTui::new(80, 24);
    let mine = |text: &str| {
        let themes = Themes::default().with("mine", text);
        Msg::Done(EffectResult::Themes(Arc::new(themes)))
    };
    tui.send(mine("inherits = \"nord\"\n"));
    assert_eq!(command(&mut tui, "/theme mine"), [ANEW, kept("mine")]);
    let focus = tui.send(Msg::Input(InputEvent::Focus(true)));
    assert!(focus.contains(&Effect::ReadThemes), "{focus:?}");
    assert_eq!(
        tui.send(mine("inherits = \"nord\"\n")),
        [],
        "nothing has changed"
    );
    let changed = mine("inherits = \"nord\"\n[palette]\nacent = \"#fff\"\n[ui]\ntexxt = \"red\"\n");
    tui.send(changed);
    assert!(
        tui.frame().contains("mine.toml:5: unknown slot 'texxt'"),
        "{}",
        tui.frame()
    );
    let changed = mine("[palette]\naccent = \"#010203\"\n");
    assert_eq!(tui.send(changed), [ANEW]);
    // The same while the list is open.
    command(&mut tui, "/theme");
    tui.write("mine");
    tui.send(mine("[palette]\naccent = \"#030201\"\n"));
    assert_eq!(tui.app.theme.name, "mine");
    tui.key("esc");
    assert_eq!(tui.app.theme.name, "mine");
}

/// The list at common sizes and at a tiny one.
#[test]
fn the_list_of_themes() {
    for (width, height) in [(80, 24), (40, 10)] {
        let mut tui = TestTui::new(width, height);
        command(&mut tui, "/theme");
        tui.key("down");
        let frame = tui.frame();
        insta::assert_snapshot!(format!("themes_{width}x{height}"), frame);
        assert!(matches!(tui.app.overlays.last(), Some(Overlay::Themes(_))));
        tui.send(Msg::Resize(Size::new(1, 1)));
        tui.frame();
    }
}
