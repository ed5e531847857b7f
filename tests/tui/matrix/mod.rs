//! The matrix: every kind of cell, overlay and question at three sizes and in five color sets. Each
//! scene is a line in a table and a snapshot of its text. Its colors follow rules.

mod cells;
mod overlays;
mod questions;
mod picture;
mod scenes;

use ratatui_core::buffer::Cell;
use ratatui_core::style::Color;
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
    for spec in tiller::app::action::actions() {
        let owners: &[&str] = match (spec.action, spec.scope) {
            (Action::ListAll, _) => &["models"],
            (_, Scope::Tree) => &["tree"],
            (_, Scope::Sessions) => &["sessions"],
            (_, Scope::Selecting) => &["selecting"],
            (_, Scope::Pager) => &["help", "status_", "docs_"],
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

/// In all colors, removed and added lines differ from each other and from the lines around them.
#[test]
fn changes_stand_out() {
    let (_, play) = (cells::SCENES.iter().find(|it| it.0 == "diff")).expect("a scene");
    for (colors, frame) in picture::in_all_colors(80, 24, *play) {
        let mut rows = frame.content.chunks(usize::from(frame.area.width));
        // The sign after the line number.
        let mut look = |number: &str| {
            let line = |row: &[Cell]| row.iter().map(Cell::symbol).collect::<String>();
            let row = rows.find(|row| line(row).contains(number)).expect(number);
            let cell = &row[8];
            (cell.fg, cell.bg, cell.symbol().to_owned())
        };
        let [around, removed, added] = [look(" 40 "), look(" 41 "), look(" 41 ")];
        let differ = |a: &(Color, Color, String), b: &(Color, Color, String)| match colors {
            "NO_COLOR" => a.2 != b.2,
            _ => (a.0, a.1) != (b.0, b.1),
        };
        let all = differ(&around, &removed) && differ(&removed, &added) && differ(&added, &around);
        assert!(all, "{colors}: {around:?} {removed:?} {added:?}");
    }
}
