//! The matrix: every kind of cell, every overlay and every question, at three sizes and in four sets
//! of colors. A scene is one line of a table and one snapshot: its text at each size, and which style
//! stands where, once for all colors.

mod cells;
mod overlays;
mod questions;
mod picture;
mod scenes;

use tiller::app::action::{Action, Scope};
use tiller::app::tui::app::Start;
use tiller::app::tui::keymap::Keymap;

use super::app_kit::TestTui;

/// A name, and what makes the scene of an empty screen.
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

/// Each action of one popup gets a key that nothing else has: in any other popup it does nothing.
#[test]
fn no_popup_answers_a_key_of_another() {
    let ids = regex::Regex::new("[0-9a-f]{8}").expect("a pattern");
    for spec in tiller::app::action::ACTIONS {
        let owners: &[&str] = match (spec.action, spec.scope) {
            (Action::ListAll, _) => &["models"],
            // In completion it is Tab too, which takes the selected entry.
            (Action::ListDetails, _) => &["models", "complete"],
            (_, Scope::Tree) => &["tree"],
            (_, Scope::Sessions) => &["sessions"],
            (_, Scope::Selecting) => &["selecting"],
            (_, Scope::Pager) => &[
                "help",
                "stats",
                "context",
                "comparison",
                "iteration_",
                "session_facts",
            ],
            _ => continue,
        };
        for (scene, play) in overlays::SCENES {
            if owners.iter().any(|owner| scene.starts_with(owner)) {
                continue;
            }
            // F9 is this action's key, and then it is no key.
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
