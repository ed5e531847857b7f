//! The matrix: every kind of cell, overlay and question at three sizes and in five color sets. Each
//! scene is a line in a table and a snapshot of its text. Its colors follow rules.

mod cells;
mod overlays;
mod questions;
mod picture;
mod scenes;

use tiller::app::action::{Action, Scope};
use tiller::app::tui::app::Start;
use tiller::app::tui::keymap::Keymap;

use super::app_kit::TestTui;

/// A scene's name, and the function that sets it up on an empty screen.
type Scene = (&'static str, fn(&mut TestTui));

/// Takes the snapshots of these scenes.
fn check(scenes: &[Scene]) {
    for (name, play) in scenes {
        insta::with_settings!({omit_expression => true}, {
            insta::assert_snapshot!(*name, picture::of(name, *play));
        });
    }
}

#[test]
fn cells() {
    check(cells::SCENES);
}

#[test]
fn overlays() {
    check(overlays::SCENES);
}

/// Binds each popup action to a key that nothing else uses. In other popups that key must do
/// nothing.
#[test]
fn a_popups_keys_do_nothing_in_other_popups() {
    let ids = regex::Regex::new("[0-9a-f]{8}").expect("a pattern");
    for spec in tiller::app::action::ACTIONS {
        let owners: &[&str] = match (spec.action, spec.scope) {
            (Action::ListAll, _) => &["models"],
            (_, Scope::Tree) => &["tree"],
            (_, Scope::Sessions) => &["sessions"],
            (_, Scope::Selecting) => &["selecting"],
            (_, Scope::Pager) => &["help", "status_"],
            _ => continue,
        };
        for (scene, play) in overlays::SCENES {
            if owners.iter().any(|owner| scene.starts_with(owner)) {
                continue;
            }
            // F9 is bound to the action in one screen and to nothing in the other.
            let [bound, unbound] = ["f9", "f8"].map(|key| {
                let line = format!("{} = \"{key}\"", spec.name);
                let (map, faults) = Keymap::with("keymap.toml", &line);
                assert_eq!(faults, []);
                let mut tui = TestTui::with_keys(80, 24, Start::default(), map);
                play(&mut tui);
                tui.frame();
                let effects = tui.key("f9");
                let frame = tui.frame().replace("F8", "F9");
                (effects, ids.replace_all(&frame, "id").into_owned())
            });
            assert_eq!(bound, unbound, "{} in {scene}", spec.name);
        }
    }
}

#[test]
fn questions() {
    check(questions::SCENES);
}
