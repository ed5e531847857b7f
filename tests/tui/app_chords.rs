//! Chords: several keys pressed in a row that run one action.

use tiller::app::tui::app::App;
use tiller::app::tui::effects::effect::Effect;
use tiller::app::tui::keymap::Keymap;

use super::app_kit::{START, TestTui};

fn test_tui(keymap: &str) -> TestTui {
    let mut tui = TestTui::new(80, 24);
    let (keymap, faults) = Keymap::with("keymap.toml", keymap);
    assert_eq!(faults, []);
    let (theme, status) = (tui.app.theme.clone(), tui.app.status.clone());
    tui.app = App::new(tui.app.size, START, keymap, theme, status);
    tui
}

#[test]
fn a_chord_waits_for_its_next_key_until_a_timeout() {
    let mut tui = test_tui("settings = \"ctrl+k ctrl+s\"\nhelp = \"ctrl+k k\"");
    assert_eq!(tui.key("ctrl+k"), []);
    assert!(tui.frame().contains("Ctrl+K …"));
    assert_eq!(tui.key("ctrl+s"), [Effect::ReadSettings]);
    let frame = tui.frame();
    assert!(
        frame.contains("─ Settings ") && !frame.contains("Ctrl+K …"),
        "{frame}"
    );
    tui.key("esc");

    // A key in the chord types nothing, and neither does a wrong one.
    tui.key("ctrl+k");
    tui.key("k");
    assert!(tui.frame().contains("─ Help "));
    tui.key("esc");
    tui.key("ctrl+k");
    tui.write("x");
    assert_eq!(tui.text(), "");
    assert!(tui.frame().contains("Ctrl+K x does nothing"));
    tui.write("x");
    assert_eq!(tui.text(), "x");

    // A half-typed chord times out.
    tui.key("ctrl+k");
    tui.wait(3001);
    tui.write("k");
    assert_eq!(tui.text(), "xk");
}

#[test]
fn the_last_key_of_a_chord_only_completes_it() {
    let mut tui = test_tui("help = [\"ctrl+k x\", \"ctrl+k tab\"]");
    tui.app.composer.set_vim(true);
    tui.write("abc");
    tui.key("esc");
    tui.key("ctrl+k");
    tui.key("x");
    assert!(tui.frame().contains("─ Help "));
    assert_eq!(tui.text(), "abc");

    tui.key("esc");
    tui.key("ctrl+c");
    tui.write("/mo");
    assert!(tui.app.completion.is_some());
    tui.key("ctrl+k");
    tui.key("tab");
    assert!(tui.frame().contains("─ Help "));
    assert_eq!(tui.text(), "/mo");
}
